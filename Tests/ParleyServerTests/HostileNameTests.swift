import ParleyCryptoOpenSSL
import Gateway
import ParleyGatewayPorts
import Glibc
import ParleyHashing
import ParleyLocks
import ParleyOTWorkloads
import ParleyServer
import Testing

/// External names are never interpreted in rights, lines or paths.
@Suite("Hostile names")
struct HostileNameTests {
  private static let now: Timestamp = 1_800_000_000_000
  private static let secret = Array("an example of a secret of 32 bytes and more".utf8)

  // MARK: Rights

  /// A right that contains `{user}`.
  struct Template: Sendable, CustomTestStringConvertible {
    let kind: Grant.Kind
    let text: String

    var testDescription: String { "\(kind) \(text)" }

    static let all = [Grant.Kind.documents, .rooms, .folders].flatMap { kind in
      ["{user}", "home/{user}", "home/{user}/*", "{user}/*", "{user}/{user}", "home/{user}/in"]
        .map { Template(kind: kind, text: $0 + "=all") }
    }

    static let namesOnly = [
      Template(kind: .documents, text: "of-{user}-*=all"),
      Template(kind: .rooms, text: "/me/{user}=all"),
      Template(kind: .rooms, text: "/of/{user}/*=all"),
      Template(kind: .documents, text: "{user}.*=all"),
    ]

    /// Returns the name that the right grants to a user; for a pattern, a name below it as well.
    func names(of user: String) -> [String] {
      let match = text.dropLast(4)
      let name = match.split(separator: "{user}", omittingEmptySubsequences: false).joined(
        separator: user)
      return match.last == "*" ? [name.dropLast() + "x", String(name.dropLast(2))] : [name]
    }
  }

  private static let others = [
    "", "ann", "home", "home/ann", "home/ann/x", "home/ann/in", "ann/x", "ann/ann", "team",
    "of-ann-x", "/me/ann",
    "/of/ann/x", "ann.x", "home/x", "x",
  ]

  private func isGiven(_ grants: [Grant], _ kind: Grant.Kind, _ name: String) -> Bool {
    let identity = Identity(user: "u", grants: grants)
    return switch kind {
    case .documents: identity.may(.read, .document(DocumentID(name), in: nil))
    case .rooms: identity.may(.read, .room(RoomName(name)))
    case .folders: identity.may(.read, .document("n", in: FolderPath(stored: name)))
    }
  }

  /// Checks that a user has the right only to their own name, or no right.
  private func check(_ grants: [Grant], _ template: Template, _ user: String) {
    if PlainName(user) == nil { #expect(grants.isEmpty, "\(template) \(user.debugDescription)") }
    let own = template.names(of: user)
    for other in Self.others where !own.contains(where: { $0.utf8.elementsEqual(other.utf8) }) {
      #expect(
        !isGiven(grants, template.kind, other), "\(template) \(user.debugDescription) \(other)")
    }
  }

  @Test("names with a meaning are no plain names, signs are")
  func plainNames() {
    for name in HostileNames.meaningful {
      #expect(PlainName(name) == nil, "\(name.debugDescription)")
    }
    for name in HostileNames.plain {
      #expect(PlainName(name)?.text.utf8.elementsEqual(name.utf8) == true, "\(name)")
    }
  }

  @Test(
    "a token of a profile opens its user's own name alone",
    arguments: Template.all + Template.namesOnly)
  func issuerProfile(template: Template) throws {
    let path = "/tmp/parley-secret-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    let file = try #require(fopen(path, "w"))
    fputs(String(decoding: Self.secret, as: UTF8.self), file)
    fclose(file)
    let word =
      template.kind == .documents ? "document" : template.kind == .rooms ? "room" : "folder"
    let profile = try IssuerProfile.profile("app hmac-secret-file:\(path) \(word):\(template.text)")
    let log = Lines()
    let authenticator = try JWTAuthenticator(profiles: [profile], log: log)
    for user in HostileNames.all {
      guard let identity = try? authenticator.authenticate(token(user), now: Self.now) else {
        #expect(user.isEmpty)
        continue
      }
      check(identity.grants, template, user)
    }
    let ann = try authenticator.authenticate(token("ann"), now: Self.now)
    #expect(isGiven(ann.grants, template.kind, template.names(of: "ann")[0]))
    // One log line covers all users.
    #expect(log.lines.withLock { $0 } == ["rights with {user} not granted profile=app"])
  }

  private func token(_ user: String) -> String {
    let claims = "{\"sub\":\(json(user)),\"exp\":1900000000}"
    let whole =
      Base64.url.encode(Array(#"{"alg":"HS256"}"#.utf8)) + "."
      + Base64.url.encode(Array(claims.utf8))
    return whole + "." + Base64.url.encode(hmacSHA256(Self.secret, Array(whole.utf8)))
  }

  private func json(_ text: String) -> String {
    let units = text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"\(units.joined())\""
  }

  @Test(
    "a right for all who sign in opens a user's own name alone",
    arguments: Template.all + Template.namesOnly)
  func providerRight(template: Template) throws {
    let word =
      template.kind == .documents ? "document" : template.kind == .rooms ? "room" : "folder"
    let right = try ProviderConfiguration.right("\(word):\(template.text)")
    for user in HostileNames.all { check([right].grants(for: user), template, user) }
    for user in HostileNames.all { check([right].grants(for: user, prefix: "p-"), template, user) }
  }

  // MARK: Lines

  @Test("a log line stays one line of visible text", arguments: LogFormat.allCases)
  func logLines(format: LogFormat) {
    for name in HostileNames.all {
      let bytes = LogLine.bytes(
        format, .info, "m", [("k", name), ("l", "x")], seconds: 0, milliseconds: 0)
      let line = String(decoding: bytes.dropLast(), as: UTF8.self)
      #expect(bytes.last == 10)
      #expect(
        line.unicodeScalars.allSatisfy {
          $0 == " " || !$0.isBlank && !$0.isInvisible && !$0.isDeceiving
        },
        "\(name.debugDescription)")
    }
  }

  @Test("a title on an operator's terminal is one line, and controls nothing")
  func terminalLines() {
    for name in HostileNames.all {
      let line = LineText.visible(name)
      #expect(!line.unicodeScalars.contains { $0.isDeceiving }, "\(name.debugDescription)")
      let isPlain = !name.unicodeScalars.contains { $0.isDeceiving }
      #expect(line.utf8.elementsEqual(name.utf8) == isPlain, "\(name.debugDescription)")
    }
    #expect(LineText.visible("a\n\u{1B}[2Jb") == "a\\u{a}\\u{1b}[2Jb")
  }

  @Test(
    "a name in the file of users is refused, or read back as one user who may do what was given")
  func usersFile() throws {
    let path = "/tmp/parley-users-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    let editing = UserEditing(path: path)
    try editing.add(line("ann"))
    for name in HostileNames.all {
      let before = try UserLine.lines(ofFileAt: path)
      guard let line = try? line(name), (try? editing.add(line)) != nil else {
        #expect(try UserLine.lines(ofFileAt: path) == before)
        continue
      }
      #expect(try UserLine.lines(ofFileAt: path) == before + [line], "\(name.debugDescription)")
      #expect(AccountName(line.user.id) == AccountName(name))
      try editing.remove(name)
      #expect(try UserLine.lines(ofFileAt: path) == before, "\(name.debugDescription)")
    }
  }

  private func line(_ id: String, name: String? = nil) throws -> UserLine {
    try UserLine(id: id, name: name, password: .ofNobody, rights: ["document:own=read"], since: 1)
  }

  @Test("a shown name is refused, or read back as it is, and changes nothing else in the line")
  func shownNames() throws {
    for name in HostileNames.all where !name.isEmpty {
      guard let line = try? line("ann", name: name) else { continue }
      #expect(line.user.name.utf8.elementsEqual(name.utf8))
      #expect(line.rights == ["document:own=read"])
      #expect(line.user.id == "ann")
    }
  }

  @Test("a group's name is refused, or names that group alone")
  func groupNames() throws {
    let path = "/tmp/parley-users-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    let editing = UserEditing(path: path)
    try editing.add(line("ann"))
    try editing.put(GroupLine(name: "board", rights: ["folder:board=all"]))
    for name in HostileNames.all {
      guard let group = try? GroupLine(name: name, rights: ["folder:own=read"]) else { continue }
      try editing.put(group)
      try editing.setMembership(true, of: name, users: ["ann"])
      let file = try UserFile(path: path)
      let ann = try #require(file.user("ann"))
      #expect(
        isGiven(ann.grants, .folders, "own") && !isGiven(ann.grants, .folders, "board"), "\(name)")
      try editing.removeGroup(name)
    }
    #expect(try UserLine.lines(ofFileAt: path) == [line("ann")])
  }

  @Test("a place in a list of notes is read back for any id of the note")
  func cursors() {
    for name in HostileNames.all {
      let place = NoteSortKey(time: 7, id: DocumentID(name))
      let read = NoteSortKey(cursor: place.cursor)
      #expect(
        read?.time == 7 && read?.id.text.utf8.elementsEqual(name.utf8) == true,
        "\(name.debugDescription)")
    }
  }

  @Test("an exported note with any title and id is a file in the folder")
  func exportNames() throws {
    var names = ExportNames(ending: "md")
    for name in HostileNames.all {
      for (id, title) in [(name, "Plan"), ("n", name), (name, name)] where !id.isEmpty {
        let note = NoteSummary(
          id: DocumentID(id), title: title, revision: 0, createdAt: 0, updatedAt: 0)
        let path = names.unusedPath(for: note, in: "/nowhere")
        let file = Array(path.unicodeScalars.dropFirst("/nowhere/".count))
        #expect(path.utf8.starts(with: "/nowhere/".utf8) && file.first != ".", "\(path)")
        #expect(file.first?.properties.generalCategory != .nonspacingMark, "\(path)")
        #expect(
          file.allSatisfy { !$0.isBlank && !$0.isInvisible && $0 != "/" && $0 != "\\" }, "\(path)")
      }
    }
  }

  @Test(
    "a name in an address, a header or a cookie is made of unreserved characters, and read back")
  func encoding() {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~%".utf8)
    for name in HostileNames.all {
      let encoded = PercentEncoding.encoded(name)
      #expect(encoded.utf8.allSatisfy(plain.contains), "\(name.debugDescription)")
      #expect(
        PercentEncoding.decoded(encoded[...])?.utf8.elementsEqual(name.utf8) == true,
        "\(name.debugDescription)")
    }
  }

  @Test("a revocation of one name ends no other, before and after a restart")
  func revocations() throws {
    let path = "/tmp/parley-revoked-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    for name in HostileNames.all where !name.isEmpty {
      unlink(path)
      let file = try RevocationFile(path: path)
      try file.add([.user(name, before: 1_000), .token(name), .timed(name, until: .max)])
      for file in [file, try RevocationFile(path: path)] {
        for other in ["ann", "x"] where other != name {
          #expect(!file.isRevoked(Identity(user: other, tokenID: other, issuedAt: 5, grants: [])))
        }
        #expect(
          file.isRevoked(Identity(user: name, issuedAt: 5, grants: [])), "\(name.debugDescription)")
        #expect(
          file.isRevoked(Identity(user: "u", tokenID: name, grants: [])), "\(name.debugDescription)"
        )
      }
    }
  }
}

/// Records warnings and errors with their first field only.
private final class Lines: LogSink {
  let lines = Monitor<[String]>([])
  let level = LogLevel.trace

  func write(_ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]) {
    let first = data.first.map { " \($0.key)=\($0.value)" } ?? ""
    guard level >= .warning, message != "short secret" else { return }
    lines.change { $0.append(message + first) }
  }
}
