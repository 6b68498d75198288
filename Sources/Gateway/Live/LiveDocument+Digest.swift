import ParleyGatewayPorts
import OTCore

extension LiveDocument {
  /// A digest of a change as it was sent, to recognise it later.
  ///
  /// For a change that may be sent again the log keeps this, so neither algorithm ever changes. Short
  /// changes are hashed byte by byte; long texts, and changes that are never sent again, eight bytes at a
  /// time.
  package static func digest(of submission: Submission) -> UInt64 {
    guard submission.isResendable else { return digestOfWords(submission) }
    var textBytes = 0
    submission.operation.forEachPacked { _, _, text in textBytes += text.count }
    return textBytes < longTextBytes ? digestOfBytes(submission) : digestOfWords(submission)
  }

  /// Whether a log's digest is this change's, by either algorithm: formerly long texts were hashed as short
  /// ones.
  package static func isDigest(_ digest: UInt64, of submission: Submission) -> Bool {
    digest == digestOfWords(submission) || digest == digestOfBytes(submission)
  }

  /// Bytes of inserted text from which on it is long.
  private static let longTextBytes = 64 << 10

  /// The revision and the JSON form, hashed byte by byte.
  private static func digestOfBytes(_ submission: Submission) -> UInt64 {
    var hash = FNV1a()
    var revision = UInt64(bitPattern: Int64(submission.revision))
    for _ in 0..<8 {
      hash.combine(UInt8(truncatingIfNeeded: revision))
      revision >>= 8
    }
    var bytes: [UInt8] = []
    submission.operation.appendJSON(to: &bytes)
    for byte in bytes { hash.combine(byte) }
    return hash.value
  }

  private static func digestOfWords(_ submission: Submission) -> UInt64 {
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
        mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      }
      for byte in bytes[whole...] { mix(UInt64(byte)) }
    }
    return hash
  }
}
