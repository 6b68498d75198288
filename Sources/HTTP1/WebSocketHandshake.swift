/// Computations of the WebSocket handshake (RFC 6455, section 4).
public enum WebSocketHandshake {
  private static let identifier = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

  /// Returns the `sec-websocket-accept` that answers a key: it shows that a server understood the
  /// request, and protects nothing.
  public static func accept(for key: String) -> String {
    base64(SHA1.digest(of: Array(key.utf8) + identifier))
  }

  /// Whether a piece is 16 bytes in base64.
  static func isKey(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard range.count == 24 else { return false }
    for (place, index) in range.enumerated() {
      let isPadding = place >= 22
      switch bytes[index] {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2f: if isPadding { return false }
      case 0x3d: if !isPadding { return false }
      default: return false
      }
    }
    return true
  }

  package static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let word = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place > group.count ? 0x3d : digits[Int(word >> UInt32(18 - 6 * place) & 63)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// SHA-1 (RFC 3174). The handshake needs it; nothing else may use it.
package enum SHA1 {
  package static func digest(of message: [UInt8]) -> [UInt8] {
    var bytes = message
    bytes.append(0x80)
    while bytes.count % 64 != 56 { bytes.append(0) }
    let bitCount = UInt64(message.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
    }
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
    var words = [UInt32](repeating: 0, count: 80)
    for block in stride(from: 0, to: bytes.count, by: 64) {
      for index in 0..<16 {
        words[index] = bytes[(block + 4 * index)..<(block + 4 * index + 4)]
          .reduce(0) { $0 << 8 | UInt32($1) }
      }
      for index in 16..<80 {
        words[index] = turn(
          words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1)
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      for index in 0..<80 {
        let (mix, constant): (UInt32, UInt32) =
          switch index {
          case ..<20: (b & c | ~b & d, 0x5a82_7999)
          case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
          case ..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
          default: (b ^ c ^ d, 0xca62_c1d6)
          }
        let next = turn(a, by: 5) &+ mix &+ e &+ constant &+ words[index]
        (a, b, c, d, e) = (next, a, turn(b, by: 30), c, d)
      }
      state[0] &+= a
      state[1] &+= b
      state[2] &+= c
      state[3] &+= d
      state[4] &+= e
    }
    return state.flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private static func turn(_ word: UInt32, by bits: UInt32) -> UInt32 {
    word << bits | word >> (32 - bits)
  }
}
