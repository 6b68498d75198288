import Foundation
import ParleyMail
import ParleyOTWorkloads
import Testing

/// A message of `examples.json`, with the file that has its bytes. `Tests/System/test_mail_messages.py`
/// reads the same files with another program's parser.
private struct Example: Decodable {
  let file: String
  let from: String
  let to: String
  let toName: String?
  let subject: String
  let text: String
  let html: String?
  let id: String
  let milliseconds: Int64
  let language: String?
  let headers: [[String]]

  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("MailExamples")

  static func all() throws -> [Example] {
    try JSONDecoder().decode(
      [Example].self, from: Data(contentsOf: folder.appendingPathComponent("examples.json")))
  }

  func message() throws -> MailMessage {
    var message = MailMessage(
      from: try MailAddress(parsing: from), to: try MailAddress(to, name: toName),
      subject: subject, text: text, html: html, id: id, milliseconds: milliseconds,
      language: language)
    message.headers = headers.map { MailMessage.Header($0[0], $0[1]) }
    return message
  }
}

@Suite("Mail messages")
struct MailMessageTests {
  /// Set, the files of the examples are written instead of compared.
  private static let writes = ProcessInfo.processInfo.environment["MAIL_EXAMPLES"] == "write"

  @Test("examples have these bytes")
  func examples() throws {
    let examples = try Example.all()
    #expect(examples.count > 5)
    for example in examples {
      let file = Example.folder.appendingPathComponent(example.file)
      let bytes = try example.message().bytes()
      if Self.writes { try Data(bytes).write(to: file) }
      #expect(try Data(contentsOf: file).elementsEqual(bytes), "\(example.file)")
    }
  }

  private func message(
    subject: String = "A subject", text: String = "A text", html: String? = nil,
    id: String = "m1"
  ) throws -> MailMessage {
    MailMessage(
      from: try MailAddress("parley@example.org"), to: try MailAddress("ada@example.org"),
      subject: subject, text: text, html: html, id: id, milliseconds: 1_796_031_144_000)
  }

  @Test(
    "a subject with a control character is refused",
    arguments: [
      "Hi\r\nBcc: eve@example.org", "Hi\nBcc: eve@example.org", "Hi\rthere", "a\0b", "a\u{7f}",
      "a\u{85}b", "a\u{2028}b",
    ])
  func subjects(subject: String) throws {
    let message = try message(subject: subject)
    #expect(throws: MailError.controlCharacter(.subject)) { try message.bytes() }
  }

  @Test("a name with a control character is refused", arguments: ["Ada\r\nBcc: e@x.org", "A\tB"])
  func names(name: String) {
    #expect(throws: MailError.controlCharacter(.name)) {
      try MailAddress("ada@example.org", name: name)
    }
  }

  @Test(
    "other texts are not addresses",
    arguments: [
      "", "ada", "@example.org", "ada@", "ada@@example.org", "a b@example.org", "ada@exa mple.org",
      "ada@example.org\r\nRCPT TO:<eve@example.org>", "ada@example.org>", "<ada@example.org>",
      "ada@-example.org", "ada@example-.org", "ada@example..org", ".ada@example.org",
      "\"ada\"@example.org", "ada@[127.0.0.1]", "ädä@example.org", "ada@exämple.org",
      "a,b@example.org", String(repeating: "a", count: 65) + "@example.org",
      "a@" + String(repeating: "a.", count: 126) + "org",
    ])
  func addresses(text: String) {
    #expect(throws: MailError.malformedAddress) { try MailAddress(text) }
  }

  @Test(
    "an address may have a name in front",
    arguments: [
      ("ada@example.org", "ada@example.org", nil),
      ("Ada L. <ada@example.org>", "ada@example.org", "Ada L."),
      ("\"Ada, L.\" <ada+x@example.org>", "ada+x@example.org", "Ada, L."),
      ("<ada@example.org>", "ada@example.org", nil),
    ] as [(String, String, String?)])
  func parsing(text: String, address: String, name: String?) throws {
    #expect(try MailAddress(parsing: text) == MailAddress(address, name: name))
  }

  @Test(
    "additional headers cannot replace or add others",
    arguments: [
      ("Subject", "x", MailError.headerName), ("bcc", "e@x.org", .headerName),
      ("Content-Type", "x", .headerName), ("X Y", "x", .headerName), ("X:Y", "x", .headerName),
      ("X-A\r\nBcc", "x", .headerName), ("", "x", .headerName),
      ("X-A", "a\r\nBcc: e@x.org", .controlCharacter(.header)), ("X-A", "ä", .characters(.header)),
      ("X-A", String(repeating: "a", count: 901), .tooLong(.header, bytesMax: 900)),
    ])
  func headers(name: String, value: String, error: MailError) throws {
    var made = try message()
    made.headers = [MailMessage.Header(name, value)]
    let message = made
    #expect(throws: error) { try message.bytes() }
  }

  @Test(
    "an id has only letters, digits and - . _",
    arguments: ["", "a b", "a>", "a\r\nb", ".a", "a..b", "ä"])
  func ids(id: String) throws {
    let message = try message(id: id)
    #expect(throws: MailError.characters(.identifier)) { try message.bytes() }
  }

  @Test("long texts are refused")
  func longTexts() throws {
    let long = String(repeating: "a", count: MailMessage.textBytesMax + 1)
    #expect(throws: MailError.self) { try message(text: long).bytes() }
    #expect(throws: MailError.self) { try message(html: long).bytes() }
    #expect(throws: MailError.self) {
      try message(subject: String(repeating: "a", count: 501)).bytes()
    }
    #expect(throws: MailError.self) { try message(id: String(repeating: "a", count: 65)).bytes() }
  }

  @Test("HTML of paragraphs contains no markup of their texts, and only links to the web")
  func paragraphs() {
    let paragraphs = MailParagraphs([
      .text("<b>1 & 2</b>"), .link(url: "https://x.org/?a=\"b\"", words: "Open <it>"),
      .link(url: "javascript:alert(1)", words: "no"),
    ])
    let html = paragraphs.html(language: "en")
    #expect(html.contains("<p>&lt;b&gt;1 &amp; 2&lt;/b&gt;</p>"))
    #expect(html.contains("<a href=\"https://x.org/?a=&quot;b&quot;\">Open &lt;it&gt;</a>"))
    #expect(!html.contains("href=\"javascript"))
    #expect(paragraphs.text.contains("Open <it>:\nhttps://x.org/?a=\"b\"\n"))
  }
}
