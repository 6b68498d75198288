package import ParleyGatewayPorts

extension RecordHasher {
  /// Digests a request, to tell a repetition from another use of its key.
  package mutating func digest(of asked: KeyedRequest) -> RecordChecksum {
    begin(.request)
    add(asked.variant)
    add(asked.body)
    return checksum()
  }

  /// The checksum of an answer that is kept.
  package mutating func checksum(
    ofAnswer answer: [UInt8], owner: String, key: String, _ digest: RecordChecksum
  ) -> RecordChecksum {
    begin(.answer)
    add(owner)
    add(key)
    add(digest)
    add(answer)
    return checksum()
  }
}
