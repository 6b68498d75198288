import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

/// Spelling of readable names.
@Suite("Readable names")
struct ReadableNameTests {
  @Test(
    "several texts are parsed to one spelling of a name",
    arguments: [
      ("minutes-2026", "minutes-2026"), ("Minutes-2026", "minutes-2026"), ("2026", "2026"),
      ("CAF\u{c9}", "caf\u{e9}"), ("cafe\u{301}", "caf\u{e9}"),
      ("\u{41f}\u{43b}\u{430}\u{43d}", "\u{43f}\u{43b}\u{430}\u{43d}"),
      ("\u{39f}\u{394}\u{39f}\u{3a3}-\u{3b4}", "\u{3bf}\u{3b4}\u{3bf}\u{3c3}-\u{3b4}"),
      ("\u{8b70}\u{4e8b}\u{9332}-2026", "\u{8b70}\u{4e8b}\u{9332}-2026"),
      ("\u{6d}\u{fc}nchen", "m\u{fc}nchen"),
      ("\u{5e9}\u{5dc}\u{5d5}\u{5dd}", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"),
      ("\u{645}\u{62d}\u{636}\u{631}", "\u{645}\u{62d}\u{636}\u{631}"),
      ("\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}", "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}"),
      ("\u{e1b}\u{e23}\u{e30}\u{e0a}\u{e38}\u{e21}", "\u{e1b}\u{e23}\u{e30}\u{e0a}\u{e38}\u{e21}"),
      ("\u{d68c}\u{c758}", "\u{d68c}\u{c758}"),
      ("\u{30e1}\u{30e2}\u{3068}\u{8b70}\u{4e8b}", "\u{30e1}\u{30e2}\u{3068}\u{8b70}\u{4e8b}"),
    ])
  func spelling(written: String, expected: String) throws {
    #expect(try ReadableName(written).text.utf8.elementsEqual(expected.utf8))
  }

  @Test(
    "an invalid name is refused with the reason",
    arguments: [
      ("", .empty), (String(repeating: "a", count: 65), .tooLong),
      (String(repeating: "a", count: 100_000), .tooLong), ("..", .character), ("a/b", .character),
      ("a%2fb", .character), ("*", .character), ("a b", .character), ("a_b", .character),
      ("a.b", .character), ("\u{1f600}", .character), ("a\u{202e}b", .character),
      ("a\u{200d}b", .character), ("a\u{0}b", .character), ("\u{ff41}", .character),
      ("x\u{301}", .character), ("\u{17f}", .character), ("\u{115f}", .character),
      ("a-", .hyphens), ("-a", .hyphens), ("a--b", .hyphens), ("xn--caf-dma", .hyphens),
      ("-", .hyphens), ("p\u{430}y", .scripts), ("\u{3b1}b", .scripts),
      ("\u{440}\u{430}\u{443}-1", .lookalike), ("\u{3bf}\u{3bf}", .lookalike),
      ("admin", .reserved), ("API", .reserved),
    ] as [(String, ReadableNameError)])
  func refusals(written: String, reason: ReadableNameError) {
    #expect(throws: reason) { try ReadableName(written) }
  }

  /// Returns a text of scalars that names may or may not contain, combining scalars included.
  private static func text(_ rng: inout SplitMix64) -> String {
    let pools: [[UInt32]] = [
      Array(0x61...0x7a), Array(0x41...0x5a), Array(0x30...0x39), [0x2d],
      Array(0xc0...0x24f), Array(0x300...0x36f), Array(0x370...0x3ff), Array(0x400...0x52f),
      Array(0x590...0x6ff), Array(0x900...0x97f), Array(0x1e00...0x1fff), Array(0x200b...0x206f),
      Array(0x3040...0x30ff), Array(0x4e00...0x4e40), Array(0x1100...0x1112),
      Array(0xac00...0xac20),
    ]
    var text = ""
    let own = pools[Int.random(in: 0..<pools.count, using: &rng)]
    for _ in 0..<Int.random(in: 0...12, using: &rng) {
      let pool =
        Int.random(in: 0..<4, using: &rng) == 0
        ? pools[Int.random(in: 0..<pools.count, using: &rng)] : own
      guard let value = pool.randomElement(using: &rng), let scalar = Unicode.Scalar(value) else {
        continue
      }
      text.unicodeScalars.append(scalar)
    }
    return text
  }

  @Test("the spelling of a name is parsed to itself", arguments: UInt64(1)...10)
  func laws(seed: UInt64) throws {
    var rng = SplitMix64(seed: seed)
    for _ in 0..<250 {
      let written = Self.text(&rng)
      guard let name = try? ReadableName(written) else { continue }
      let scalars = Array(name.text.unicodeScalars)
      #expect((1...ReadableName.scalarsMax).contains(scalars.count))
      #expect(try ReadableName(name.text) == name, "\(written)")
      #expect(scalars.allSatisfy { $0 == "-" || ("0"..."9").contains($0) || $0.value > 0x60 })
      #expect(!name.text.utf8.contains { [0x2e, 0x2f, 0x25, 0x23, 0x3f].contains($0) })
      // Capitals of single letters result in the same name.
      let capitals = scalars.map { scalar -> String in
        let upper = scalar.properties.uppercaseMapping
        return upper.lowercased().unicodeScalars.elementsEqual([scalar]) ? upper : String(scalar)
      }
      #expect(try ReadableName(capitals.joined()) == name, "\(written)")
    }
  }
}

/// Publishing notes, and reading them by their names.
@Suite("Names of published notes")
struct NameTests {
  private let rig = GatewayRig { $0.names.isOffered = true }

  init() {
    rig.make("n1", "n2")
    book("manager", .all)
    book("writer", [.read, .write, .presence])
    book("curator", [.manage])
  }

  private func book(_ token: String, _ verbs: Verbs) {
    rig.book?.enter(token, user: token, [Grant(.documents, NamePattern("n*"), verbs)])
  }

  private func publish(_ note: String, _ name: String, by token: String = "manager") -> (
    status: Int, body: String
  ) {
    rig.request(
      "PUT", "/api/notes/\(note)/name", token: token,
      String(decoding: JSONWriter.object { $0.field("name", name, &$1) }, as: UTF8.self))
  }

  private func withdraw(_ note: String, by token: String = "manager") -> Int {
    rig.request("DELETE", "/api/notes/\(note)/name", token: token).status
  }

  /// Returns the token issued for a name; `nil` if the name opens no note.
  private func open(_ name: String, at rig: GatewayRig? = nil) -> String? {
    var token: String?
    (rig ?? self.rig).openName(name) { outcome in
      guard case .success(let opened?) = outcome else { return }
      token = JSONFields(opened.body)?["token"]?.string
    }
    return token
  }

  private func token(_ name: String) throws -> String { try #require(open(name)) }

  private func join(_ id: UInt64, _ note: String = "n1") -> ServerMessage.Joined.Access? {
    guard case .joined(let joined) = rig.ask(id, .join(.init(documentID: note))) else { return nil }
    return joined.access
  }

  @Test("anyone can read a published note by its name, and not write")
  func reading() throws {
    let (status, body) = publish("n1", "Minutes-2026")
    #expect(status == 200)
    #expect(body.contains(#""name":"minutes-2026","path":"/p/minutes-2026""#))
    let token = try self.token("MINUTES-2026")
    let (reader, _) = try rig.connectNative(token)
    #expect(join(reader) == .read)
    #expect(join(reader, "n2") == nil)
    var operation = TextOperation()
    operation.insert("x")
    let change = rig.ask(
      reader,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: 0, sequence: 1, operation: operation)))
    guard case .refused(let refused) = change else { throw Missing() }
    #expect(refused.code == .notAllowed)
    for (method, path, body) in [
      ("PUT", "text", "x"), ("PATCH", "", "{}"), ("DELETE", "", ""), ("DELETE", "name", ""),
      ("PUT", "name", #"{"name":"x"}"#), ("POST", "share", #"{"access":"read"}"#),
      ("POST", "comments", #"{"text":"x"}"#),
    ] {
      let path = "/api/notes/n1" + (path.isEmpty ? "" : "/" + path)
      #expect(rig.request(method, path, token: token, body).status == 403, "\(method) \(path)")
    }
    #expect(rig.request("GET", "/api/notes/n1/text", token: token).status == 200)
    // A reader receives changes by others.
    #expect(rig.request("PUT", "/api/notes/n1/text", token: "writer", "new").status == 200)
    #expect(rig.pushes(reader).contains { if case .changes = $0 { true } else { false } })
  }

  @Test("publishing needs the rights to manage and to read; withdrawing needs only the former")
  func rights() {
    #expect(publish("n1", "one", by: "writer").status == 403)
    #expect(publish("n1", "one", by: "curator").status == 403)
    #expect(publish("none", "one").status == 404)
    #expect(open("one") == nil)
    #expect(publish("n1", "one").status == 200)
    #expect(rig.request("GET", "/api/notes/n1/name", token: "writer").status == 403)
    #expect(rig.request("GET", "/api/notes/n1/name", token: "curator").body.contains("one"))
    #expect(withdraw("n1", by: "writer") == 403)
    #expect(withdraw("n1", by: "curator") == 204)
    #expect(withdraw("n1") == 404)
    #expect(rig.request("GET", "/api/notes/n1/name", token: "manager").body == "{}")
  }

  @Test(
    "an invalid name is refused",
    arguments: ["", "..", "a%2fb", "*", "a-", "\u{202e}a", "\u{1f600}"])
  func badNames(name: String) {
    #expect(publish("n1", name).status == 400)
    #expect(open(name) == nil)
  }

  @Test("a name in use or in recent use by another note is refused with the time of its release")
  func conflicts() {
    _ = publish("n1", "one")
    let taken = publish("n2", "one")
    #expect(taken.status == 409 && taken.body.contains("idTaken") && !taken.body.contains("until"))
    #expect(withdraw("n1") == 204)
    let until = rig.clock.now + PublicName.reservedMilliseconds
    let resting = publish("n2", "one")
    #expect(resting.status == 409 && resting.body.contains(#""until":\#(until)"#))
    #expect(publish("n1", "one").status == 200)
  }

  @Test("withdrawing a name removes its readers, but not those of links, and vice versa")
  func withdrawing() throws {
    _ = publish("n1", "one")
    let token = try self.token("one")
    let (reader, _) = try rig.connectNative(token)
    _ = join(reader)
    let link = rig.request(
      "POST", "/api/notes/n1/share", token: "manager", #"{"access":"read"}"#)
    #expect(link.status == 201)
    let (guest, _) = try rig.connectNative("own1")
    #expect(rig.request("DELETE", "/api/notes/n1/share", token: "manager").status == 204)
    #expect(rig.closeCodes[guest] == CloseReason.revoked.rawValue)
    #expect(rig.closeCodes[reader] == nil)
    #expect(withdraw("n1") == 204)
    #expect(rig.closeCodes[reader] == CloseReason.revoked.rawValue)
    #expect(rig.request("GET", "/api/notes/n1/text", token: token).status == 401)
    #expect(open("one") == nil)
    // The same note can take the name again, and readers can connect again.
    #expect(publish("n1", "one").status == 200)
    _ = try rig.connectNative(self.token("one"))
  }

  @Test("withdrawing a name also removes readers with the note's former name")
  func renaming() throws {
    _ = publish("n1", "one")
    let (reader, _) = try rig.connectNative(self.token("one"))
    #expect(publish("n1", "two").status == 200)
    #expect(open("one") == nil)
    #expect(rig.closeCodes[reader] == nil)
    #expect(withdraw("n1") == 204)
    #expect(rig.closeCodes[reader] == CloseReason.revoked.rawValue)
  }

  @Test("a name is not withdrawn if its tokens cannot be revoked")
  func brokenRevocations() {
    _ = publish("n1", "one")
    rig.revocations.isBroken = true
    #expect(withdraw("n1") == 503)
    #expect(open("one") != nil)
  }

  @Test("a token renewed with the name continues to read; a token of another note does not")
  func renewal() throws {
    _ = publish("n1", "one")
    let (reader, _) = try rig.connectNative(self.token("one"))
    _ = join(reader)
    let next = try self.token("one")
    rig.ask(reader, .refresh(.init(token: next)))
    #expect(rig.closeCodes[reader] == nil)
    #expect(join(reader, "n2") == nil)
  }

  @Test("a deleted note cannot be read by its name until it is restored")
  func deletion() throws {
    _ = publish("n1", "one")
    let token = try self.token("one")
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    #expect(open("one") == nil)
    #expect(rig.request("GET", "/api/notes/n1/text", token: token).status != 200)
    #expect(publish("n2", "one").status == 409)
    #expect(rig.request("POST", "/api/deleted/n1/restore", token: "manager").status == 200)
    #expect(open("one") != nil)
  }

  @Test("without the setting no name opens a note, and tokens of readers are not valid")
  func switchedOff() throws {
    _ = publish("n1", "one")
    let off = GatewayRig(store: rig.store)
    off.book?.enter("manager", user: "m", [Grant(.documents, NamePattern("n*"), .all)])
    #expect(open("one", at: off) == nil)
    var reader = Identity.publicReader(
      of: PublicName(
        id: "l.p.1", name: try ReadableName("one"), note: "n1", maker: "", createdAt: 1),
      at: off.clock.now)
    #expect(reader.isPublicReader)
    let token = off.ownTokens.token(for: reader)
    #expect(off.request("GET", "/api/notes/n1/text", token: token).status == 401)
    reader.isGuest = false
    #expect(!reader.isPublicReader)
    #expect(off.request("GET", "/api/notes/n1/name", token: "manager").status == 404)
    #expect(
      off.request("PUT", "/api/notes/n1/name", token: "manager", #"{"name":"a"}"#).status == 404)
    // Names can still be withdrawn.
    #expect(off.request("DELETE", "/api/notes/n1/name", token: "manager").status == 204)
  }
}

private struct Missing: Error {}
