/// The address of a mail server: `smtp://user:password@mail.example.org:587`, or `smtps://…`.
///
/// Only ``description`` may be shown, which omits user and password.
package struct SMTPAddress: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// Whether TLS begins with the first byte.
  package let isImplicitlyEncrypted: Bool
  /// A host name or an IP address, without brackets.
  package let host: String
  package let port: Int
  /// The name and the password at the server, decoded.
  package let user, password: String?

  /// Parses an address; `nil` if it is malformed.
  package init?(_ text: String) {
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    let rest: Substring
    if text.hasPrefix("smtps://") {
      (isImplicitlyEncrypted, rest) = (true, text.dropFirst(8))
    } else if text.hasPrefix("smtp://") {
      (isImplicitlyEncrypted, rest) = (false, text.dropFirst(7))
    } else {
      return nil
    }
    var place = rest.hasSuffix("/") ? rest.dropLast() : rest
    guard !place.contains(where: { "/?#".contains($0) }) else { return nil }
    if let at = place.lastIndex(of: "@") {
      let login = place[..<at].split(
        separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard login.count == 2, let user = Self.decoded(login[0]), !user.isEmpty,
        let password = Self.decoded(login[1]), !password.isEmpty
      else { return nil }
      (self.user, self.password) = (user, password)
      place = place[place.index(after: at)...]
    } else {
      (user, password) = (nil, nil)
    }
    let standardPort = isImplicitlyEncrypted ? 465 : 587
    let hasPort = place.last != "]" && place.contains(":")
    guard let listed = ListenAddress(hasPort ? String(place) : "\(place):\(standardPort)"),
      listed.port > 0, !listed.host.hasPrefix("[")
    else { return nil }
    host = listed.host
    port = listed.port
  }

  /// Whether only programs on this machine can read the messages on their way to the server.
  package var isLocal: Bool { ListenAddress.isLoopback(host) }

  /// The address without user and password.
  package var description: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    return "\(isImplicitlyEncrypted ? "smtps" : "smtp")://\(shown):\(port)"
  }

  /// Empty: a reflection would show the password.
  package var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns a text with each `%` and two hexadecimal digits decoded; `nil` if it is malformed, or
  /// has control characters, which would end a line for the server.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2,
        digits.allSatisfy({ UInt8(String(UnicodeScalar($0)), radix: 16) != nil }),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self),
      !decoded.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f })
    else { return nil }
    return decoded
  }
}
