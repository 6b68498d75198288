import ParleyServer
import Testing

@Suite("Addresses of mail servers")
struct SMTPAddressTests {
  @Test(
    "valid addresses",
    arguments: [
      ("smtp://mail.example.org", "smtp://mail.example.org:587"),
      ("smtps://mail.example.org/", "smtps://mail.example.org:465"),
      ("smtp://127.0.0.1:25", "smtp://127.0.0.1:25"), ("smtp://[::1]", "smtp://[::1]:587"),
      ("smtp://[::1]:2525", "smtp://[::1]:2525"),
      ("smtps://me:secret@mail.example.org:1465", "smtps://mail.example.org:1465"),
    ])
  func valid(text: String, shown: String) throws {
    let address = try #require(SMTPAddress(text))
    #expect(address.description == shown)
    #expect(!String(reflecting: address).contains("secret"))
  }

  @Test("user and password are decoded")
  func login() throws {
    let address = try #require(SMTPAddress("smtp://a%40example.org:p%3A%25@example.org"))
    #expect(address.user == "a@example.org")
    #expect(address.password == "p:%")
    #expect(!address.isLocal)
    #expect(SMTPAddress("smtp://localhost")?.isLocal == true)
  }

  @Test(
    "malformed addresses",
    arguments: [
      "", "mail.example.org", "http://mail.example.org", "smtp://", "smtp://:25", "smtp://a:0",
      "smtp://a:65536", "smtp://a:b", "smtp://user@a", "smtp://user:@a", "smtp://:pass@a",
      "smtp://u:p%0d%0a@a", "smtp://u:p%2@a", "smtp://u:p%zz@a", "smtp://u:p%ff@a", "smtp://a/b",
      "smtp://a?b", "smtp://a b", "smtp://ä",
    ])
  func malformed(text: String) { #expect(SMTPAddress(text) == nil) }
}

@Suite("Languages of mail")
struct MailLanguageTests {
  @Test(
    "the first language that messages are written in",
    arguments: [
      ("", MailLanguage.english), ("de-CH, en;q=0.5", .german), ("fr;q=0.3, ja;q=0.8", .japanese),
      ("xx, es", .spanish), ("en;q=0, AR", .arabic), ("*", .english), ("de;q=x", .german),
      (String(repeating: "x,", count: 1_000) + "de", .english),
    ])
  func accepted(header: String, language: MailLanguage) {
    #expect(MailLanguage(accepted: header) == language)
  }
}
