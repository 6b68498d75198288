import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Sessions of Bayeux in the gateway")
struct BayeuxTests {
  /// Performs the handshake and connects over a WebSocket.
  private func begin(_ rig: GatewayRig, from address: String = "a") -> (id: UInt64, client: String)
  {
    let id = rig.connect(as: .bayeux(address: address))
    rig.say(
      id,
      #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#)
    let client = Self.clientID(in: rig.frames(id).joined())
    connect(rig, id, client)
    return (id, client)
  }

  private static func clientID(in text: String) -> String {
    text.firstRange(of: #""clientId":""#).map {
      String(text[$0.upperBound...].prefix { $0 != "\"" })
    }
      ?? ""
  }

  private func connect(_ rig: GatewayRig, _ id: UInt64, _ client: String) {
    rig.say(
      id,
      #"{"channel":"/meta/connect","clientId":"\#(client)","connectionType":"websocket","id":"c"}"#)
  }

  private func subscribe(
    _ rig: GatewayRig, _ id: UInt64, _ client: String, to channel: String, token: String
  ) -> Bool {
    rig.say(
      id,
      #"{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"\#(channel)","#
        + #""ext":{"access_token":"\#(token)"}}"#)
    return rig.frames(id).joined().contains(#""successful":true"#)
  }

  private func publish(in room: String, _ rig: GatewayRig) {
    let body = #"{"publications":[{"room":"\#(room)","data":1}]}"#
    #expect(rig.request("POST", "/api/publish", token: "pk_publisher", body).status == 200)
  }

  /// Returns the number of times that a text occurs in the sent frames.
  private func count(_ text: String, in frames: [String]) -> Int {
    frames.joined().ranges(of: text).count
  }

  @Test("C3: with the defaults, an idle client connects at most three times in 60 s")
  func idle() {
    let rig = GatewayRig(isDemo: true)
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/9", token: "t"))
    var rounds = 1
    for _ in 0..<240 {
      rig.pass(milliseconds: 250)
      if count("/meta/connect", in: rig.frames(id)) > 0 {
        rounds += 1
        connect(rig, id, client)
      }
    }
    #expect(rounds <= 3)
    // The session still receives publications.
    publish(in: "/group/9", rig)
    #expect(count(#""data":1"#, in: rig.frames(id)) == 1)
  }

  @Test("a subscription ends when its token expires, and the others continue")
  func severalTokens() {
    let rig = GatewayRig()
    let all = [Grant(.rooms, NamePattern("/group/*"), .all)]
    rig.book?.enter("brief", user: "ada", expiresAt: rig.clock.now + 10_000, all)
    rig.book?.enter("long", user: "ada", expiresAt: rig.clock.now + 20_000, all)
    let (id, client) = begin(rig)
    // The newer token ends earlier; the older subscription does not end with it.
    #expect(subscribe(rig, id, client, to: "/group/1", token: "long"))
    #expect(subscribe(rig, id, client, to: "/group/2", token: "brief"))
    #expect(subscribe(rig, id, client, to: "/group/3", token: "brief"))
    #expect(subscribe(rig, id, client, to: "/group/3", token: "long"), "renewed")
    rig.pass(milliseconds: 10_000)
    #expect(
      rig.frames(id) == [
        #"[{"channel":"/meta/subscribe","successful":false,"clientId":"\#(client)","#
          + #""error":"403:/group/2:Forbidden channel","subscription":"/group/2"}]"#
      ])
    for group in 1...3 { publish(in: "/group/\(group)", rig) }
    let heard = rig.frames(id)
    #expect(count("/group/1", in: heard) == 1 && count("/group/3", in: heard) == 1)
    #expect(count("/group/2", in: heard) == 0)
    // With the last subscription the session ends: the client shakes hands again, with newer tokens.
    rig.pass(milliseconds: 10_000)
    _ = rig.frames(id)
    connect(rig, id, client)
    let reply = rig.frames(id).joined()
    #expect(reply.contains("401:\(client):Unknown client"))
    #expect(reply.contains(#""advice":{"reconnect":"handshake""#))
  }

  @Test("a session counts towards its first user again after another user's token has expired")
  func counted() {
    let rig = GatewayRig { $0.limits.userConnectionsMax = 1 }
    let all = [Grant(.rooms, NamePattern("/group/*"), .all)]
    rig.book?.enter("ada", user: "ada", all)
    rig.book?.enter("brief", user: "ben", expiresAt: rig.clock.now + 10_000, all)
    rig.book?.enter("ben", user: "ben", all)
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/1", token: "ada"))
    #expect(subscribe(rig, id, client, to: "/group/2", token: "brief"))
    rig.pass(milliseconds: 10_000)
    #expect(count("403:/group/2:Forbidden channel", in: rig.frames(id)) == 1)
    for (token, mayCome) in [("ada", false), ("ben", true)] {
      let (id, client) = begin(rig)
      #expect(subscribe(rig, id, client, to: "/group/1", token: token) == mayCome, "\(token)")
    }
  }

  @Test(
    "refreshing rights ends the subscriptions whose token is not renewed")
  func refreshedRights() {
    let rig = GatewayRig()
    rig.book?.enter("ada", user: "ada", [Grant(.rooms, NamePattern("/group/*"), .all)])
    let (id, client) = begin(rig)
    for group in ["/group/1", "/group/2"] {
      #expect(subscribe(rig, id, client, to: group, token: "ada"))
    }
    let answer = rig.request(
      "POST", "/api/users/ada/refresh-rights", token: "pk_operator", #"{"within":5}"#)
    #expect(answer.status == 200)
    rig.pass(milliseconds: 4_999)
    #expect(subscribe(rig, id, client, to: "/group/2", token: "ada"), "renewed")
    rig.pass(milliseconds: 1)
    #expect(count("403:/group/1:Forbidden channel", in: rig.frames(id)) == 1)
    publish(in: "/group/2", rig)
    #expect(count(#""data":1"#, in: rig.frames(id)) == 1)
  }

  @Test("revoking a token ends its subscriptions")
  func takenBack() throws {
    let rig = GatewayRig()
    let all = [Grant(.rooms, NamePattern("/group/*"), .all)]
    rig.book?.enter("one", user: "ada", tokenID: "1", all)
    rig.book?.enter("two", user: "ada", tokenID: "2", all)
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/1", token: "one"))
    #expect(subscribe(rig, id, client, to: "/**", token: "one") == false, "no such right")
    #expect(subscribe(rig, id, client, to: "/group/**", token: "two"))
    rig.revocations.add([.token("2")]) { #expect($0 == nil) }
    rig.pass(milliseconds: 1)
    #expect(count("403:/group/**:Forbidden channel", in: rig.frames(id)) == 1)
    for group in 1...2 { publish(in: "/group/\(group)", rig) }
    let heard = rig.frames(id)
    #expect(count("/group/1", in: heard) == 1 && count("/group/2", in: heard) == 0)
  }

  @Test("events of a blocked person are not delivered")
  func blocked() throws {
    let rig = GatewayRig()
    let all = [Grant(.rooms, NamePattern("*"), .all)]
    for user in ["ada", "bob"] { rig.book?.enter(user, user: user, all) }
    let (ada, _) = try rig.connectNative("ada")
    let (bob, _) = try rig.connectNative("bob")
    rig.ask(ada, .block(.init(personID: "bob", isBlocked: true)))
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/9", token: "ada"))
    rig.ask(bob, .publish(.init(room: "/group/9", data: JSONValue("bob's"))))
    publish(in: "/group/9", rig)
    let heard = rig.frames(id)
    #expect(count("bob's", in: heard) == 0 && count(#""data":1"#, in: heard) == 1)
  }

  @Test("a client id is valid only from the address of its handshake")
  func addresses() {
    let rig = GatewayRig(isDemo: true)
    let (_, client) = begin(rig)
    let other = rig.connect(as: .bayeux(address: "b"))
    for channel in ["/meta/connect", "/meta/subscribe", "/meta/disconnect", "/group/9"] {
      let message =
        #"{"channel":"\#(channel)","clientId":"\#(client)","connectionType":"websocket","#
        + #""subscription":"/group/9","data":1}"#
      rig.say(other, message)
      #expect(rig.frames(other).joined().contains("401:\(client):Unknown client"), "\(channel)")
      let answer = rig.request("POST", "/faye", from: "b", message)
      #expect(answer.body.contains("401:\(client):Unknown client"), "\(channel)")
    }
  }

  @Test("a client that stops polling is removed, and its slot can be used by another")
  func forgotten() {
    let rig = GatewayRig(isDemo: true) { $0.dialects.sessionsMax = 1 }
    let handshake =
      #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["long-polling"]}"#
    let client = Self.clientID(in: rig.request("POST", "/faye", from: "a", handshake).body)
    let subscribe =
      #"{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"/group/9"}"#
    #expect(rig.request("POST", "/faye", from: "a", subscribe).body.contains("true"))
    #expect(rig.request("POST", "/faye", from: "b", handshake).body.contains("500:handshake"))
    for _ in 0..<10 { publish(in: "/group/9", rig) }
    rig.pass(milliseconds: 59_999)
    #expect(rig.request("POST", "/faye", from: "b", handshake).body.contains("500:handshake"))
    rig.pass(milliseconds: 1)
    #expect(rig.request("POST", "/faye", from: "b", handshake).body.contains(#""clientId""#))
    let poll =
      #"{"channel":"/meta/connect","clientId":"\#(client)","connectionType":"long-polling"}"#
    #expect(rig.request("POST", "/faye", from: "a", poll).body.contains("Unknown client"))
  }

  @Test(
    "events of a group are published in parts, with a sentence for old apps")
  func systemEvents() {
    let rig = GatewayRig(isDemo: true)
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/9", token: "t"))
    let event =
      #"{"type":"group.name_change","data":{"user":{"id":"1","nickname":"Bo"},"name":"Us"}}"#
    let body =
      #"{"publications":[{"room":"/group/9","data":{"type":"line.create","#
      + #""subject":{"group_id":"9","event":\#(event)}}}]}"#
    #expect(rig.request("POST", "/api/publish", body).status == 200)
    let prose = "Bo changed the group's name to Us"
    let heard = rig.frames(id).joined()
    #expect(heard.contains(#""alert":"\#(prose)""#) && heard.contains(#""text":"\#(prose)""#))
    #expect(heard.contains(#""event":\#(event)"#) && heard.contains(#""system":true"#))
    let page = rig.request("GET", "/v3/groups/9/messages").body
    #expect(page.contains(#""text":"\#(prose)""#))
  }

  @Test("the author of an event is its publisher, not the service")
  func stamped() {
    let rig = GatewayRig()
    rig.book?.enter("ada", user: "ada", [Grant(.rooms, NamePattern("/group/*"), .all)])
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/group/9", token: "ada"))
    rig.say(
      id,
      #"{"channel":"/group/9","clientId":"\#(client)","data":{"type":"line.create","subject":"#
        + #"{"user_id":"system","system":true,"text":"x","event":{"type":"poll","data":{}}}}}"#)
    let heard = rig.frames(id).joined()
    #expect(heard.contains(#""user_id":"ada""#) && heard.contains(#""system":false"#))
    #expect(!heard.contains("poll"))
  }

  @Test("a channel does not match other names with the same beginning")
  func channelNames() {
    let rig = GatewayRig()
    let users = ["a", "ad", "ada", "ada!"]
    for user in users { rig.book?.enter(user, user: user) }
    var listeners: [(user: String, id: UInt64)] = []
    for user in users where user != "ada!" {
      let (id, client) = begin(rig)
      for other in users where other != user {
        #expect(!subscribe(rig, id, client, to: "/user/\(other)", token: user), "\(user) \(other)")
      }
      #expect(subscribe(rig, id, client, to: "/user/\(user)", token: user))
      listeners.append((user, id))
    }
    for user in users {
      publish(in: "/user/\(user)", rig)
      for listener in listeners {
        let heard = count(#""data":1"#, in: rig.frames(listener.id))
        #expect(heard == (listener.user == user ? 1 : 0), "\(listener.user) heard \(user)'s")
      }
    }
    // A client with the right to all of these channels receives only the channel that it names.
    rig.book?.enter("root", user: "root", [Grant(.rooms, NamePattern("/user/*"), .all)])
    let (id, client) = begin(rig)
    #expect(subscribe(rig, id, client, to: "/user/ad", token: "root"))
    #expect(subscribe(rig, id, client, to: "/user/ad/*", token: "root"))
    for user in ["a", "ada", "ad/x"] { publish(in: "/user/\(user)", rig) }
    #expect(count("/user/ada", in: rig.frames(id)) == 0)
    publish(in: "/user/ad", rig)
    #expect(count(#""data":1"#, in: rig.frames(id)) == 1)
  }

  @Test(
    "a right to all rooms excludes another user's own channel", arguments: ["*", "/*", "/us*"])
  func othersChannels(pattern: String) {
    let rig = GatewayRig()
    rig.book?.enter("eve", user: "eve", [Grant(.rooms, NamePattern(pattern), .all)])
    let (id, client) = begin(rig)
    for channel in ["/user/ada", "/user/*", "/user/**", "/user/eve/x", "/me/ada"] {
      #expect(!subscribe(rig, id, client, to: channel, token: "eve"), "\(channel)")
    }
    #expect(subscribe(rig, id, client, to: "/user/eve", token: "eve"))
    // A subscription to `/**` receives the user's own channel, and no other user's.
    if pattern != "/us*" { #expect(subscribe(rig, id, client, to: "/**", token: "eve")) }
    for room in ["/user/ada", "/me/ada", "/user/eve"] { publish(in: room, rig) }
    #expect(count(#""data":1"#, in: rig.frames(id)) == 1)
  }

  // MARK: Pages of other origins

  private static func query(_ message: String, callback: String? = nil) -> String {
    var query = "?message="
    for byte in message.utf8 {
      query += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return query + (callback.map { "&jsonp=\($0)" } ?? "")
  }

  private func get(
    _ rig: GatewayRig, _ message: String, callback: String? = "__jsonp1__", path: String = "/faye"
  ) -> (status: Int, body: String) {
    rig.request("GET", path + Self.query(message, callback: callback), from: "a")
  }

  private static let handshake =
    #"[{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":"#
    + #"["websocket","cross-origin-long-polling","callback-polling"],"id":"1"}]"#

  @Test("a page of another origin can make a handshake and poll with scripts")
  func scripts() {
    let rig = GatewayRig(isDemo: true)
    let shake = get(rig, Self.handshake)
    #expect(shake.status == 200)
    #expect(shake.body.hasPrefix(#"/**/__jsonp1__([{"id":"1","channel":"/meta/handshake""#))
    #expect(shake.body.hasSuffix(");"))
    #expect(
      shake.body.contains(
        #"["long-polling","cross-origin-long-polling","callback-polling","websocket"]"#))
    let client = Self.clientID(in: shake.body)
    let subscribe =
      #"[{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"/group/9","id":"2"}]"#
    #expect(get(rig, subscribe, callback: "__jsonp2__").body.contains(#""successful":true"#))
    publish(in: "/group/9", rig)
    let poll =
      #"[{"channel":"/meta/connect","clientId":"\#(client)","connectionType":"callback-polling","id":"3"}]"#
    let answer = get(rig, poll, callback: "__jsonp3__").body
    #expect(answer.hasPrefix(#"/**/__jsonp3__([{"channel":"/group/9","data":1"#))
    #expect(answer.contains(#""id":"3""#))
    #expect(get(rig, "[]", callback: nil).body == "/**/jsonpcallback([]);")
  }

  @Test("a request that is not from a script is refused with a reason")
  func badScripts() {
    let rig = GatewayRig(isDemo: true) { $0.dialects.sessionsMax = 1 }
    for callback in ["alert(1)//", "a%28", "%3C/script%3E", "", "1"] {
      #expect(get(rig, Self.handshake, callback: callback).status == 400)
    }
    #expect(get(rig, "{").status == 400)
    #expect(rig.request("GET", "/faye").status == 400)
    for path in ["/faye/client.js", "/bayeux/faye-browser-min.js"] {
      #expect(rig.request("GET", path).status == 404)
    }
    #expect(rig.request("DELETE", "/faye").status == 405)
    #expect(get(rig, Self.handshake).body.contains("clientId"), "there is room for one")
  }

  @Test("a token in a URL is accepted only if the operator allows it", arguments: [false, true])
  func tokensInURLs(isAllowed: Bool) {
    let rig = GatewayRig { $0.allowsTokenInURL = isAllowed }
    rig.book?.enter("ada", user: "ada")
    let client = Self.clientID(in: get(rig, Self.handshake).body)
    let subscribe =
      #"[{"channel":"/meta/subscribe","clientId":"\#(client)","subscription":"/user/ada","#
      + #""ext":{"access_token":"ada"}}]"#
    #expect(get(rig, subscribe).body.contains(#""successful":true"#) == isAllowed)
    // A token in a body is always accepted.
    #expect(rig.request("POST", "/faye", from: "a", subscribe).body.contains(#""successful":true"#))
  }

  @Test(
    "any path below the endpoint works, and a form is recognised by its beginning",
    arguments: ["/faye", "/faye/", "/faye/handshake", "/bayeux/connect", "/bayeux/a/b"])
  func paths(path: String) {
    let rig = GatewayRig(isDemo: true)
    #expect(rig.request("POST", path, Self.handshake).body.contains("clientId"))
    let form = Self.query(Self.handshake).dropFirst()
    #expect(rig.request("POST", path, String(form)).body.contains("clientId"))
    #expect(get(rig, Self.handshake, path: path).body.contains("clientId"))
  }
}
