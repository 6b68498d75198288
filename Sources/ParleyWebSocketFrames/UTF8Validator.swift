/// An incremental check of UTF-8 (RFC 3629), in pieces split anywhere.
///
/// It fails at the first byte after which no continuation is valid.
public struct UTF8Validator: Sendable, Hashable {
  /// The number of bytes missing from the current scalar.
  private var missing: UInt8 = 0
  /// The valid range of the next byte.
  private var lower: UInt8 = 0x80
  private var upper: UInt8 = 0xbf

  /// Creates a check at the beginning of a text.
  public init() {}

  /// Whether the text may end here.
  public var isAtBoundary: Bool { missing == 0 }

  /// Checks the next piece, and returns whether the text may still be valid.
  ///
  /// After `false`, do not append more pieces.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    let count = bytes.count
    var offset = 0
    while missing > 0, offset < count {
      guard step(bytes[offset]) else { return false }
      offset += 1
    }
    // Check whole scalars while a load of four bytes stays within bounds.
    while offset <= count &- 4 {
      let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      let high = word & 0x8080_8080
      if high == 0 {
        offset &+= 4
        while offset <= count &- 16 {
          let low = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          let next = base.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
          if (low | next) & 0x8080_8080_8080_8080 != 0 { break }
          offset &+= 16
        }
      } else if high & 0x80 == 0 {
        offset &+= high.trailingZeroBitCount >> 3
      } else if word & 0x00c0_c0f0 == 0x0080_80e0 {
        // Three bytes: neither overlong (E0 80 to E0 9F) nor a surrogate (ED A0 to ED BF).
        let bits = word & 0x200f
        if bits == 0 || bits == 0x200d { return false }
        offset &+= 3
      } else if word & 0xc0e0 == 0x80c0 {
        // Two bytes: not C0 or C1.
        if word & 0x1e == 0 { return false }
        offset &+= 2
      } else if word & 0xc0c0_c0f8 == 0x8080_80f0 {
        // Four bytes: from F0 90 to F4 8F.
        let bits = word & 0x3007
        if bits & 0x3000 == 0 ? bits == 0 || bits > 4 : bits & 0x7 > 3 { return false }
        offset &+= 4
      } else {
        return false
      }
    }
    while offset < count {
      guard step(bytes[offset]) else { return false }
      offset += 1
    }
    return true
  }

  private mutating func step(_ byte: UInt8) -> Bool {
    if missing > 0 {
      guard lower <= byte, byte <= upper else { return false }
      missing -= 1
      lower = 0x80
      upper = 0xbf
      return true
    }
    switch byte {
    case ..<0x80: return true
    case 0xc2...0xdf: missing = 1
    case 0xe0:
      missing = 2
      lower = 0xa0
    case 0xed:
      missing = 2
      upper = 0x9f
    case 0xe1...0xef: missing = 2
    case 0xf0:
      missing = 3
      lower = 0x90
    case 0xf1...0xf3: missing = 3
    case 0xf4:
      missing = 3
      upper = 0x8f
    default: return false
    }
    return true
  }
}
