/// Computations of the WebSocket handshake (RFC 6455, section 4).
public enum WebSocketHandshake {
  private static let identifier = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

  /// Returns the `sec-websocket-accept` for a key. It shows that the server understood the request,
  /// and has no security purpose.
  public static func accept(for key: String) -> String {
    base64(SHA1.digest(of: Array(key.utf8) + identifier))
  }

  /// Whether a range contains 16 bytes in base64.
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
    let digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
      var filled = 0
      var start = 0
      while start < bytes.count {
        let count = min(3, bytes.count - start)
        var word: UInt32 = 0
        for place in 0..<count { word |= UInt32(bytes[start + place]) << UInt32(16 - 8 * place) }
        for place in 0..<4 {
          let digit = Int(word >> UInt32(18 - 6 * place) & 63)
          text[filled + place] = place > count ? 0x3d : digits.utf8Start[digit]
        }
        filled += 4
        start += 3
      }
      return filled
    }
  }
}

/// SHA-1 (RFC 3174), only for the handshake; do not use it elsewhere.
package enum SHA1 {
  private static let blockBytes = 64

  package static func digest(of message: [UInt8]) -> [UInt8] {
    var bytes = message
    bytes.reserveCapacity(message.count + 9 + blockBytes)
    bytes.append(0x80)
    while bytes.count % blockBytes != 56 { bytes.append(0) }
    appendBigEndian(UInt64(message.count) * 8, to: &bytes)
    var state = State()
    for start in stride(from: 0, to: bytes.count, by: blockBytes) {
      state.take(bytes.span.extracting(start..<(start + blockBytes)))
    }
    var digest: [UInt8] = []
    digest.reserveCapacity(20)
    for word in [state.a, state.b, state.c, state.d, state.e] { appendBigEndian(word, to: &digest) }
    return digest
  }

  private static func appendBigEndian(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  private struct State {
    var a: UInt32 = 0x6745_2301
    var b: UInt32 = 0xefcd_ab89
    var c: UInt32 = 0x98ba_dcfe
    var d: UInt32 = 0x1032_5476
    var e: UInt32 = 0xc3d2_e1f0

    /// Processes the next block.
    mutating func take(_ block: Span<UInt8>) {
      // The last 16 words of the message schedule; older words are not needed.
      var words = InlineArray<16, UInt32>(repeating: 0)
      for index in 0..<16 {
        words[index] = UInt32(
          bigEndian: block.bytes.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
      }
      var next = self
      for index in 0..<20 {
        next.step(next.b & next.c | ~next.b & next.d, 0x5a82_7999, Self.word(index, &words))
      }
      for index in 20..<40 {
        next.step(next.b ^ next.c ^ next.d, 0x6ed9_eba1, Self.word(index, &words))
      }
      for index in 40..<60 {
        let mix = next.b & next.c | next.b & next.d | next.c & next.d
        next.step(mix, 0x8f1b_bcdc, Self.word(index, &words))
      }
      for index in 60..<80 {
        next.step(next.b ^ next.c ^ next.d, 0xca62_c1d6, Self.word(index, &words))
      }
      a &+= next.a
      b &+= next.b
      c &+= next.c
      d &+= next.d
      e &+= next.e
    }

    @inline(__always)
    private static func word(_ index: Int, _ words: inout InlineArray<16, UInt32>) -> UInt32 {
      guard index >= 16 else { return words[index] }
      let word = turn(
        words[(index &- 3) & 15] ^ words[(index &- 8) & 15] ^ words[(index &- 14) & 15]
          ^ words[index & 15], by: 1)
      words[index & 15] = word
      return word
    }

    @inline(__always)
    private mutating func step(_ mix: UInt32, _ constant: UInt32, _ word: UInt32) {
      let sum = Self.turn(a, by: 5) &+ mix &+ e &+ constant &+ word
      e = d
      d = c
      c = Self.turn(b, by: 30)
      b = a
      a = sum
    }

    @inline(__always)
    private static func turn(_ word: UInt32, by bits: UInt32) -> UInt32 {
      word << bits | word >> (32 - bits)
    }
  }
}
