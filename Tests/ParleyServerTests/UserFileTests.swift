import ParleyCryptoOpenSSL
import Glibc
import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The file of users, and groups in it")
struct UserFileTests {
  private let path = "/tmp/parley-users-\(UInt64.random(in: 0 ... .max))"

  private func add(_ user: String, _ rights: String...) throws {
    try UserEditing(path: path).add(
      UserLine(id: user, name: nil, password: .ofNobody, rights: rights, since: 1))
  }

  private func may(_ user: String, _ file: UserFile, in folder: String) throws -> Bool {
    let user = try #require(file.user(user))
    let identity = Identity(user: user.id, grants: user.grants)
    return identity.may(.read, .document("n", in: try FolderPath(folder)))
  }

  @Test(
    "users have the current rights of their groups; a missing group gives none")
  func groups() throws {
    defer { unlink(path) }
    try add("ada", "group:team", "document:own=all")
    try add("bea", "group:team", "group:none")
    let editing = UserEditing(path: path)
    try editing.put(GroupLine(name: "team", rights: ["folder:team/*=read"]))
    let file = try UserFile(path: path)
    #expect(try may("ada", file, in: "team/x") && may("bea", file, in: "team"))
    #expect(try !may("ada", file, in: "other"))
    try editing.put(GroupLine(name: "team", rights: ["folder:other=read"]))
    try editing.put(GroupLine(name: "board", rights: ["folder:board=read"]))
    try editing.setMembership(true, of: "board", users: ["bea"])
    let changed = try UserFile(path: path)
    #expect(try !may("ada", changed, in: "team") && may("ada", changed, in: "other"))
    #expect(try may("bea", changed, in: "board") && !may("ada", changed, in: "board"))
    try editing.setMembership(false, of: "team", users: ["ada"])
    try editing.removeGroup("board")
    let last = try UserFile(path: path)
    #expect(try !may("ada", last, in: "other") && may("bea", last, in: "other"))
    #expect(try !may("bea", last, in: "board"))
    #expect(
      try UserLine.lines(ofFileAt: path).map(\.rights) == [
        ["document:own=all"], ["group:team", "group:none"],
      ])
  }

  @Test(
    "a refused name has an explanation for users of a form",
    arguments: [("ada", "a\nb"), ("ada", " "), ("a b", nil), ("share/x", nil), ("-x", nil)])
  func namesOfForms(id: String, name: String?) throws {
    let error = #expect(throws: FileError.self) {
      try UserLine(id: id, name: name, password: .ofNobody, rights: [], since: 1)
    }
    let words = try #require(error).description
    #expect(!words.contains("--") && !words.contains("arguments"), "\(words)")
  }

  @Test(
    "a name from a provider is converted to one line",
    arguments: [
      ("Ada\nLovelace", "Ada Lovelace"), (" Ada\r\n", "Ada"), ("Ada\tL.", "Ada L."),
      ("Ada\u{2028}Lovelace", "Ada Lovelace"), ("Ada\u{202e}", "Ada"), ("\n\n", ""),
    ])
  func namesOfProviders(text: String, name: String) {
    #expect(UserLine.shownName(text) == name)
  }

  @Test("invalid lines of groups are refused, and other lines are not changed")
  func lines() throws {
    defer { unlink(path) }
    for rights in [["folder:te*m=read"], ["folder:team"], ["read"], ["group:other"]] {
      #expect(throws: FileError.self) { try GroupLine(name: "team", rights: rights) }
    }
    for name in ["", "a b", "-x", "a#b"] {
      #expect(throws: FileError.self) { try GroupLine(name: name, rights: []) }
    }
    try add("@ada", "document:*=read")
    let editing = UserEditing(path: path)
    try editing.put(GroupLine(name: "ada", rights: ["folder:a%20b=read"]))
    let file = try UserFile(path: path)
    #expect(try may("@ada", file, in: "x"))
    #expect(throws: FileError.self) { try editing.setMembership(true, of: "none", users: ["@ada"]) }
    #expect(throws: FileError.self) { try editing.setMembership(true, of: "ada", users: ["none"]) }
  }
}
