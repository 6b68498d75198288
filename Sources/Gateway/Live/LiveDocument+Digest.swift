import OTCore

extension LiveDocument {
  /// Condenses what was sent, to know it again.
  ///
  /// For a change that may be sent again the log keeps this, so it never changes: the revision and the JSON
  /// form (FNV-1a, 64 bits). Others are looked for only among what this process has handed to the store, and
  /// may be texts as a whole: they are condensed eight bytes at a time.
  package static func digest(of submission: Submission) -> UInt64 {
    submission.isResendable ? keptDigest(of: submission) : passingDigest(of: submission)
  }

  private static func keptDigest(of submission: Submission) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ byte: UInt8) {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    var revision = UInt64(bitPattern: Int64(submission.revision))
    for _ in 0..<8 {
      mix(UInt8(truncatingIfNeeded: revision))
      revision >>= 8
    }
    var bytes: [UInt8] = []
    submission.operation.appendJSON(to: &bytes)
    for byte in bytes { mix(byte) }
    return hash
  }

  private static func passingDigest(of submission: Submission) -> UInt64 {
    var hash: UInt64 = 0
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 32
    }
    mix(UInt64(bitPattern: Int64(submission.revision)))
    submission.operation.forEachPacked { kind, length, text in
      mix(kind.rawValue << 32 | UInt64(length))
      let bytes = UnsafeRawBufferPointer(text)
      let whole = bytes.count & ~7
      for offset in stride(from: 0, to: whole, by: 8) {
        mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      for byte in bytes[whole...] { mix(UInt64(byte)) }
    }
    return hash
  }
}
