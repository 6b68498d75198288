import ParleyCryptoOpenSSL
import Glibc
import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleyServer
import Testing

/// Names of accounts are compared the same way everywhere.
@Suite("Names of accounts")
struct AccountNameTests {
  private let path = "/tmp/parley-accounts-\(UInt64.random(in: 0 ... .max))"

  private func line(_ id: String, _ password: PasswordHash = .ofNobody) throws -> UserLine {
    try UserLine(id: id, name: nil, password: password, rights: ["document:*=read"], since: 1)
  }

  private static let same: [[String]] = [
    [
      "ada@example.org", " Ada@Example.ORG ", "\tADA@EXAMPLE.ORG\u{A0}",
      "\u{3000}ada@example.org\n",
    ],
    ["rené", "RENÉ", "rene\u{301}", "Rene\u{301} "],
    ["straße", "STRASSE", "Straẞe", "strasse"],
    ["σοφός", "ΣΟΦΌΣ", "σοφόσ"],
    ["kelvin", "\u{212A}elvin"], ["\u{1E9B}\u{323}", "\u{1E61}\u{323}"], ["ﬀ", "ff", "FF"],
    ["İx", "i\u{307}x"],
    ["각", "\u{1100}\u{1161}\u{11A8}"], ["ᏸ", "Ᏸ"],
  ]

  @Test("spellings of one name are one account, and different names are not")
  func comparison() {
    for (index, names) in Self.same.enumerated() {
      for name in names { #expect(AccountName(name) == AccountName(names[0]), "\(name)") }
      for other in Self.same[(index + 1)...] {
        #expect(AccountName(names[0]) != AccountName(other[0]))
      }
    }
    for (name, other) in [
      ("ada", "a da"), ("ada", "àda"), ("ısmail", "ismail"), ("ada", "ada."), ("аda", "ada"),
      ("１", "1"),
    ] {
      #expect(AccountName(name) != AccountName(other), "\(name) \(other)")
    }
  }

  /// Examples of UAX #15: texts and their NFC forms.
  @Test(
    "composed text is in Unicode's normalisation form C",
    arguments: [
      ("e\u{301}", "é"), ("\u{212B}", "\u{C5}"), ("\u{2126}", "\u{3A9}"),
      ("q\u{307}\u{323}", "q\u{323}\u{307}"),
      ("\u{1E9B}\u{323}", "\u{1E9B}\u{323}"), ("\u{D55C}", "한"),
      ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
      ("\u{958}", "\u{915}\u{93C}"), ("\u{344}", "\u{308}\u{301}"),
      ("\u{1E0A}\u{323}", "\u{1E0C}\u{307}"),
      ("\u{FB01}", "\u{FB01}"), ("a\u{5AE}\u{300}\u{315}b", "\u{E0}\u{5AE}\u{315}b"),
      ("\u{F900}", "\u{8C48}"),
      ("\u{1F1E9}\u{1F1EA}", "\u{1F1E9}\u{1F1EA}"), ("\u{2ADC}", "\u{2ADD}\u{338}"),
      ("plain", "plain"),
    ])
  func composition(text: String, composed: String) {
    #expect(text.composed.utf8.elementsEqual(composed.utf8))
    #expect(text.composed.composed.utf8.elementsEqual(composed.utf8))
  }

  @Test(
    "an account is found, changed and removed by every spelling, and its id stays as it was written"
  )
  func file() throws {
    defer { unlink(path) }
    let editing = UserEditing(path: path)
    try editing.add(line("René", PasswordHash(password: "p", cost: 1)))
    try editing.put(GroupLine(name: "team", rights: ["folder:team=read"]))
    for name in Self.same[1] {
      #expect(throws: FileError.self) { try editing.add(line(name)) }
      #expect(throws: FileError.self) { try editing.refuse(name) }
      #expect(try editing.id(of: name)?.utf8.elementsEqual("René".utf8) == true)
      try editing.setMembership(true, of: "team", users: [name])
      #expect(try UserLine.lines(ofFileAt: path)[0].groups == ["team"])
      try editing.setMembership(false, of: "team", users: [name])
      try editing.setPassword(of: name, to: PasswordHash(password: "q", cost: 1), since: 2)
      let users = try UserFile(path: path)
      #expect(users.user(name, password: "q")?.id.utf8.elementsEqual("René".utf8) == true)
      #expect(users.user(name, password: "p") == nil)
    }
    // Ids in tokens must equal those of the file byte by byte.
    let users = try UserFile(path: path)
    #expect(
      users.user("René") != nil && users.user("rené") == nil && users.user("Rene\u{301}") == nil)
    try editing.remove(" RENÉ ")
    #expect(try UserLine.lines(ofFileAt: path).isEmpty)
  }

  @Test("a file in which two names are one account is refused, by both lines")
  func doubles() throws {
    defer { unlink(path) }
    for names in Self.same {
      for name in names.dropFirst() {
        // Older versions and editors may have written lines like this.
        guard let first = try? line(names[0]), let second = try? line(name) else { continue }
        let old = second.text.replacing(second.user.id, with: name.filter { !$0.isWhitespace })
        write("# Users\n\(first.text)\n\n\(old)\n")
        let error = #expect(throws: FileError.self) { try UserFile(path: path) }
        let words = "\(try #require(error))"
        #expect(words.contains("\(path):4: ") && words.contains("line 2"), "\(words)")
        #expect(!words.contains(name))
      }
    }
  }

  private func write(_ text: String) {
    guard let file = fopen(path, "w") else { fatalError("\(path) cannot be written") }
    fputs(text, file)
    fclose(file)
  }

  @Test("a new account has its name as it was written, composed and without blanks around it")
  func newNames() throws {
    #expect(try line(" Rene\u{301}\u{A0}").user.id.utf8.elementsEqual("René".utf8))
    #expect(throws: FileError.self) { try line(" ") }
    #expect(throws: FileError.self) { try line("a b") }
  }
}
