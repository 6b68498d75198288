/// A mail message with a text and the same text as HTML, to one recipient.
///
///     MailMessage ─▶ bytes() ─▶ headers, an empty line, one part or two alternatives
///
/// The bytes depend only on the values: building a message again gives the same message, with the
/// same id, by which a server recognises a repeated one. No value can add a header or a recipient.
public struct MailMessage: Sendable, Equatable {
  /// An additional header, such as `List-Unsubscribe`.
  public struct Header: Sendable, Equatable {
    /// The name, such as `List-Unsubscribe`.
    public var name: String
    /// The value, in printable ASCII.
    public var value: String

    /// Creates a header, which is checked by ``MailMessage/bytes()``.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The sender.
  public var from: MailAddress
  /// The recipient.
  public var to: MailAddress
  /// The subject, in any language, on one line.
  public var subject: String
  /// The text.
  public var text: String
  /// The same as HTML; `nil` for a message with plain text alone.
  public var html: String?
  /// The first part of the message id: letters, digits and `-._`, unique for each message.
  public var id: String
  /// The time of the message in milliseconds since 1970.
  public var milliseconds: Int64
  /// The language of the texts, such as `pt`; `nil` for none.
  public var language: String?
  /// Additional headers.
  public var headers: [Header] = []

  /// Maximum bytes of a subject.
  public static let subjectBytesMax = 500
  /// Maximum bytes of an additional header's value.
  public static let headerBytesMax = 900
  /// Maximum bytes of a text, and of its HTML.
  public static let textBytesMax = 256 << 10
  private static let idBytesMax = 64

  /// Creates a message.
  public init(
    from: MailAddress, to: MailAddress, subject: String, text: String, html: String? = nil,
    id: String, milliseconds: Int64, language: String? = nil
  ) {
    self.from = from
    self.to = to
    self.subject = subject
    self.text = text
    self.html = html
    self.id = id
    self.milliseconds = milliseconds
    self.language = language
  }

  /// The message id, such as `<k3v9@example.org>`.
  public var messageID: String { "<\(id)@\(from.domain)>" }

  /// Builds the message, with lines that end in CRLF.
  ///
  /// - Throws: If a value contains control characters where a header would need them, or is too long.
  public func bytes() throws(MailError) -> [UInt8] {
    try check()
    var head = [
      HeaderText.header("From", mailbox: from), HeaderText.header("To", mailbox: to),
      HeaderText.header("Subject", text: subject),
      "Date: \(MailDate.text(milliseconds: milliseconds))", "Message-ID: \(messageID)",
      // Other servers must not answer, as in an answer of an absent person (RFC 3834).
      "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
    ]
    if let language { head.append("Content-Language: \(language)") }
    head += headers.map { "\($0.name): \($0.value)" }
    var output: [UInt8] = []
    guard let html else {
      Self.append(lines: head, &output)
      Self.append(part: text, "plain", &output)
      return output
    }
    // Encoded texts never contain `=_`, so no text contains the boundary.
    let boundary = "=_\(id)"
    head.append("Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"")
    Self.append(lines: head + ["", "--\(boundary)"], &output)
    Self.append(part: text, "plain", &output)
    Self.append(lines: ["", "--\(boundary)"], &output)
    Self.append(part: html, "html", &output)
    Self.append(lines: ["", "--\(boundary)--"], &output)
    return output
  }

  private static func append(lines: [String], _ output: inout [UInt8]) {
    for line in lines { output += Array((line + "\r\n").utf8) }
  }

  private static func append(part text: String, _ kind: String, _ output: inout [UInt8]) {
    append(
      lines: [
        "Content-Type: text/\(kind); charset=utf-8", "Content-Transfer-Encoding: quoted-printable",
        "",
      ], &output)
    QuotedPrintable.append(text, &output)
  }

  // MARK: Checks

  private func check() throws(MailError) {
    guard subject.utf8.count <= Self.subjectBytesMax else {
      throw .tooLong(.subject, bytesMax: Self.subjectBytesMax)
    }
    guard !subject.unicodeScalars.contains(where: \.isHeaderControl) else {
      throw .controlCharacter(.subject)
    }
    for text in [text, html ?? ""] where text.utf8.count > Self.textBytesMax {
      throw .tooLong(.text, bytesMax: Self.textBytesMax)
    }
    try Self.check(word: id, .identifier)
    if let language { try Self.check(word: language, .header) }
    for header in headers { try check(header) }
  }

  private static func check(word: String, _ part: MailError.Part) throws(MailError) {
    guard word.utf8.count <= idBytesMax else { throw .tooLong(part, bytesMax: idBytesMax) }
    guard !word.isEmpty, word.utf8.allSatisfy({ isWord($0) || $0 == UInt8(ascii: ".") }),
      word.utf8.first != UInt8(ascii: "."), word.utf8.last != UInt8(ascii: "."),
      !word.contains("..")
    else { throw .characters(part) }
  }

  private func check(_ header: Header) throws(MailError) {
    let own = ["from", "to", "subject", "date", "sender", "cc", "bcc", "auto-submitted"]
    let name = header.name.lowercased()
    guard !name.isEmpty, name.utf8.count <= 60,
      name.utf8.allSatisfy({ Self.isWord($0) && $0 != UInt8(ascii: "_") }),
      !own.contains(name), !name.hasPrefix("content-"), !name.hasPrefix("mime-"),
      name != "message-id"
    else { throw .headerName }
    guard header.value.utf8.count <= Self.headerBytesMax else {
      throw .tooLong(.header, bytesMax: Self.headerBytesMax)
    }
    guard !header.value.unicodeScalars.contains(where: \.isHeaderControl) else {
      throw .controlCharacter(.header)
    }
    guard header.value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
      throw .characters(.header)
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: "_")
  }
}
