import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Rights that expire, are renewed, extended, shared or revoked while connections are open.
@Suite("Rights that change")
struct AccessTests {
  private let rig = GatewayRig()

  init() {
    rig.make("n1", "n2", "star*")
    book("writer", [.read, .write, .presence])
    book("manager", .all)
    rig.book?.enter("bare", user: "u", [])
  }

  private func book(
    _ token: String, _ verbs: Verbs, user: String = "u", name: String? = nil,
    seconds: Int64? = nil, tokenID: String? = nil
  ) {
    rig.book?.enter(
      token, user: user, name: name, tokenID: tokenID, issuedAt: rig.clock.now,
      expiresAt: seconds.map { rig.clock.now + $0 * 1_000 },
      [Grant(.documents, NamePattern("n*"), verbs), Grant(.rooms, NamePattern("r*"), verbs)])
  }

  private func code(_ message: ServerMessage?) -> ErrorCode? {
    switch message {
    case .error(let error): error.code
    case .refused(let refused): refused.code
    default: nil
    }
  }

  private func join(_ id: UInt64, _ document: String = "n1") -> ServerMessage.Joined.Access? {
    guard case .joined(let joined) = rig.ask(id, .join(.init(documentID: document))) else {
      return nil
    }
    return joined.access
  }

  private func insertion(_ sequence: Int, revision: Int = 0) -> ClientMessage {
    var operation = TextOperation()
    operation.retain(revision)
    operation.insert("x")
    return .change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
        operation: operation))
  }

  private func accessChanges(_ id: UInt64) -> [ServerMessage.AccessChanged.Access] {
    rig.pushes(id).compactMap {
      if case .accessChanged(let changed) = $0 { changed.access } else { nil }
    }
  }

  // MARK: Time

  @Test("a token's expiry is announced, and then closes the connection")
  func expiry() throws {
    book("short", .all, seconds: 100)
    let (id, _) = try rig.connectNative("short")
    _ = join(id)
    rig.pass(milliseconds: 39_000)
    #expect(rig.pushes(id).isEmpty)
    rig.pass(milliseconds: 2_000)
    rig.pass(milliseconds: 2_000)
    #expect(rig.pushes(id) == [.tokenExpiring(.init(expiresAt: rig.clock.now + 57_000))])
    rig.pass(milliseconds: 57_000)
    #expect(rig.pushes(id).compactMap(code) == [.unauthorised])
    #expect(rig.closeCodes[id] == CloseReason.tokenExpired.rawValue)
  }

  @Test("messages after a token's expiry are ignored, even before the next tick")
  func lateMessage() throws {
    book("short", .all, seconds: 10)
    let (id, _) = try rig.connectNative("short")
    _ = join(id)
    rig.clock.advance(milliseconds: 10_000)
    rig.ask(id, insertion(1))
    #expect(rig.closeCodes[id] == CloseReason.tokenExpired.rawValue)
    #expect(rig.store.log(of: "n1")?.isEmpty ?? false)
  }

  @Test("a Whaler client is closed, too, when its token expires")
  func whalerExpiry() {
    book("short", .all, seconds: 10)
    let id = rig.connectWhaler(pool: "r", token: "short")
    rig.pass(milliseconds: 10_000)
    #expect(rig.closeCodes[id] == CloseReason.tokenExpired.rawValue)
  }

  @Test("a refreshed connection has the rights and the name of the new token")
  func refresh() throws {
    book("short", .all, name: "Ada", seconds: 100)
    let (id, _) = try rig.connectNative("short")
    let (peer, _) = try rig.connectNative("writer")
    #expect(join(id) == .write)
    _ = join(peer)
    _ = rig.pushes(id)
    book("next", [.read, .presence], name: "Ada L.", seconds: 1_000)
    let reply = rig.ask(id, .refresh(.init(token: "next")))
    #expect(reply == .refreshed(.init(expiresAt: rig.clock.now + 1_000_000)))
    #expect(accessChanges(id) == [.read])
    #expect(code(rig.ask(id, insertion(1))) == .notAllowed)
    #expect(
      rig.pushes(peer).contains {
        if case .presence(let presence) = $0 {
          presence.updated.map(\.name) == ["Ada L."]
        } else {
          false
        }
      })
    rig.pass(milliseconds: 100_000)
    #expect(rig.closeCodes[id] == nil)
  }

  @Test("a refresh with an invalid token or that of another user is refused without effect")
  func badRefresh() throws {
    book("short", .all, seconds: 100)
    book("ended", .all, seconds: -1)
    book("bea", .all, user: "bea")
    let (id, _) = try rig.connectNative("short")
    for token in ["bea", "forged", "ended", ""] {
      #expect(code(rig.ask(id, .refresh(.init(token: token)))) == .unauthorised)
    }
    #expect(join(id) == .write)
    rig.pass(milliseconds: 100_000)
    #expect(rig.closeCodes[id] == CloseReason.tokenExpired.rawValue)
  }

  // MARK: Changed rights

  @Test("a client that loses its right to read is removed, and receives nothing more")
  func readingLost() throws {
    let (id, _) = try rig.connectNative("writer")
    let (peer, _) = try rig.connectNative("manager")
    _ = join(id)
    _ = join(peer)
    rig.ask(id, .subscribe(.init(room: "r1")))
    _ = rig.pushes(id)
    _ = rig.pushes(peer)
    guard case .refreshed = rig.ask(id, .refresh(.init(token: "bare"))) else {
      Issue.record("not refreshed")
      return
    }
    let told = rig.pushes(id)
    #expect(told.contains(.accessChanged(.init(documentID: "n1", access: .none))))
    #expect(told.contains(.unsubscribed(.init(room: "r1"))))
    #expect(rig.pushes(peer).count == 1)
    rig.ask(peer, insertion(1))
    rig.publish("x", in: "r1")
    #expect(rig.pushes(id).isEmpty)
    #expect(code(rig.ask(id, insertion(1))) == .notJoined)
  }

  @Test("presence begins and ends with the right to presence")
  func presence() throws {
    book("unseen", [.read, .write])
    let (id, welcome) = try rig.connectNative("writer")
    let (peer, _) = try rig.connectNative("manager")
    _ = join(id)
    _ = join(peer)
    _ = rig.pushes(peer)
    rig.ask(id, .refresh(.init(token: "unseen")))
    #expect(
      rig.pushes(peer) == [
        .presence(.init(documentID: "n1", joined: [], updated: [], left: [welcome.clientID]))
      ])
    rig.ask(id, .refresh(.init(token: "writer")))
    for one in [id, peer] {
      let isShown = rig.pushes(one).contains {
        if case .presence(let presence) = $0 { presence.joined.count == 1 } else { false }
      }
      #expect(isShown)
    }
  }

  @Test("a granted token adds its rights until it expires")
  func grant() throws {
    book("room", [.read, .write], seconds: 50)
    let (id, _) = try rig.connectNative("bare")
    #expect(join(id) == nil)
    let reply = rig.ask(id, .grant(.init(token: "room")))
    #expect(reply == .granted(.init(expiresAt: rig.clock.now + 50_000)))
    #expect(join(id) == .write)
    guard case .subscribed = rig.ask(id, .subscribe(.init(room: "r1"))) else {
      Issue.record("not subscribed")
      return
    }
    rig.pass(milliseconds: 50_000)
    #expect(rig.closeCodes[id] == nil)
    #expect(
      rig.pushes(id) == [
        .accessChanged(.init(documentID: "n1", access: .none)), .unsubscribed(.init(room: "r1")),
      ])
  }

  @Test("an expired granted token gives no rights, even before the next tick")
  func lateGrant() throws {
    book("room", .all, seconds: 50)
    let (id, _) = try rig.connectNative("bare")
    rig.ask(id, .grant(.init(token: "room")))
    #expect(join(id) == .write)
    rig.clock.advance(milliseconds: 50_000)
    #expect(code(rig.ask(id, .publish(.init(room: "r1", data: .null)))) == .notAllowed)
    #expect(code(rig.ask(id, insertion(1))) == .notJoined)
    #expect(rig.store.log(of: "n1")?.isEmpty ?? false)
  }

  @Test("another user's token grants nothing")
  func strangersGrant() throws {
    book("bea", .all, user: "bea")
    let (id, _) = try rig.connectNative("bare")
    #expect(code(rig.ask(id, .grant(.init(token: "bea")))) == .unauthorised)
    #expect(join(id) == nil)
  }

  @Test("granted tokens are limited in number, and a repeated one counts once")
  func grantLimit() throws {
    let (id, _) = try rig.connectNative("bare")
    for index in 0..<16 {
      book("pass\(index)", .read, tokenID: "t\(index)")
      guard case .granted = rig.ask(id, .grant(.init(token: "pass\(index)"))) else {
        Issue.record("not granted")
        return
      }
    }
    book("one more", .read, tokenID: "t16")
    #expect(code(rig.ask(id, .grant(.init(token: "one more")))) == .tooMany)
    #expect(code(rig.ask(id, .grant(.init(token: "pass3")))) == nil)
  }

  // MARK: Taking back

  private func revoke(_ body: String, key: String? = "pk_operator") -> (status: Int, body: String) {
    rig.request("POST", "/api/revoke", token: key, body)
  }

  @Test("revoking a user's tokens applies at once, and later tokens are valid")
  func revokeUser() throws {
    let (id, _) = try rig.connectNative("writer")
    book("bea", .all, user: "bea")
    let (other, _) = try rig.connectNative("bea")
    #expect(revoke(#"{"user":"u"}"#) == (200, #"{"connections":1}"#))
    #expect(rig.closeCodes[id] == CloseReason.revoked.rawValue)
    #expect(rig.closeCodes[other] == nil)
    let late = rig.connect()
    #expect(code(rig.ask(late, .hello(.init(name: "", token: "writer")))) == .unauthorised)
    #expect(rig.refusal(ofUpgrade: ["authorization": "writer"], as: .whaler(pool: nil)) == 403)
    #expect(rig.request("GET", "/api/notes", token: "writer").status == 401)
    // A token without a time of issue may be older than the revocation, so it is rejected too.
    #expect(rig.request("GET", "/api/notes", token: "bare").status == 401)
    rig.pass(milliseconds: 1)
    book("anew", .all)
    _ = try rig.connectNative("anew")
  }

  @Test("revoking one token does not affect the user's other tokens")
  func revokeToken() throws {
    book("one", .all, tokenID: "t1")
    book("two", .all, tokenID: "t2")
    let (first, _) = try rig.connectNative("one")
    let (second, _) = try rig.connectNative("two")
    #expect(revoke(#"{"token":"t1"}"#).status == 200)
    #expect(rig.closeCodes[first] == CloseReason.revoked.rawValue)
    #expect(rig.closeCodes[second] == nil)
  }

  @Test("revoking a granted token removes its rights")
  func revokeGrant() throws {
    book("room", .all, tokenID: "t1")
    let (id, _) = try rig.connectNative("bare")
    rig.ask(id, .grant(.init(token: "room")))
    _ = join(id)
    #expect(revoke(#"{"token":"t1"}"#).status == 200)
    #expect(rig.closeCodes[id] == nil)
    #expect(accessChanges(id) == [.none])
  }

  @Test("an operator can disconnect one client by its id")
  func revokeConnection() throws {
    let (id, welcome) = try rig.connectNative("writer")
    let (other, _) = try rig.connectNative("writer")
    #expect(revoke(#"{"client":"\#(welcome.clientID)"}"#) == (200, #"{"connections":1}"#))
    #expect(rig.closeCodes[id] == CloseReason.revoked.rawValue)
    #expect(rig.closeCodes[other] == nil)
    #expect(revoke(#"{"client":"nobody"}"#) == (200, #"{"connections":0}"#))
  }

  @Test("revocations of another process apply at the next tick")
  func revokedElsewhere() throws {
    let (id, _) = try rig.connectNative("writer")
    rig.revocations.addFromOtherProcess(.user("u", before: rig.clock.now))
    rig.pass(milliseconds: 250)
    #expect(rig.closeCodes[id] == CloseReason.revoked.rawValue)
  }

  @Test("only an operator's key can revoke", arguments: [nil, "manager", "pk_publisher", "pk_"])
  func revokeNeedsOperator(key: String?) {
    #expect([401, 403].contains(revoke(#"{"user":"u"}"#, key: key).status))
    #expect(
      [401, 403].contains(rig.request("POST", "/api/tokens", token: key, #"{"user":"u"}"#).status))
  }

  @Test("an open demo has no operator either")
  func demoOperator() {
    let demo = GatewayRig(isDemo: true)
    #expect(demo.request("POST", "/api/revoke", #"{"user":"u"}"#).status == 403)
    #expect(demo.request("POST", "/api/tokens", #"{"user":"u"}"#).status == 403)
  }

  @Test("an operator's key alone reads and writes nothing")
  func operatorsRights() {
    #expect(rig.request("GET", "/api/notes/n1/text", token: "pk_operator").status == 403)
    #expect(rig.request("DELETE", "/api/notes/n1", token: "pk_operator").status == 403)
  }

  @Test("a revocation that cannot be stored is refused")
  func unwritable() throws {
    let (id, _) = try rig.connectNative("writer")
    rig.revocations.isBroken = true
    #expect(revoke(#"{"user":"u"}"#).status == 503)
    #expect(rig.closeCodes[id] == nil)
  }

  @Test(
    "a revocation must name exactly one thing",
    arguments: [
      "", "[]", "{}", #"{"user":1}"#, #"{"user":"a","token":"b"}"#, #"{"user":""}"#,
      #"{"token":""}"#,
    ])
  func badRevocation(body: String) {
    #expect(revoke(body).status == 400)
  }

  // MARK: Tokens for others

  @Test("an operator can make a token that is valid for one room only")
  func roomToken() throws {
    let (status, body) = rig.request(
      "POST", "/api/tokens", token: "pk_operator",
      #"{"user":"u","rooms":["r7=read"],"documents":["n2=read,write"],"expiresIn":60}"#)
    #expect(status == 201)
    #expect(body.contains(#""token":"own0""#))
    let (id, _) = try rig.connectNative("bare")
    #expect(code(rig.ask(id, .subscribe(.init(room: "r7")))) == .notAllowed)
    rig.ask(id, .grant(.init(token: "own0")))
    #expect(code(rig.ask(id, .subscribe(.init(room: "r7")))) == nil)
    #expect(code(rig.ask(id, .subscribe(.init(room: "r8")))) == .notAllowed)
    #expect(join(id, "n2") == .write)
    #expect(join(id, "n1") == nil)
    // Another user cannot use the token.
    book("bea", [], user: "bea")
    let (bea, _) = try rig.connectNative("bea")
    #expect(code(rig.ask(bea, .grant(.init(token: "own0")))) == .unauthorised)
    rig.pass(milliseconds: 60_000)
    #expect(rig.pushes(id).contains(.unsubscribed(.init(room: "r7"))))
  }

  @Test(
    "a token must have a user, an expiry and known verbs, and cannot be a link's",
    arguments: [
      "{}", #"{"user":""}"#, #"{"user":"share/n1"}"#, #"{"user":"u","expiresIn":0}"#,
      #"{"user":"u","expiresIn":99999999}"#, #"{"user":"u","rooms":["r=shout"]}"#,
      #"{"user":"u","rooms":["r"]}"#,
    ])
  func badTokens(body: String) {
    #expect(rig.request("POST", "/api/tokens", token: "pk_operator", body).status == 400)
  }

  // MARK: Links

  private func share(_ note: String, _ body: String, by token: String = "manager") -> (
    status: Int, body: String
  ) {
    rig.request("POST", "/api/notes/\(note)/share", token: token, body)
  }

  @Test("a link opens only its note, with its right", arguments: ["read", "write"])
  func link(access: String) throws {
    let (status, body) = share("n1", #"{"access":"\#(access)","expiresIn":60}"#)
    #expect(status == 201)
    #expect(body.contains(#""path":"/s/key of l."#))
    #expect(body.contains(#""isProtected":true"#))
    let (id, _) = try rig.connectNative("own0", name: "A guest")
    #expect(join(id)?.rawValue == access)
    #expect(code(rig.ask(id, insertion(1))) == (access == "read" ? .notAllowed : nil))
    #expect(join(id, "n2") == nil)
    #expect(code(rig.ask(id, .subscribe(.init(room: "r1")))) == .notAllowed)
    #expect(rig.request("GET", "/api/notes/n1/text", token: "own0").status == 200)
    #expect(rig.request("GET", "/api/notes/n2/text", token: "own0").status == 403)
    #expect(rig.request("PATCH", "/api/notes/n1", token: "own0", "{}").status == 403)
    // The link's token cannot create further links.
    #expect(share("n1", #"{"access":"read"}"#, by: "own0").status == 403)
    rig.pass(milliseconds: 60_000)
    #expect(rig.closeCodes[id] == CloseReason.tokenExpired.rawValue)
  }

  @Test("guests choose their names, and any number of guests can use a link")
  func guests() throws {
    _ = share("n1", #"{"access":"write"}"#)
    let (first, _) = try rig.connectNative("own0", name: "One")
    let (second, _) = try rig.connectNative("own0", name: "Two")
    _ = join(first)
    guard case .joined(let joined) = rig.ask(second, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.presence.map(\.name) == ["One (guest)"])
    rig.ask(first, .profile(.init(name: "Ada (guest)")))
    rig.ask(first, insertion(1))
    #expect(rig.store.log(of: "n1")?.map(\.author) == ["Ada (guest)"])
  }

  @Test(
    "a guest's name is cut between scalars to have room for its mark, and one over the limit is refused"
  )
  func longNames() throws {
    _ = share("n1", #"{"access":"write"}"#)
    let name = "a" + String(repeating: "é", count: 99)
    let (guest, _) = try rig.connectNative("own0", name: name)
    _ = join(guest)
    rig.ask(guest, insertion(1))
    let short = "a" + String(repeating: "é", count: 95) + " (guest)"
    #expect(rig.store.log(of: "n1")?.map(\.author) == [short])
    let body = #"{"revision":1,"operation":[1,"x"],"author":"\#(name)é"}"#
    #expect(rig.request("POST", "/api/notes/n1/changes", token: "own0", body).status == 413)
    #expect(rig.store.log(of: "n1")?.count == 1)
  }

  @Test("names from all sources are one line")
  func namesOfOneLine() throws {
    _ = share("n1", #"{"access":"write"}"#)
    let (guest, _) = try rig.connectNative("own0", name: "A\nb\u{1b}[31m\u{2028}")
    let (other, _) = try rig.connectNative("own0", name: "\u{85}\t")
    _ = join(guest)
    rig.ask(guest, insertion(1))
    guard case .joined(let joined) = rig.ask(other, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.presence.map(\.name) == ["A b [31m (guest)"])
    rig.ask(guest, .profile(.init(name: "Ada\r (guest)")))
    let put = rig.request("PUT", "/api/notes/n1/text?author=Bea%0D%0AX", token: "own0", "new")
    #expect(put.status == 200)
    #expect(
      rig.store.log(of: "n1")?.map(\.author) == ["A b [31m (guest)", "Bea  X (guest)"])
  }

  @Test("guests cannot block")
  func guestsBlocks() throws {
    _ = share("n1", #"{"access":"write"}"#)
    let (guest, _) = try rig.connectNative("own0", name: "One")
    guard
      case .error(let error) = rig.ask(
        guest, .block(.init(personID: "writer", isBlocked: true)))
    else {
      Issue.record("blocked")
      return
    }
    #expect(error.code == .notAllowed)
    #expect(rig.ask(guest, .blocks) == .blocks(.init(people: [])))
    // A client that adds a link to its own token does not become a guest.
    let (writer, _) = try rig.connectNative("writer")
    rig.ask(writer, .grant(.init(token: "own0")))
    #expect(
      rig.ask(writer, .block(.init(personID: "reader", isBlocked: true)))
        == .blocks(.init(people: ["reader"])))
  }

  @Test("a connected client can use a link, too")
  func linkBesideToken() throws {
    _ = share("n1", #"{"access":"read"}"#)
    let (id, _) = try rig.connectNative("bare")
    guard case .granted = rig.ask(id, .grant(.init(token: "own0"))) else {
      Issue.record("not granted")
      return
    }
    #expect(join(id) == .read)
  }

  @Test("a granted link expires", arguments: [true, false])
  func endOfGrantedLink(ticks: Bool) throws {
    _ = share("n1", #"{"access":"write","expiresIn":60}"#)
    let (id, _) = try rig.connectNative("bare")
    let (peer, _) = try rig.connectNative("writer")
    rig.ask(id, .grant(.init(token: "own0")))
    #expect(join(id) == .write)
    #expect(join(peer) == .write)
    #expect(code(rig.ask(id, insertion(1))) == nil)
    _ = rig.pushes(id)
    if ticks {
      rig.pass(milliseconds: 60_000)
      #expect(accessChanges(id) == [.none])
    } else {
      rig.clock.advance(milliseconds: 60_000)
    }
    #expect(code(rig.ask(id, insertion(2, revision: 1))) == .notJoined)
    #expect(join(id) == nil)
    _ = rig.pushes(id)
    rig.ask(peer, insertion(1, revision: 1))
    #expect(rig.pushes(id).isEmpty)
    #expect(rig.store.log(of: "n1")?.count == 2)
    #expect(rig.closeCodes[id] == nil)
  }

  @Test("a link does not open a later note with the same id")
  func linkOfFormerNote() throws {
    _ = share("n1", #"{"access":"write"}"#)
    let (early, _) = try rig.connectNative("own0", name: "A guest")
    #expect(join(early)?.rawValue == "write")
    rig.pass(milliseconds: 61_000)
    #expect(rig.request("DELETE", "/api/notes/n1", token: "manager").status == 204)
    _ = rig.store.perform([
      .create(
        id: "n1", epoch: "later", title: "Another", time: rig.clock.now, folder: FolderPath.none)
    ])
    for (method, path, body) in [("GET", "/text", ""), ("PUT", "/text", "x"), ("GET", "", "")] {
      #expect(rig.request(method, "/api/notes/n1\(path)", token: "own0", body).status == 403)
    }
    // An index that finds the note without checking links.
    let time = rig.clock.now
    let summary = NoteSummary(
      id: "n1", title: "Another", revision: 0, createdAt: time, updatedAt: time)
    rig.index = { search in
      switch search {
      case .find: .ids(["n1"], folders: [FolderPath.none])
      default:
        .hits([
          SearchHit(
            note: summary, titleMarks: [0..<7], place: SearchPassage(text: "", start: 0, marks: []))
        ])
      }
    }
    let (late, _) = try rig.connectNative("own0", name: "A guest")
    let (beside, _) = try rig.connectNative("bare")
    rig.ask(beside, .grant(.init(token: "own0")))
    for guest in [early, late, beside] {
      #expect(join(guest) == nil)
      #expect(!hearsOfComments(guest))
    }
    for list in ["notes", "notes?limit=9", "search?q=Another"] {
      let (status, body) = rig.request("GET", "/api/\(list)", token: "own0")
      #expect(status == 200 && !body.contains("Another"), "\(list) names the note: \(body)")
    }
    #expect(rig.request("GET", "/api/folders", token: "own0").body.contains(#""folders":[]"#))
    _ = share("n1", #"{"access":"read"}"#)
    #expect(rig.request("GET", "/api/folders", token: "own1").body.contains(#""notes":1"#))
    for list in ["notes", "notes?limit=9", "search?q=Another"] {
      #expect(rig.request("GET", "/api/\(list)", token: "own1").body.contains("Another"))
    }
    #expect(rig.request("GET", "/api/notes/n1/text", token: "own1").status == 200)
    let (new, _) = try rig.connectNative("own1", name: "A guest")
    #expect(!hearsOfComments(new), "the note's age is not known before it is joined")
    #expect(join(new) == .read)
    #expect(hearsOfComments(new))
  }

  private func hearsOfComments(_ id: UInt64) -> Bool {
    if case .subscribed = rig.ask(id, .subscribe(.init(room: "/note/n1"))) { true } else { false }
  }

  @Test("sharing a note whose id looks like a pattern shares only this note")
  func exactLink() throws {
    rig.book?.enter("all", user: "u", [Grant(.documents, NamePattern("*"), .all)])
    rig.make("star")
    #expect(share("star%2A", #"{"access":"read"}"#, by: "all").status == 201)
    let (id, _) = try rig.connectNative("own0")
    #expect(join(id, "star*") == .read)
    #expect(join(id, "star") == nil)
  }

  @Test("withdrawing all links of a note does not affect later links")
  func endLinks() throws {
    _ = share("n1", #"{"access":"read"}"#)
    _ = share("n2", #"{"access":"read"}"#)
    let (id, _) = try rig.connectNative("own0")
    let (other, _) = try rig.connectNative("own1")
    #expect(rig.request("DELETE", "/api/notes/n1/share", token: "writer").status == 403)
    #expect(rig.request("DELETE", "/api/notes/n1/share", token: "manager").status == 204)
    #expect(rig.closeCodes[id] == CloseReason.revoked.rawValue)
    #expect(rig.closeCodes[other] == nil)
    // The clock has not advanced since the links ended.
    _ = share("n1", #"{"access":"read"}"#)
    _ = try rig.connectNative("own2")
  }

  @Test("sharing needs the right to manage, and the right that is shared")
  func sharingRights() {
    #expect(share("n1", #"{"access":"read"}"#, by: "writer").status == 403)
    book("curator", [.read, .presence, .manage])
    #expect(share("n1", #"{"access":"read"}"#, by: "curator").status == 201)
    #expect(share("n1", #"{"access":"write"}"#, by: "curator").status == 403)
    #expect(share("none", #"{"access":"read"}"#).status == 404)
    #expect(rig.request("GET", "/api/notes/n1/share", token: "manager").status == 200)
    #expect(rig.request("GET", "/api/notes/n1/share", token: "writer").status == 403)
    #expect(rig.request("DELETE", "/api/notes/n1/share/l.x", token: "writer").status == 403)
    #expect(rig.request("DELETE", "/api/notes/n1/share/l.x", token: "manager").status == 404)
    #expect(rig.request("DELETE", "/api/notes/none/share", token: "manager").status == 404)
    #expect(rig.revocations.generation == 0)
  }

  @Test(
    "a link without a right or with an invalid time is refused",
    arguments: [
      "", "{}", #"{"access":"manage"}"#, #"{"access":"read","expiresIn":1}"#,
      #"{"access":"read","expiresIn":1e9}"#, #"{"access":"read","expiresIn":99999999}"#,
    ])
  func badLinks(body: String) {
    #expect(share("n1", body).status == 400)
  }

  @Test("in an open demo a link narrows what its visitor may, and says that it protects nothing")
  func demoLinks() throws {
    let demo = GatewayRig(isDemo: true)
    demo.make("n1", "n2")
    let (status, body) = demo.request("POST", "/api/notes/n1/share", #"{"access":"read"}"#)
    #expect(status == 201)
    #expect(body.contains(#""isProtected":false"#))
    let (id, _) = try demo.connectNative("own0")
    guard case .joined(let joined) = demo.ask(id, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.access == .read)
    #expect(code(demo.ask(id, .join(.init(documentID: "n2")))) == .notAllowed)
    // The connection cannot regain the full rights of the demo.
    #expect(code(demo.ask(id, .refresh(.init(token: "anything")))) == .unauthorised)
    #expect(demo.request("DELETE", "/api/notes/n1/share").status == 204)
    #expect(demo.closeCodes[id] == CloseReason.revoked.rawValue)
  }
}
