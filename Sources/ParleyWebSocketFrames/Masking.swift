/// Masks of payloads (RFC 6455, section 5.3), 64 bytes at a time.
///
/// A key is a number whose lowest byte applies to the first byte of payload, on any machine.
enum Masking {
  private typealias Lanes = SIMD4<UInt64>

  /// Returns the key for the bytes after the first `count` ones.
  @inline(__always)
  static func turn(_ key: UInt32, by count: Int) -> UInt32 {
    let bits = UInt32(truncatingIfNeeded: count & 3) * 8
    return bits == 0 ? key : key >> bits | key << (32 - bits)
  }

  /// Masks or unmasks bytes in place, and returns whether the results are all ASCII.
  @inline(__always)
  static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    return copy(key, from: UnsafeRawPointer(base), to: base, bytes.count)
  }

  /// Copies bytes, masked or unmasked, and returns whether the results are all ASCII. Source and
  /// target are the same memory or do not overlap.
  static func copy(
    _ key: UInt32, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int
  ) -> Bool {
    let half = UInt64(key.littleEndian)
    let word = half << 32 | half
    var offset = 0
    var seen: UInt64 = 0
    if count >= 64 {
      let lanes = Lanes(repeating: word)
      var seenLanes = Lanes.zero
      while offset <= count &- 64 {
        let low = source.loadUnaligned(fromByteOffset: offset, as: Lanes.self) ^ lanes
        let high = source.loadUnaligned(fromByteOffset: offset &+ 32, as: Lanes.self) ^ lanes
        target.storeBytes(of: low, toByteOffset: offset, as: Lanes.self)
        target.storeBytes(of: high, toByteOffset: offset &+ 32, as: Lanes.self)
        seenLanes |= low | high
        offset &+= 64
      }
      seen = seenLanes[0] | seenLanes[1] | seenLanes[2] | seenLanes[3]
    }
    while offset <= count &- 8 {
      let value = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ word
      target.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
      seen |= value
      offset &+= 8
    }
    var rest = key
    while offset < count {
      let value =
        source.load(fromByteOffset: offset, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
      target.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
      seen |= UInt64(value)
      rest = rest >> 8 | rest << 24
      offset &+= 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
