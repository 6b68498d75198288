import ParleyGatewayPorts
import OTCore

extension LiveDocument {
  /// Returns a digest of a change as it was sent, which identifies a repetition.
  ///
  /// The log stores the digests of changes that may be resent, so neither algorithm may ever
  /// change. Short changes are hashed byte by byte. Long texts, and changes that are never resent,
  /// are hashed eight bytes at a time.
  package static func digest(of submission: Submission) -> UInt64 {
    guard submission.isResendable else { return digestOfWords(submission) }
    var textBytes = submission.format?.byteCount ?? 0
    submission.operation.forEachPacked { _, _, text in textBytes += text.count }
    return textBytes < longTextBytes ? digestOfBytes(submission) : digestOfWords(submission)
  }

  /// Whether a stored digest belongs to this change, by either algorithm: earlier versions hashed
  /// long texts byte by byte.
  package static func isDigest(_ digest: UInt64, of submission: Submission) -> Bool {
    digest == digestOfWords(submission) || digest == digestOfBytes(submission)
  }

  /// The minimum bytes of inserted text that are hashed eight at a time.
  private static let longTextBytes = 64 << 10

  /// The revision and the JSON form, with that of the formatting behind it, hashed byte by byte.
  private static func digestOfBytes(_ submission: Submission) -> UInt64 {
    var hash = FNV1a()
    var revision = UInt64(bitPattern: Int64(submission.revision))
    for _ in 0..<8 {
      hash.combine(UInt8(truncatingIfNeeded: revision))
      revision >>= 8
    }
    var bytes: [UInt8] = []
    submission.operation.appendJSON(to: &bytes)
    submission.format?.appendJSON(to: &bytes)
    for byte in bytes { hash.combine(byte) }
    return hash.value
  }

  private static func digestOfWords(_ submission: Submission) -> UInt64 {
    var hash: UInt64 = 0
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 32
    }
    func mix(_ bytes: UnsafeRawBufferPointer) {
      let whole = bytes.count & ~7
      for offset in stride(from: 0, to: whole, by: 8) {
        mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      }
      for byte in bytes[whole...] { mix(UInt64(byte)) }
    }
    mix(UInt64(bitPattern: Int64(submission.revision)))
    submission.operation.forEachPacked { kind, length, text in
      mix(kind.rawValue << 32 | UInt64(length))
      mix(UnsafeRawBufferPointer(text))
    }
    if let format = submission.format {
      var json: [UInt8] = []
      format.appendJSON(to: &json)
      mix(UInt64(json.count))
      json.withUnsafeBytes { mix($0) }
    }
    return hash
  }
}
