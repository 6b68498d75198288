import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyPusher
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("The HTTP API of Pusher's protocol")
struct PusherRequestTests {
  private let rig = GatewayRig {
    $0.dialects.pusher.apps = [PusherShop.app, PusherShop.make("blog", id: "8")]
  }

  private func ask(
    _ method: String, _ path: String, _ fields: String = "", _ body: String = ""
  ) -> (status: Int, body: String) {
    let path = "/apps/7" + path
    let query = PusherShop.query(method, path, fields, body: Array(body.utf8))
    return rig.request(method, path + "?" + query, body)
  }

  @Test("an event reaches its channels except for the connection that it excludes")
  func events() {
    let (one, two) = (PusherClient(rig), PusherClient(rig))
    for client in [one, two] { _ = client.subscribe("private-a") }
    let event = #"{"event":"order","channel":"private-a","data":"{\"n\":1}"}"#
    let data = #""name":"order","data":"{\"n\":1}""#
    #expect(
      ask("POST", "/events", "", "{\(data),\"channels\":[\"private-a\",\"b\"]}") == (200, "{}"))
    #expect(rig.frames(one.id) == [event] && rig.frames(two.id) == [event])
    let own = #""channel":"private-a","socket_id":"\#(one.socketID)""#
    #expect(ask("POST", "/events", "", "{\(data),\(own)}") == (200, "{}"))
    #expect(rig.frames(one.id) == [] && rig.frames(two.id) == [event])
    let batch = ["private-a", "private-a"].map { "{\(data),\"channel\":\"\($0)\"}" }
    #expect(
      ask("POST", "/batch_events", "", "{\"batch\":[\(batch.joined(separator: ","))]}") == (
        200, "{}"
      ))
    #expect(rig.frames(two.id) == [event, event])
    let info = "{\(data),\"channels\":[\"private-a\"],\"info\":\"subscription_count\"}"
    #expect(
      ask("POST", "/events", "", info)
        == (200, #"{"channels":{"private-a":{"subscription_count":2}}}"#))
    #expect(rig.answerCounts.values.allSatisfy { $0 == 1 })
  }

  /// More values than a body may have.
  private static let many = String(repeating: "0,", count: 8_192) + "0"

  @Test(
    "a request with a malformed event is refused as a whole",
    arguments: [
      ("/events", ""), ("/events", "[]"), ("/events", #"{"name":"e","data":"1"}"#),
      ("/events", #"{"name":"e","data":1,"channel":"a"}"#),
      ("/events", #"{"name":"","data":"1","channel":"a"}"#),
      ("/events", #"{"name":"pusher:error","data":"1","channel":"a"}"#),
      ("/events", #"{"name":"e","data":"1","channel":"a/b"}"#),
      ("/events", #"{"name":"e","data":"1","channels":[]}"#),
      ("/events", #"{"name":"e","data":"1","channels":["a",1]}"#),
      ("/events", #"{"name":"e","data":"1","channel":"a","socket_id":"x"}"#),
      ("/events", #"{"name":"e","data":"1","channel":"a","x":["# + many + "]}"),
      ("/batch_events", #"{"batch":[{"name":"e","data":"1","channel":"a","x":["# + many + "]}]}"),
      ("/batch_events", #"{"batch":[]}"#),
      ("/batch_events", #"{"batch":[{"name":"e","data":"1","channel":"a"},{}]}"#),
    ])
  func malformed(path: String, body: String) {
    let client = PusherClient(rig)
    _ = client.subscribe("a")
    #expect(ask("POST", path, "", body).status == 400)
    #expect(rig.frames(client.id) == [])
  }

  @Test("too many channels or events, and too long data, are refused")
  func limits() {
    let channels = (0...100).map { "\"c\($0)\"" }.joined(separator: ",")
    #expect(
      ask("POST", "/events", "", #"{"name":"e","data":"1","channels":[\#(channels)]}"#).status
        == 400)
    let events = Array(repeating: #"{"name":"e","data":"1","channel":"a"}"#, count: 11)
    #expect(
      ask("POST", "/batch_events", "", #"{"batch":[\#(events.joined(separator: ","))]}"#).status
        == 400)
    let long = String(repeating: "x", count: Limits().publicationBytesMax + 1)
    #expect(
      ask("POST", "/events", "", #"{"name":"e","data":"\#(long)","channel":"a"}"#).status == 413)
  }

  @Test("a request needs the app's signature of this request, which is valid for ten minutes")
  func signatures() {
    let body = #"{"name":"e","data":"1","channel":"a"}"#
    let bytes = Array(body.utf8)
    let path = "/apps/7/events"
    let query = PusherShop.query("POST", path, body: bytes)
    let now = rig.clock.now / 1_000
    func status(_ query: String, _ method: String = "POST", _ path: String = path, _ body: String)
      -> Int
    { rig.request(method, path + "?" + query, body).status }
    #expect(status(query, "POST", path, body) == 200)
    #expect(status(query, "POST", path, body + " ") == 401)
    #expect(status(query, "POST", "/apps/7/batch_events", body) == 401)
    #expect(status(query, "POST", "/apps/8/events", body) == 401)
    #expect(status(query, "POST", "/apps/9/events", body) == 404)
    #expect(status(query, "GET", path, "") == 405)
    #expect(status(query + "&info=x", "POST", path, body) == 401)
    #expect(status(query + "&auth_key=shop", "POST", path, body) == 401)
    #expect(status(String(query.dropLast()), "POST", path, body) == 401)
    #expect(status("", "POST", path, body) == 401)
    #expect(
      status(PusherShop.query("POST", path), "POST", path, body) == 401, "the body is signed, too")
    for (seconds, expected) in [
      (now - 600, 200), (now + 600, 200), (now - 601, 401), (now + 601, 401),
    ] {
      #expect(
        status(PusherShop.query("POST", path, body: bytes, at: seconds), "POST", path, body)
          == expected)
    }
    // Replayed after ten minutes.
    rig.pass(milliseconds: 601_000)
    #expect(status(query, "POST", path, body) == 401)
    // A long body is read only if its request is signed.
    for (query, isTaken) in [
      (PusherShop.query("POST", path, body: bytes, at: now + 601), true), ("", false),
    ] {
      let decision = rig.decision(
        onBody: 100_000, of: RequestHead(method: "POST", path: path, query: query))
      if case .take = decision { #expect(isTaken) } else { #expect(!isTaken) }
    }
  }

  @Test("an app can request all channels, one channel, and its users")
  func channels() {
    let (ann, ben) = (PusherClient(rig), PusherClient(rig))
    _ = ann.subscribe("news")
    _ = ann.subscribe("presence-r", as: "7")
    _ = ben.subscribe("presence-r", as: "8")
    #expect(ask("GET", "/channels") == (200, #"{"channels":{"news":{},"presence-r":{}}}"#))
    #expect(
      ask("GET", "/channels", "filter_by_prefix=presence-&info=user_count")
        == (200, #"{"channels":{"presence-r":{"user_count":2}}}"#))
    #expect(ask("GET", "/channels", "info=user_count").status == 400)
    #expect(
      ask("GET", "/channels/presence-r", "info=user_count,subscription_count")
        == (200, #"{"occupied":true,"user_count":2,"subscription_count":2}"#))
    #expect(ask("GET", "/channels/other") == (200, #"{"occupied":false}"#))
    #expect(
      ask("GET", "/channels/presence-r/users") == (200, #"{"users":[{"id":"7"},{"id":"8"}]}"#))
    #expect(ask("GET", "/channels/news/users").status == 400)
  }

  @Test("an app can close the connections of a signed-in user")
  func terminating() {
    let clients = [PusherClient(rig), PusherClient(rig)]
    for (client, user) in zip(clients, ["7", "8"]) {
      let data = #"{"id":"\#(user)"}"#
      let auth = "shop:" + PusherShop.app.signature(Array("\(client.socketID)::user::\(data)".utf8))
      let fields: JSONFields = ["auth": JSONValue(auth), "user_data": JSONValue(data)]
      client.say("pusher:signin", "", String(decoding: fields.json, as: UTF8.self))
      #expect(client.subscribe("#server-to-user-\(user)").count == 2)
    }
    let body = ##"{"name":"e","data":"1","channel":"#server-to-user-8"}"##
    #expect(ask("POST", "/events", "", body).status == 200)
    #expect(rig.frames(clients[0].id) == [] && rig.frames(clients[1].id).count == 1)
    #expect(ask("POST", "/users/8/terminate_connections") == (200, "{}"))
    #expect(rig.closeCodes[clients[1].id] == 4009 && rig.closeCodes[clients[0].id] == nil)
  }
}
