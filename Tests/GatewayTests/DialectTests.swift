import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Socket.IO and Bayeux in the gateway")
struct DialectTests {
  private static let resource =
    #"{"publications":[{"room":"r","data":{"action":"saved","type":"channel","resource":{}}}]}"#

  /// Returns a connection whose Socket.IO session has joined the room `r`.
  private func join(_ rig: GatewayRig) -> UInt64 {
    let id = rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a"))
    rig.say(id, "40")
    rig.say(id, #"42["authenticate",{"token":"t"}]"#)
    rig.say(id, #"42["realtime:join",{"name":"r"}]"#)
    return id
  }

  @Test("a message for many over WebSockets is encoded once, as for native clients")
  func fanOut() {
    let rig = GatewayRig(isDemo: true)
    let ids = (0..<50).map { _ in join(rig) }
    for id in ids { _ = rig.frames(id) }
    rig.frameAddresses = []
    #expect(rig.request("POST", "/api/publish", Self.resource).status == 200)
    #expect(rig.frameAddresses.count == 50)
    #expect(Set(rig.frameAddresses).count == 1)
    for id in ids {
      #expect(
        rig.frames(id) == [
          #"42["realtime:resource",{"action":"saved","type":"channel","resource":{},"#
            + #""room":"r","path":null}]"#
        ])
    }
  }

  @Test("a session is bound to the address of its handshake")
  func addresses() {
    let rig = GatewayRig(isDemo: true)
    let query = "EIO=4&transport=polling"
    let opening = rig.request("GET", "/socket/?\(query)", from: "a").body
    let sid = opening.split(separator: "\"")[3]
    #expect(rig.request("GET", "/socket/?\(query)&sid=\(sid)", from: "b").status == 400)
    #expect(rig.request("POST", "/socket/?\(query)&sid=\(sid)", from: "b", "40").status == 400)
    #expect(rig.request("POST", "/socket/?\(query)&sid=\(sid)", from: "a", "40").body == "ok")
    let upgrade = "EIO=4&transport=websocket&sid=\(sid)"
    #expect(rig.refusal(ofUpgrade: [:], as: .socketIO(query: upgrade, address: "b")) == 400)
    #expect(rig.refusal(ofUpgrade: [:], as: .socketIO(query: upgrade, address: "a")) == nil)
    // The session cannot continue in another protocol version.
    #expect(
      rig.request("GET", "/socket/?EIO=3&transport=polling&sid=\(sid)", from: "a").status == 400)
  }

  @Test("the session of a client that stops polling is removed")
  func forgotten() {
    let rig = GatewayRig(isDemo: true)
    let query = "EIO=4&transport=polling"
    let opening = rig.request("GET", "/socket/?\(query)", from: "a").body
    let sid = opening.split(separator: "\"")[3]
    let path = "/socket/?\(query)&sid=\(sid)"
    let said = [
      "40", #"42["authenticate",{"token":"t"}]"#, #"42["realtime:join",{"name":"r"}]"#,
    ].joined(separator: "\u{1e}")
    #expect(rig.request("POST", path, from: "a", said).body == "ok")
    for _ in 0..<10 { _ = rig.request("POST", "/api/publish", Self.resource) }
    rig.pass(milliseconds: 25_000)
    rig.pass(milliseconds: 20_000)
    #expect(rig.request("GET", path, from: "a").status == 400)
    // Publishing still succeeds after the room's only reader has gone.
    #expect(rig.request("POST", "/api/publish", Self.resource).status == 200)
  }

  @Test("a client that polls too slowly is closed, and the others continue")
  func slow() {
    let rig = GatewayRig(isDemo: true)
    let query = "EIO=3&transport=polling"
    let opening = rig.request("GET", "/socket/?\(query)", from: "a").body
    let sid = opening.split(separator: "\"")[3]
    let path = "/socket/?\(query)&sid=\(sid)"
    for said in [#"42["authenticate",{"token":"t"}]"#, #"42["realtime:join",{"name":"r"}]"#] {
      #expect(rig.request("POST", path, from: "a", "\(said.utf8.count):\(said)").body == "ok")
    }
    let listener = join(rig)
    let long = String(repeating: "x", count: 60_000)
    for _ in 0..<20 {
      let body = #"{"publications":[{"room":"r","data":"\#(long)"}]}"#
      #expect(rig.request("POST", "/api/publish", body).status == 200)
    }
    #expect(rig.request("GET", path, from: "a").status == 400)
    #expect(rig.frames(listener).count >= 20)
  }

  @Test("a typing event of Bayeux contains nothing else, and needs the right to presence")
  func bayeuxTyping() throws {
    let rig = GatewayRig()
    func session(_ user: String, _ verbs: Verbs) throws -> (UInt64, String) {
      let token = rig.token(user, [Grant(.rooms, NamePattern("/group/*"), verbs)])
      let id = rig.connect(as: .bayeux(address: "a"))
      rig.say(
        id,
        #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#)
      let shake = try #require(rig.frames(id).first)
      let client = try #require(
        shake.split(separator: #""clientId":""#).last?.split(separator: "\"").first)
      rig.say(
        id,
        #"{"channel":"/meta/connect","clientId":"\#(client)","connectionType":"websocket"}"#)
      rig.say(
        id,
        #"{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"/group/9","#
          + #""ext":{"access_token":"\#(token)"}}"#)
      _ = rig.frames(id)
      return (id, String(client))
    }
    let (ann, annID) = try session("ann", [.read, .presence])
    let (eve, eveID) = try session("eve", .read)
    func type(_ id: UInt64, _ client: String) {
      rig.say(
        id,
        #"{"channel":"/group/9","clientId":"\#(client)","data":{"type":"typing","started":5,"#
          + #""user_id":"root","subject":{"text":"buy this"}}}"#)
    }
    type(ann, annID)
    let heard = try #require(rig.frames(eve).first)
    #expect(heard.contains(#""data":{"type":"typing","started":5,"user_id":"ann"}"#))
    _ = rig.frames(ann)
    type(eve, eveID)
    #expect(rig.frames(ann) == [])
    #expect(rig.frames(eve).first?.contains("403") ?? false)
  }

  @Test("an expired or revoked token ends the session; a room's token opens one room")
  func tokens() {
    let rig = GatewayRig()
    let id = rig.connect(as: .socketIO(query: "EIO=3&transport=websocket", address: "a"))
    rig.book?.enter("ada", user: "ada")
    rig.say(id, #"42["authenticate",{"token":"ada"}]"#)
    rig.say(id, #"42["realtime:join",{"name":"r","token":"room r for ada"}]"#)
    rig.say(id, #"42["realtime:join",{"name":"s","token":"room r for ada"}]"#)
    let heard = rig.frames(id)
    #expect(heard.contains(#"42["realtime:join:success",{"name":"r"}]"#))
    #expect(heard.contains { $0.contains("realtime:join:error") && $0.contains(#""s""#) })
    rig.book?.enter("ada", user: "ada", expiresAt: rig.clock.now + 1_000)
    rig.say(id, #"42["authenticate",{"token":"ada"}]"#)
    rig.pass(milliseconds: 2_000)
    #expect(rig.closeCodes[id] == 1000)
  }

  @Test("a session leaves rooms that its user may no longer read, except those of room tokens")
  func rights() {
    let rig = GatewayRig()
    let id = rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a"))
    rig.book?.enter("old", user: "ada", [Grant(.rooms, NamePattern("*"), .all)])
    rig.book?.enter("new", user: "ada", [Grant(.rooms, NamePattern("s"), .all)])
    rig.book?.enter("none", user: "ada")
    rig.say(id, "40")
    rig.say(id, #"42["authenticate",{"token":"none"}]"#)
    rig.say(id, #"42["realtime:join",{"name":"t","token":"room t for ada"}]"#)
    rig.say(id, #"42["authenticate",{"token":"old"}]"#)
    for room in ["r", "s"] { rig.say(id, #"42["realtime:join",{"name":"\#(room)"}]"#) }
    _ = rig.frames(id)
    rig.say(id, #"42["authenticate",{"token":"new"}]"#)
    #expect(
      rig.frames(id) == [
        #"42["realtime:join:error",{"name":"r","#
          + #""message":"User is not authorized to join room"}]"#,
        #"42["authenticated"]"#,
      ])
    for room in ["r", "s", "t"] {
      let body = #"{"publications":[{"room":"\#(room)","data":1}]}"#
      #expect(rig.request("POST", "/api/publish", token: "pk_publisher", body).status == 200)
    }
    #expect(
      rig.frames(id) == [
        #"42["realtime:event",{"name":"s","data":1}]"#,
        #"42["realtime:event",{"name":"t","data":1}]"#,
      ])
  }

  @Test("events of a blocked person are not delivered, including typing")
  func blocked() throws {
    let rig = GatewayRig()
    for user in ["ada", "bob", "cid"] {
      rig.book?.enter(user, user: user, [Grant(.rooms, NamePattern("*"), .all)])
    }
    let (ada, _) = try rig.connectNative("ada")
    _ = try rig.connectNative("bob")
    rig.ask(ada, .block(.init(personID: "bob", isBlocked: true)))
    func enter(_ user: String) -> UInt64 {
      let id = rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a"))
      rig.say(id, #"40{"token":"\#(user)"}"#)
      rig.say(id, #"42["realtime:join",{"name":"r"}]"#)
      _ = rig.frames(id)
      return id
    }
    let (reader, writer, other) = (enter("ada"), enter("bob"), enter("cid"))
    for data in [#"{"type":"writing","event":{"user_id":"bob","is_writing":true}}"#, "1"] {
      rig.say(writer, #"42["realtime:event",{"name":"r","data":\#(data)}]"#)
    }
    #expect(rig.frames(reader).isEmpty)
    #expect(rig.frames(other).count == 2)
  }

  @Test("B3: with the defaults, a client that does not authenticate within 15 s is disconnected")
  func silence() {
    let rig = GatewayRig()
    let id = rig.connect(as: .socketIO(query: "EIO=3&transport=websocket", address: "a"))
    _ = rig.frames(id)
    rig.pass(milliseconds: 14_999)
    #expect(rig.frames(id).isEmpty && rig.closeCodes[id] == nil)
    rig.pass(milliseconds: 1)
    #expect(rig.frames(id).first?.hasPrefix(#"42["unauthorized",{"#) ?? false)
    #expect(rig.closeCodes[id] == 1000)
  }

  @Test("rooms with only native clients store and send nothing for other dialects")
  func natives() throws {
    let rig = GatewayRig(isDemo: true)
    let (native, _) = try rig.connectNative(nil)
    rig.ask(native, .subscribe(.init(room: "native")))
    for _ in 0..<20 { _ = join(rig) }
    rig.frameAddresses = []
    let body = #"{"publications":[{"room":"native","data":1}]}"#
    #expect(rig.request("POST", "/api/publish", body).status == 200)
    #expect(rig.frameAddresses.count == 1)
  }
}
