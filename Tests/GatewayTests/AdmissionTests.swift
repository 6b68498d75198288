import Gateway
import ParleyGatewayPorts
import ParleyModel
import SocketMessages
import Testing

/// The size limits for a client before and after it has presented a token.
@Suite("Admission to long messages and bodies")
struct AdmissionTests {
  private static let address = IPAddress("192.0.2.7")
  private static let atAddress = Holder(address: address)
  private static let ada = Holder(.user("ada"))
  private static let all = [
    Grant(.documents, NamePattern("*"), .all), Grant(.rooms, NamePattern("/group/*"), .all),
  ]

  private let rig = GatewayRig()

  init() {
    rig.make("n1")
    _ = rig.token("ada", Self.all)
    _ = rig.token("reader", [Grant(.documents, NamePattern("*"), .read)])
  }

  // MARK: WebSockets

  @Test("a native client is admitted as its user when its hello is accepted")
  func native() throws {
    let id = rig.connect(from: Self.address)
    #expect(rig.admitted[id] == nil)
    _ = rig.ask(id, .hello(.init(name: "A", token: "nobody")))
    #expect(rig.admitted[id] == nil)
    let (other, _) = try rig.connectNative("ada", from: Self.address)
    #expect(rig.admitted[other] == Self.ada)
  }

  @Test("a token at the upgrade admits at once")
  func upgrades() {
    let native = rig.connect(token: "ada")
    let whaler = rig.connectWhaler(pool: nil, token: "ada")
    #expect(rig.admitted[native] == Self.ada)
    #expect(rig.admitted[whaler] == Self.ada)
  }

  @Test("without tokens, each connection is admitted as its address")
  func demo() {
    let demo = GatewayRig(isDemo: true)
    let openings: [ClientKind] = [
      .native, .whaler(pool: nil), .bayeux(address: "a"),
      .socketIO(query: "EIO=4&transport=websocket", address: "a"),
    ]
    for opening in openings {
      let id = demo.connect(as: opening, from: Self.address)
      #expect(demo.admitted[id] == Self.atAddress, "\(opening)")
    }
  }

  @Test("Socket.IO admits by authenticate")
  func socketIO() {
    let id = rig.connect(
      as: .socketIO(query: "EIO=3&transport=websocket", address: "a"), from: Self.address)
    rig.say(id, #"42["authenticate",{"token":"nobody"}]"#)
    #expect(rig.admitted[id] == nil)
    let other = rig.connect(
      as: .socketIO(query: "EIO=3&transport=websocket", address: "a"), from: Self.address)
    rig.say(other, #"42["authenticate",{"token":"ada"}]"#)
    #expect(rig.admitted[other] == Self.ada)
  }

  @Test(
    "Bayeux admits with the first valid token, in a handshake, subscription or event",
    arguments: [
      #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"],"#
        + #""ext":{"access_token":"TOKEN"}}"#,
      #"{"channel":"/group/9","data":1,"ext":{"access_token":"TOKEN"}}"#,
    ])
  func bayeux(message: String) {
    for (token, holder) in [("nobody", nil), ("ada", Self.ada)] as [(String, Holder?)] {
      let id = rig.connect(as: .bayeux(address: "a"), from: Self.address)
      rig.say(id, message.replacing("TOKEN", with: token))
      #expect(rig.admitted[id] == holder)
    }
  }

  @Test("refusing a long message before a token mentions the token")
  func words() throws {
    let id = rig.connect()
    rig.send(id, oversizedBeyond: 16_384)
    guard case .error(let early)? = rig.pushes(id).first else {
      Issue.record("no error came")
      return
    }
    #expect(early.code == .tooLarge && early.message.contains("token"))
    #expect(rig.closeCodes[id] == CloseReason.messageTooLarge.rawValue)
    let (known, _) = try rig.connectNative("ada")
    rig.send(known, oversizedBeyond: 4 << 20)
    guard case .error(let late)? = rig.pushes(known).first else {
      Issue.record("no error came")
      return
    }
    #expect(late.code == .tooLarge && !late.message.contains("token"))
  }

  @Test("a client over its share of memory receives a time to retry, and may reconnect")
  func crowded() throws {
    let (id, _) = try rig.connectNative("ada")
    rig.crowd(id)
    let pushes = rig.pushes(id)
    guard case .error(let error)? = pushes.first, case .goodbye(let goodbye)? = pushes.last else {
      Issue.record("came \(pushes)")
      return
    }
    #expect(error.code == .busy && error.retryable && error.retryAfter != nil)
    // Each client draws its own delay from the range.
    #expect(goodbye.reconnectAfter.lowerBound < goodbye.reconnectAfter.upperBound)
    #expect(rig.closeCodes[id] == CloseReason.tooFast.rawValue)
    let others = [
      rig.connectWhaler(pool: nil, token: "ada"), rig.connect(as: .bayeux(address: "a")),
      rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a")),
    ]
    for other in others {
      rig.crowd(other)
      #expect(rig.closeCodes[other] == CloseReason.tooFast.rawValue)
    }
  }

  // MARK: Bodies

  /// Returns the status with which a long body is rejected; 0 if the body is accepted.
  private func status(
    _ method: String, _ path: String, _ headers: [String: String] = [:], count: Int? = 100_000,
    _ rig: GatewayRig? = nil
  ) -> Int {
    let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
    var head = RequestHead(
      method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "", headers: headers,
      remoteAddress: "192.0.2.7")
    head.limitedAddress = Self.address
    switch (rig ?? self.rig).decision(onBody: count, of: head) {
    case .take: return 0
    case .refuse(let response): return response.status
    case .tooLong: return 413
    }
  }

  @Test("a long body is refused before it is read unless a token allows the request")
  func bodies() {
    let ada = ["authorization": "Bearer ada"]
    let reader = ["authorization": "Bearer reader"]
    for (method, path) in [
      ("PUT", "/api/notes/n1/text"), ("POST", "/api/notes/n1/changes"), ("POST", "/api/notes"),
      ("POST", "/api/notes/n1/files"), ("POST", "/api/publish"), ("POST", "/private/pusher"),
      ("POST", "/v3/groups/9/messages"),
    ] {
      #expect(status(method, path) == 401, "\(path)")
      #expect(status(method, path, ["authorization": "Bearer nobody"]) == 401, "\(path)")
      #expect(status(method, path, ada) == 0, "\(path)")
      #expect(status(method, path, ada, count: nil) == 0, "\(path)")
    }
    #expect(status("PUT", "/api/notes/n1/text", reader) == 403)
    #expect(status("PUT", "/api/rooms/other/members", reader) == 403)
    #expect(status("POST", "/api/tokens", ada) == 403)
    #expect(status("PUT", "/api/notes/n1/text", ada, count: 5 << 20) == 413)
    // An unknown path, a request that takes no body, a wrong method, a wrong type, short bodies.
    #expect(status("POST", "/index.html") == 404)
    #expect(status("DELETE", "/api/notes/n1", ada) == 413)
    #expect(status("PATCH", "/api/notes/n1/text", ada) == 405)
    let image = ada.merging(["content-type": "image/png"]) { $1 }
    #expect(status("POST", "/api/notes", image) == 415)
    #expect(status("POST", "/api/user/login") == 413)
    #expect(status("POST", "/api/links/open") == 413)
    let demo = GatewayRig(isDemo: true)
    #expect(status("PUT", "/api/notes/n1/text", [:], demo) == 0)
    #expect(status("POST", "/faye", [:], demo) == 0)
  }

  @Test("long bodies of polls require a token")
  func dialects() {
    #expect(status("POST", "/faye") == 413)
    let id = rig.connect(as: .bayeux(address: "192.0.2.7"))
    rig.say(
      id,
      #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"],"#
        + #""ext":{"access_token":"ada"}}"#)
    #expect(status("POST", "/faye") == 0)
    let client = String(
      rig.frames(id).joined().split(separator: #""clientId":""#)[1].prefix { $0 != "\"" })
    rig.say(id, #"{"channel":"/meta/disconnect","clientId":"\#(client)"}"#)
    #expect(status("POST", "/faye") == 413)
    #expect(status("POST", "/socket?EIO=3&transport=polling&sid=none") == 400)
    let poll = rig.begin(
      "GET", "/socket?EIO=3&transport=polling", headers: [:], from: "192.0.2.7")
    let sid = (rig.answer(poll)?.body.split(separator: #""sid":""#))
      .map { String($0[1].prefix { $0 != "\"" }) }
    let path = "/socket?EIO=3&transport=polling&sid=\(sid ?? "")"
    #expect(status("POST", path) == 413)
    let text = #"42["authenticate",{"token":"ada"}]"#
    _ = rig.begin("POST", path, headers: [:], from: "192.0.2.7", "\(text.utf8.count):\(text)")
    #expect(status("POST", path) == 0)
  }

  @Test("the response to a request counts against its user, or against a guest and the address")
  func responses() {
    func holder(_ token: String) -> Holder? {
      let id = rig.begin(
        "GET", "/api/notes/n1/text", headers: ["authorization": "Bearer \(token)"],
        from: "192.0.2.7")
      return rig.holders[id]
    }
    #expect(holder("ada") == Self.ada)
    #expect(holder("nobody") == nil)
    var guest = Identity(user: "share/s1", tokenID: "s1", grants: Self.all)
    guest.isGuest = true
    #expect(
      holder(rig.ownTokens.token(for: guest)) == Holder(.guest(link: "share/s1", Self.address)))
  }
}
