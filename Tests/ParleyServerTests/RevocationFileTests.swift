import FoundationEssentials
import ParleyGatewayPorts
import ParleyServer
import Testing

@Suite("The file of revocations")
struct RevocationFileTests {
  private let path: String

  init() {
    path = FileManager.default.temporaryDirectory.path + "/revocations-\(UUID().uuidString)"
  }

  private func identity(_ user: String, at: Timestamp? = nil, id: String? = nil) -> Identity {
    Identity(user: user, tokenID: id, issuedAt: at, grants: [])
  }

  private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test(
    "a revocation persists in the next process, for any name",
    arguments: ["ada", "a b", "a\nuser 9 eve", "50%", "é", "share/n 1"])
  func survives(name: String) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let first = try RevocationFile(path: path)
    try first.add([.user(name, before: 1_000)])
    try first.add([.token("id " + name)])
    for file in [first, try RevocationFile(path: path)] {
      #expect(file.isRevoked(identity(name, at: 1_000)))
      #expect(!file.isRevoked(identity(name, at: 1_001)))
      #expect(file.isRevoked(identity("x", at: 2_000, id: "id " + name)))
      #expect(!file.isRevoked(identity("eve", at: 1)))
    }
  }

  @Test("revocations appended by other processes are found, and reported as new")
  func appended() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try RevocationFile(path: path)
    file.refresh(now: 10_000)
    #expect(file.generation == 0)
    #expect(RevocationFile.append(.user("ada", before: 5), to: path))
    file.refresh(now: 20_000)
    #expect(file.generation == 1)
    #expect(file.isRevoked(identity("ada", at: 5)))
    // Without a new revocation, no connection has to be checked again.
    file.refresh(now: 30_000)
    #expect(file.generation == 1)
  }

  @Test("invalid lines are ignored, and the others apply")
  func broken() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let lines = "# by hand\nuser x ada\nuser 5\ntoken\nnonsense\nuser 5 %zz\n\nuser 5 bea\ntoken t"
    try lines.write(toFile: path, atomically: true, encoding: .utf8)
    let file = try RevocationFile(path: path)
    #expect(!file.isRevoked(identity("ada", at: 1)))
    #expect(file.isRevoked(identity("bea", at: 1)))
    #expect(file.isRevoked(identity("x", id: "t")))
  }

  @Test("redundant revocations do not grow the file")
  func compacted() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try RevocationFile(path: path)
    try file.add([.token("t")])
    for time in 0..<1_500 { try file.add([.user("ada", before: Timestamp(time))]) }
    #expect(try text().split(separator: "\n").count < 1_100)
    let again = try RevocationFile(path: path)
    #expect(again.isRevoked(identity("ada", at: 1_499)))
    #expect(again.isRevoked(identity("x", id: "t")))
  }

  @Test("a truncated line does not affect the next one")
  func cutShort() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try "token a\nuser 5 be".write(toFile: path, atomically: true, encoding: .utf8)
    let file = try RevocationFile(path: path)
    try file.add([.token("c")])
    #expect(RevocationFile.append(.token("d"), to: path))
    let again = try RevocationFile(path: path)
    for id in ["a", "c", "d"] { #expect(again.isRevoked(identity("x", id: id)), "\(id)") }
  }

  @Test("lines appended by other processes during compaction are not lost")
  func racing() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let path = path
    let file = try RevocationFile(path: path)
    async let others: Void = {
      for number in 0..<300 { _ = RevocationFile.append(.token("other \(number)"), to: path) }
    }()
    // Beyond 1000 lines plus two per revocation, the file is compacted: here several times.
    for time in 0..<3_000 { try file.add([.user("ada", before: Timestamp(time))]) }
    await others
    let again = try RevocationFile(path: path)
    for number in 0..<300 {
      #expect(again.isRevoked(identity("x", id: "other \(number)")), "\(number)")
    }
    #expect(again.isRevoked(identity("ada", at: 2_999)))
  }

  @Test("links can use at most half of the space for revocations")
  func room() {
    var revoked = RevokedTokens()
    for number in 0..<RevokedTokens.linksMax {
      revoked.insert(.user("share/\(number)", before: 1))
    }
    #expect(!revoked.hasRoom(for: .user("share/one more", before: 1)))
    #expect(revoked.hasRoom(for: .user("share/7", before: 2)))
    #expect(revoked.hasRoom(for: .user("ada", before: 1)))
    while revoked.count < RevokedTokens.countMax { revoked.insert(.token("\(revoked.count)")) }
    #expect(!revoked.hasRoom(for: .user("ada", before: 1)))
    #expect(!revoked.hasRoom(for: .token("t")))
    #expect(revoked.hasRoom(for: .token("\(RevokedTokens.countMax - 1)")))
  }

  @Test("names with different bytes are different")
  func exact() {
    var revoked = RevokedTokens()
    revoked.insert(.user("\u{e9}", before: 1))
    revoked.insert(.token("\u{e9}"))
    #expect(revoked.isRevoked(identity("\u{e9}", at: 1)))
    #expect(!revoked.isRevoked(identity("e\u{301}", at: 1)))
    #expect(!revoked.isRevoked(identity("x", id: "e\u{301}")))
  }

  @Test("a revocation that cannot be stored is refused")
  func unwritable() throws {
    let file = try RevocationFile(path: path + "/no/such/folder")
    #expect(throws: RevocationError.unwritable) { try file.add([.user("ada", before: 1)]) }
    #expect(!file.isRevoked(identity("ada", at: 1)))
  }
}
