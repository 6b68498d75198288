import GatewayPorts

/// Texts within lines whose words are separated by blanks.
enum LineText {
  /// With blanks, controls and the characters given as `%20` and the like.
  static func escaped(_ text: String, _ reserved: String = "%") -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte > 0x20, byte != 0x7f, !reserved.utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += ("%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Undoes it; `nil` if an escape is broken or the result is not UTF-8.
  static func unescaped(_ text: Substring) -> String? { PercentEncoding.decoded(text) }
}
