import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// The rights of each client. `Documentation/Authorisation.md` names these tests.
@Suite("Rights on every message")
struct AuthorisationTests {
  private let rig = GatewayRig()

  init() throws {
    rig.make("n1", "n2", "private")
    let notes = NamePattern("n*")
    book("writer", [Grant(.documents, notes, [.read, .write, .presence])])
    book("reader", [Grant(.documents, notes, [.read, .presence])])
    book("shy", [Grant(.documents, notes, [.read, .write])])
    book("manager", [Grant(.documents, NamePattern("*"), .all)])
    book("nobody", [])
    book("lobbyist", [Grant(.rooms, NamePattern("lobby"), [.read])])
  }

  private func book(_ user: String, _ grants: [Grant]) {
    rig.book?.enter(user, user: user, name: "The \(user)", grants)
  }

  private func code(_ message: ServerMessage?) -> ErrorCode? {
    switch message {
    case .error(let error): error.code
    case .refused(let refused): refused.code
    default: nil
    }
  }

  private func insertion(_ text: String, revision: Int = 0, sequence: Int = 1) -> ClientMessage {
    var operation = TextOperation()
    operation.insert(text)
    return .change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
        operation: operation))
  }

  // MARK: Tokens

  @Test("a hello needs a valid token", arguments: [nil, "", "forged", "x.y.z"])
  func badToken(token: String?) {
    let id = rig.connect()
    #expect(code(rig.ask(id, .hello(.init(name: "Eve", token: token)))) == .unauthorised)
    #expect(rig.closeCodes[id] == CloseReason.unauthorised.rawValue)
  }

  @Test("the first message must be a hello")
  func beforeHello() {
    let id = rig.connect(token: "writer")
    #expect(code(rig.ask(id, .join(.init(documentID: "n1")))) == .notAllowed)
  }

  @Test("the upgrade may contain the token")
  func upgradeToken() {
    let id = rig.connect(token: "reader")
    guard case .welcome(let welcome) = rig.ask(id, .hello(.init(name: "Rita"))) else {
      Issue.record("no welcome")
      return
    }
    #expect(!welcome.demo)
  }

  @Test("an upgrade is refused with 401 without a token, and with 403 with an invalid one")
  func upgrades() {
    let pool = ClientKind.whaler(pool: "lobby")
    #expect(rig.refusal(ofUpgrade: [:], as: pool) == 401)
    #expect(rig.refusal(ofUpgrade: ["authorization": ""], as: pool) == 401)
    #expect(rig.refusal(ofUpgrade: ["authorization": "forged"], as: pool) == 403)
    #expect(rig.refusal(ofUpgrade: ["authorization": "lobbyist"], as: pool) == nil)
    #expect(rig.refusal(ofUpgrade: ["authorization": "Bearer lobbyist"], as: pool) == nil)
    #expect(rig.refusal(ofUpgrade: ["authorization": "bearer lobbyist"], as: pool) == nil)
    #expect(
      rig.refusal(ofUpgrade: ["authorization": "lobbyist"], as: .whaler(pool: "cellar")) == 403)
    #expect(rig.refusal(ofUpgrade: [:], as: .native) == nil)
    #expect(rig.refusal(ofUpgrade: ["authorization": "forged"], as: .native) == 403)
  }

  @Test("a token in the URL counts only where it is allowed")
  func tokenInURL() {
    let pool = ClientKind.whaler(pool: nil)
    #expect(rig.refusal(ofUpgrade: [:], query: "token=writer", as: pool) == 401)
    let open = GatewayRig { $0.allowsTokenInURL = true }
    open.book?.enter("writer", user: "w")
    #expect(open.refusal(ofUpgrade: [:], query: "a=b&token=writer", as: pool) == nil)
    #expect(open.refusal(ofUpgrade: [:], query: "token=forged", as: pool) == 403)
    #expect(open.refusal(ofUpgrade: [:], query: "tokens=writer", as: pool) == 401)
  }

  // MARK: Who the client is

  @Test("the token's name wins over the client's")
  func names() throws {
    let (writer, _) = try rig.connectNative("writer", name: "The manager")
    rig.ask(writer, .join(.init(documentID: "n1")))
    let (reader, _) = try rig.connectNative("reader")
    guard case .joined(let joined) = rig.ask(reader, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.presence.map(\.name) == ["The writer"])
    rig.ask(writer, .profile(.init(name: "Root")))
    guard case .presence(let presence) = rig.pushes(reader).last else {
      Issue.record("no presence")
      return
    }
    #expect(presence.updated.map(\.name) == ["The writer"])
    rig.ask(writer, insertion("x"))
    #expect(rig.store.log(of: "n1")?.map(\.author) == ["The writer"])
  }

  @Test("a token without a name shows its user")
  func userAsName() throws {
    rig.book?.enter("plain", user: "u1", [Grant(.documents, NamePattern("n*"), .all)])
    let (id, _) = try rig.connectNative("plain", name: "The manager")
    rig.ask(id, .join(.init(documentID: "n1")))
    rig.ask(id, insertion("x"))
    #expect(rig.store.log(of: "n1")?.map(\.author) == ["u1"])
  }

  @Test("an edit over HTTP has the token's name, too")
  func authors() {
    let body = #"{"name":"v","revision":0,"author":"The manager"}"#
    #expect(
      rig.request("POST", "/api/notes/n1/versions", token: "writer", body).body
        .contains(#""author":"The writer""#))
  }

  @Test("another user cannot use a client's id")
  func clientIDs() throws {
    let (_, welcome) = try rig.connectNative("writer")
    let claim = ClientMessage.Hello.Claim(
      id: welcome.clientID, resumeToken: welcome.resumeToken)
    let (_, again) = try rig.connectNative("writer", client: claim)
    #expect(again.clientID == welcome.clientID)
    let id = rig.connect()
    let reply = rig.ask(id, .hello(.init(name: "Eve", client: claim, token: "reader")))
    #expect(code(reply) == .unauthorised)
  }

  // MARK: Documents

  @Test("joining needs read")
  func join() throws {
    let (nobody, _) = try rig.connectNative("nobody")
    #expect(code(rig.ask(nobody, .join(.init(documentID: "n1")))) == .notAllowed)
    // The client does not learn whether the document exists.
    #expect(code(rig.ask(nobody, .join(.init(documentID: "unheard of")))) == .notAllowed)
    let (writer, _) = try rig.connectNative("writer")
    #expect(code(rig.ask(writer, .join(.init(documentID: "private")))) == .notAllowed)
  }

  @Test("the reply to a join says whether writing is allowed", arguments: ["reader", "writer"])
  func access(user: String) throws {
    let (id, _) = try rig.connectNative(user)
    guard case .joined(let joined) = rig.ask(id, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.access == (user == "writer" ? .write : .read))
  }

  @Test("changing needs write")
  func change() throws {
    let (reader, _) = try rig.connectNative("reader")
    rig.ask(reader, .join(.init(documentID: "n1")))
    guard case .refused(let refused) = rig.ask(reader, insertion("x")) else {
      Issue.record("not refused")
      return
    }
    #expect(refused.code == .notAllowed)
    #expect(!refused.retryable)
    #expect(refused.sequence == 1)
    #expect(rig.store.log(of: "n1")?.isEmpty ?? false)
    let (writer, _) = try rig.connectNative("writer")
    rig.ask(writer, .join(.init(documentID: "n1")))
    guard case .acknowledged = rig.ask(writer, insertion("x")) else {
      Issue.record("not acknowledged")
      return
    }
  }

  @Test(
    "a right to all rooms includes the user's own room, but not those of other users",
    arguments: [("/user/ada", "/user/eve"), ("/me/ada", "/me/eve")])
  func ownRooms(anothers: String, own: String) {
    func identity(_ pattern: String, user: String = "eve") -> Identity {
      Identity(user: user, grants: [Grant(.rooms, NamePattern(pattern), .all)])
    }
    for pattern in ["*", "/*", "/u*", "/m*", String(anothers.prefix { $0 != "a" })] {
      guard !pattern.hasSuffix("/") else { continue }
      let verbs = identity(pattern).verbs(on: .room(RoomName(anothers)))
      #expect(verbs.isSubset(of: [.publish, .signal]), "\(pattern)")
    }
    #expect(identity("*").verbs(on: .room(RoomName(own))) == .all)
    #expect(identity("*").verbs(on: .room(RoomName(own + "/x"))) == [.publish, .signal])
    #expect(identity("*").verbs(on: .room("/users/ada")) == .all)
    let kind = String(anothers.dropLast("ada".count))
    for pattern in [anothers, kind + "*", kind + "a*"] {
      #expect(identity(pattern).verbs(on: .room(RoomName(anothers))) == .all, "\(pattern)")
    }
    #expect(identity("*", user: "key:backend").verbs(on: .room(RoomName(anothers))) == .all)
    #expect(Identity.demo.verbs(on: .room(RoomName(anothers))) == .all)
  }

  @Test("selections and presence need presence")
  func presence() throws {
    let (writer, _) = try rig.connectNative("writer")
    rig.ask(writer, .join(.init(documentID: "n1")))
    let (shy, _) = try rig.connectNative("shy")
    guard case .joined(let joined) = rig.ask(shy, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    // The client sees no other client, and no other client sees it.
    #expect(joined.presence.isEmpty)
    let select = ClientMessage.select(
      .init(documentID: "n1", revision: 0, selections: [Selection(anchor: 0, head: 0)]))
    #expect(code(rig.ask(shy, select)) == .notAllowed)
    rig.ask(shy, .profile(.init(name: "Here I am")))
    #expect(rig.pushes(writer).isEmpty)
    #expect(code(rig.ask(writer, select)) == nil)
    rig.ask(writer, .profile(.init(name: "Look")))
    rig.ask(writer, .leave(.init(documentID: "n1")))
    #expect(rig.pushes(shy).isEmpty)
    rig.ask(shy, .leave(.init(documentID: "n1")))
    #expect(rig.pushes(writer).isEmpty)
  }

  // MARK: Rooms

  @Test("subscribing needs read on the room")
  func subscribe() throws {
    let (id, _) = try rig.connectNative("lobbyist")
    #expect(code(rig.ask(id, .subscribe(.init(room: "cellar")))) == .notAllowed)
    guard case .subscribed = rig.ask(id, .subscribe(.init(room: "lobby"))) else {
      Issue.record("not subscribed")
      return
    }
    rig.publish("r", in: "cellar")
    #expect(rig.pushes(id).isEmpty)
    rig.publish("r", in: "lobby")
    #expect(rig.pushes(id).count == 1)
  }

  // MARK: Whaler

  @Test("a Whaler client has only the rights of its token")
  func whaler() {
    let reader = rig.connectWhaler(pool: "cellar", token: "reader")
    rig.publish("r", in: "cellar")
    #expect(rig.frames(reader).isEmpty)
    rig.say(
      reader, #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"n1"}}"#)
    #expect(rig.frames(reader).count == 1)
    // The change is not stored; the reply contains the current state.
    rig.say(
      reader,
      #"{"messageId":"2","type":"docChange","data":{"resourceId":"n1","rev":0,"n":[0],"s":["x"]}}"#)
    let frames = rig.frames(reader)
    #expect(frames.count == 1)
    #expect(frames.first?.contains("resourceConnectionConf") ?? false)
    #expect(rig.store.log(of: "n1")?.isEmpty ?? false)
    rig.say(
      reader, #"{"messageId":"3","type":"resourceConnection","data":{"resourceId":"private"}}"#)
    #expect(rig.closeCodes[reader] == CloseReason.unauthorised.rawValue)
    let late = rig.connectWhaler(pool: nil, token: "expired since")
    #expect(rig.closeCodes[late] == CloseReason.unauthorised.rawValue)
  }

  @Test("a Whaler client can create a document only with the right to manage")
  func whalerCreation() {
    let join = #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"n9"}}"#
    rig.say(rig.connectWhaler(pool: nil, token: "writer"), join)
    #expect(rig.store.log(of: "n9") == nil)
    rig.say(rig.connectWhaler(pool: nil, token: "manager"), join)
    #expect(rig.store.log(of: "n9") != nil)
  }

  // MARK: HTTP

  @Test(
    "each request about notes needs its right",
    arguments: [
      ("GET", "/api/notes/n1", "", 403, 200, 200),
      ("GET", "/api/notes/n1/text", "", 403, 200, 200),
      ("PUT", "/api/notes/n1/text", "text", 403, 403, 200),
      ("POST", "/api/notes/n1/changes", #"{"revision":0,"operation":["x"]}"#, 403, 403, 200),
      ("GET", "/api/notes/n1/history", "", 403, 200, 200),
      ("GET", "/api/notes/n1/sessions", "", 403, 200, 200),
      ("GET", "/api/notes/n1/diff?from=0&to=0", "", 403, 200, 200),
      ("GET", "/api/notes/n1/versions", "", 403, 200, 200),
      ("POST", "/api/notes/n1/versions", #"{"name":"v","revision":0}"#, 403, 403, 201),
      ("DELETE", "/api/notes/n1/versions/0", "", 403, 403, 204),
      ("POST", "/api/notes/n1/restore", #"{"revision":0}"#, 403, 403, 200),
      ("PATCH", "/api/notes/n1", #"{"title":"t"}"#, 403, 403, 403),
      ("DELETE", "/api/notes/n1", "", 403, 403, 403),
      ("POST", "/api/notes", #"{"title":"t"}"#, 403, 403, 403),
    ])
  func http(
    method: String, path: String, body: String, nobody: Int, reader: Int, writer: Int
  ) {
    #expect(rig.request(method, path, body).status == 401)
    #expect(rig.request(method, path, token: "forged", body).status == 401)
    #expect(rig.request(method, path, token: "nobody", body).status == nobody)
    #expect(rig.request(method, path, token: "reader", body).status == reader)
    #expect(rig.request(method, path, token: "writer", body).status == writer)
    let managed = rig.request(method, path, token: "manager", body).status
    #expect((200..<300).contains(managed))
  }

  @Test("the list contains only readable notes")
  func list() {
    #expect(rig.request("GET", "/api/notes").status == 401)
    #expect(!rig.request("GET", "/api/notes", token: "nobody").body.contains("n1"))
    let listed = rig.request("GET", "/api/notes", token: "reader").body
    #expect(listed.contains("n1") && listed.contains("n2") && !listed.contains("private"))
    #expect(rig.request("GET", "/api/notes", token: "manager").body.contains("private"))
  }

  @Test(
    "the list states the reader's rights to each note",
    arguments: [
      ("reader", #""may":["read","presence"]"#, false),
      ("writer", #""may":["read","write","presence","comment"]"#, false),
      ("manager", #""may":["read","write","presence","manage","comment"]"#, true),
    ])
  func listedRights(token: String, rights: String, mayCreate: Bool) {
    let listed = rig.request("GET", "/api/notes", token: token).body
    #expect(listed.contains(rights), "\(listed)")
    #expect(listed.hasSuffix(#","mayCreate":\#(mayCreate)}"#))
  }

  @Test("without keys and without demo mode no client may do anything")
  func closed() {
    let rig = GatewayRig(isDemo: true) { $0.isDemo = false }
    let id = rig.connect()
    #expect(code(rig.ask(id, .hello(.init(name: "x", token: "x")))) == .unauthorised)
    #expect(rig.request("GET", "/api/notes", token: "x").status == 401)
    #expect(rig.refusal(ofUpgrade: ["authorization": "x"], as: .whaler(pool: nil)) == 403)
  }

  @Test("in demo mode tokens of other servers do not matter")
  func demo() throws {
    let rig = GatewayRig(isDemo: true)
    rig.make("n1")
    let (id, welcome) = try rig.connectNative(nil, name: "Anybody")
    #expect(welcome.demo)
    guard case .joined(let joined) = rig.ask(id, .join(.init(documentID: "n1"))) else {
      Issue.record("not joined")
      return
    }
    #expect(joined.access == .write)
    #expect(rig.refusal(ofUpgrade: ["authorization": "old"], as: .whaler(pool: "p")) == nil)
    #expect(rig.request("GET", "/api/notes", token: "old").status == 200)
  }
}
