/// SipHash-2-4 (Aumasson and Bernstein, 2012), with a fixed key.
///
/// Equal bytes have equal hashes in every process and on every node, unlike with `Hasher`.
/// The key is public. The hash detects unchanged content; it protects nothing.
package struct StableHash {
  private var v0: UInt64 = 0x736f_6d65_7073_6575 ^ 0x0706_0504_0302_0100
  private var v1: UInt64 = 0x646f_7261_6e64_6f6d ^ 0x0f0e_0d0c_0b0a_0908
  private var v2: UInt64 = 0x6c79_6765_6e65_7261 ^ 0x0706_0504_0302_0100
  private var v3: UInt64 = 0x7465_6462_7974_6573 ^ 0x0f0e_0d0c_0b0a_0908

  /// Returns the hash of bytes.
  static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash = StableHash()
    let raw = UnsafeRawBufferPointer(bytes)
    let whole = raw.count & ~7
    for offset in stride(from: 0, to: whole, by: 8) {
      hash.add(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }
    var last = UInt64(truncatingIfNeeded: raw.count) << 56
    for (index, byte) in raw[whole...].enumerated() { last |= UInt64(byte) << (8 * index) }
    hash.add(last)
    return hash.finished()
  }

  /// Returns the hash of bytes.
  package static func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBufferPointer(of) }

  /// Returns the hash of a text in UTF-8.
  static func of(_ text: String) -> UInt64 {
    var text = text
    return text.withUTF8(of)
  }

  private mutating func add(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  private consuming func finished() -> UInt64 {
    v2 ^= 0xff
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }

  private mutating func round() {
    v0 &+= v1
    v1 = Self.rotated(v1, by: 13) ^ v0
    v0 = Self.rotated(v0, by: 32)
    v2 &+= v3
    v3 = Self.rotated(v3, by: 16) ^ v2
    v0 &+= v3
    v3 = Self.rotated(v3, by: 21) ^ v0
    v2 &+= v1
    v1 = Self.rotated(v1, by: 17) ^ v2
    v2 = Self.rotated(v2, by: 32)
  }

  private static func rotated(_ word: UInt64, by count: UInt64) -> UInt64 {
    word << count | word >> (64 - count)
  }
}
