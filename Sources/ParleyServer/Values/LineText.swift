import ParleyGatewayPorts

/// Escapes texts for lines whose words are separated by spaces.
package enum LineText {
  /// Returns a text with line breaks, control characters and bidirectional controls escaped.
  package static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isDeceiving) else { return text }
    return text.unicodeScalars.reduce(into: "") { visible, scalar in
      if scalar.isDeceiving {
        visible += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        visible.unicodeScalars.append(scalar)
      }
    }
  }

  /// Returns a text with spaces, control characters and `reserved` escaped as `%20` and the like.
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

  /// Reverses `escaped`; `nil` if an escape is invalid or the result is not UTF-8.
  static func unescaped(_ text: Substring) -> String? { PercentEncoding.decoded(text) }
}
