package import ParleyGatewayPorts

extension RecordHasher {
  /// Digests a request, to distinguish a repetition from another request with the same key.
  package mutating func digest(of asked: KeyedRequest) -> RecordChecksum {
    begin(.request)
    add(asked.variant)
    add(asked.body)
    return checksum()
  }

  /// Returns the checksum of a stored answer.
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
