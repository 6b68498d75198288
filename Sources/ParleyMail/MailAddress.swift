/// A mailbox of a sender or recipient: an address such as `ada@example.org`, and a display name.
///
/// Addresses are ASCII without quoting, so they are safe in headers and in commands to a server.
public struct MailAddress: Sendable, Equatable {
  /// The address, such as `ada@example.org`.
  public let address: String
  /// The display name; `nil` for none.
  public let name: String?

  /// Maximum bytes of an address, by RFC 5321.
  public static let bytesMax = 254
  /// Maximum bytes of a display name.
  public static let nameBytesMax = 200
  private static let localBytesMax = 64

  /// Creates a mailbox.
  ///
  /// - Throws: If the address is malformed, or the name contains control characters or is too long.
  public init(_ address: String, name: String? = nil) throws(MailError) {
    guard Self.isAddress(address) else { throw .malformedAddress }
    if let name {
      guard name.utf8.count <= Self.nameBytesMax else {
        throw .tooLong(.name, bytesMax: Self.nameBytesMax)
      }
      guard !name.unicodeScalars.contains(where: \.isHeaderControl) else {
        throw .controlCharacter(.name)
      }
    }
    self.address = address
    self.name = name
  }

  /// Parses `ada@example.org` or `Ada <ada@example.org>`.
  public init(parsing text: String) throws(MailError) {
    guard text.utf8.last == UInt8(ascii: ">") else {
      try self.init(text)
      return
    }
    guard let start = text.lastIndex(of: "<") else { throw .malformedAddress }
    let address = text[text.index(after: start)...].dropLast()
    var name = text[..<start]
    while name.last == " " { name.removeLast() }
    while name.first == " " { name.removeFirst() }
    if name.count >= 2, name.first == "\"", name.last == "\"" { name = name.dropFirst().dropLast() }
    try self.init(String(address), name: name.isEmpty ? nil : String(name))
  }

  /// The part after the `@`.
  public var domain: String {
    address.lastIndex(of: "@").map { String(address[$0...].dropFirst()) } ?? ""
  }

  private static func isAddress(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count <= bytesMax, let at = bytes.lastIndex(of: UInt8(ascii: "@")) else {
      return false
    }
    let (local, domain) = (bytes[..<at], bytes[(at + 1)...])
    return local.count <= localBytesMax && isDotted(local, isAtomText) && isDotted(domain, isLabel)
      && domain.split(separator: UInt8(ascii: "."))
        .allSatisfy { label in
          label.count <= 63 && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        }
  }

  /// Whether bytes are words with single dots between them.
  private static func isDotted(_ bytes: ArraySlice<UInt8>, _ isWord: (UInt8) -> Bool) -> Bool {
    bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0.allSatisfy(isWord) }
  }

  /// Whether a byte is `atext` of RFC 5322.
  static func isAtomText(_ byte: UInt8) -> Bool {
    isLabel(byte) || "!#$%&'*+/=?^_`{|}~".utf8.contains(byte)
  }

  private static func isLabel(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
  }
}
