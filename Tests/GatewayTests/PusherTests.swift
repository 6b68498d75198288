import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyPusher
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Pusher's protocol in the gateway")
struct PusherTests {
  private static func rig(
    store: MemoryStore = MemoryStore(), prefix: String = "g",
    _ change: (inout GatewaySettings) -> Void = { _ in }
  ) -> GatewayRig {
    GatewayRig(store: store, prefix: prefix) {
      $0.dialects.pusher.apps = [PusherShop.app, PusherShop.make("blog", id: "8")]
      change(&$0)
    }
  }

  private func publish(_ data: String, in room: String, _ rig: GatewayRig, by sender: String = "x")
  {
    let body = #"{"publications":[{"room":"\#(room)","data":\#(data),"senderId":"\#(sender)"}]}"#
    #expect(rig.request("POST", "/api/publish", token: "pk_publisher", body).status == 200)
  }

  @Test("a client is greeted, or receives the error of its protocol")
  func opening() {
    let rig = Self.rig()
    #expect(PusherClient(rig).socketID.wholeMatch(of: /\d+\.\d+/) != nil)
    for (key, query, code) in [
      ("other", "protocol=7", 4001), ("shop", "", 4008), ("shop", "protocol=9", 4007),
    ] {
      let id = rig.connect(as: .pusher(key: key, query: query))
      #expect(rig.frames(id).joined().contains(#""pusher:error","data":{"code":\#(code)"#))
      #expect(rig.closeCodes[id] == UInt16(code))
    }
    #expect(rig.refusal(ofUpgrade: [:], as: .pusher(key: "shop", query: "")) == nil)
    #expect(GatewayRig().refusal(ofUpgrade: [:], as: .pusher(key: "shop", query: "")) == 404)
    #expect(
      ClientKind(
        RequestHead(method: "GET", path: "/app/shop", query: "protocol=7"), shareDBPath: "")
        == .pusher(key: "shop", query: "protocol=7"))
    #expect(ClientKind(RequestHead(method: "GET", path: "/app/shop/x"), shareDBPath: "") == nil)
  }

  @Test(
    "a publication goes to subscribers of its channel, with its text as it was, but not to its sender"
  )
  func publications() {
    let rig = Self.rig()
    let (one, two) = (PusherClient(rig), PusherClient(rig))
    #expect(
      one.subscribe("news") == [
        #"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":"{}"}"#
      ])
    #expect(two.subscribe("private-a").count == 1 && two.subscribe("news").count == 1)
    publish(#"{"event":"order","data":"{\"n\": 1.0}"}"#, in: "pusher/7/news", rig)
    let event = #"{"event":"order","channel":"news","data":"{\"n\": 1.0}"}"#
    #expect(rig.frames(one.id) == [event] && rig.frames(two.id) == [event])
    publish(#"{"event":"a","data":"1"}"#, in: "pusher/7/news", rig, by: one.socketID)
    #expect(rig.frames(one.id) == [] && rig.frames(two.id).count == 1)
    // Publications of other protocols: all their data is delivered, but never as a protocol event.
    publish(#"{"event":"pusher:error","data":"{}"}"#, in: "pusher/7/private-a", rig)
    #expect(
      rig.frames(two.id) == [
        #"{"event":"message","channel":"private-a","data":"{\"event\":\"pusher:error\",\"data\":\"{}\"}"}"#
      ])
    // Rooms of the server and of other apps are not channels of this app.
    publish("1", in: "news", rig)
    publish("1", in: "pusher/8/news", rig)
    #expect(rig.frames(one.id) == [])
    one.say("pusher:unsubscribe", "", #"{"channel":"news"}"#)
    publish("1", in: "pusher/7/news", rig)
    #expect(rig.frames(one.id) == [])
    #expect(one.subscribe(String(repeating: "a", count: 200))[0].contains("LimitReached"))
  }

  @Test("members of a presence channel see each other, a user with several sockets once")
  func presence() {
    let rig = Self.rig { $0.presenceGraceMilliseconds = 0 }
    let (ann, client, ben) = (PusherClient(rig), PusherClient(rig), PusherClient(rig))
    #expect(ann.subscribe("presence-r", as: "7")[0].contains(#"\"ids\":[\"7\"]"#))
    rig.pass(milliseconds: 1_000)
    #expect(rig.frames(ann.id) == [])
    let second = ben.subscribe("presence-r", as: "8")[0]
    #expect(
      second.contains(
        #"\"hash\":{\"7\":{\"name\":\"The 7\"},\"8\":{\"name\":\"The 8\"}},\"count\":2"#))
    _ = client.subscribe("presence-r", as: "7")
    rig.pass(milliseconds: 1_000)
    #expect(
      rig.frames(ann.id) == [
        #"{"event":"pusher_internal:member_added","channel":"presence-r","data":"{\"user_id\":\"8\",\"user_info\":{\"name\":\"The 8\"}}"}"#
      ])
    #expect(rig.frames(ben.id) == [])
    rig.close(client.id)
    rig.pass(milliseconds: 1_000)
    #expect(rig.frames(ben.id) == [])
    rig.close(ann.id)
    rig.pass(milliseconds: 1_000)
    #expect(
      rig.frames(ben.id) == [
        #"{"event":"pusher_internal:member_removed","channel":"presence-r","data":"{\"user_id\":\"7\"}"}"#
      ])
  }

  @Test("a presence channel has as many members as a room has people")
  func full() {
    let rig = Self.rig { $0.limits.presentMax = 1 }
    let (ann, client, ben) = (PusherClient(rig), PusherClient(rig), PusherClient(rig))
    #expect(ann.subscribe("presence-r", as: "7")[0].contains("succeeded"))
    #expect(client.subscribe("presence-r", as: "7")[0].contains("succeeded"))
    #expect(ben.subscribe("presence-r", as: "8")[0].contains("LimitReached"))
    publish("1", in: "pusher/7/presence-r", rig)
    #expect(rig.frames(ben.id) == [])
  }

  @Test("a client event goes to the other subscribers, up to ten a second")
  func clientEvents() {
    let rig = Self.rig()
    let (ann, ben) = (PusherClient(rig), PusherClient(rig))
    _ = ann.subscribe("presence-r", as: "7")
    _ = ben.subscribe("presence-r", as: "8")
    ann.say("client-typing", "presence-r", #"{"on":true}"#)
    #expect(
      rig.frames(ben.id) == [
        #"{"event":"client-typing","channel":"presence-r","data":{"on":true},"user_id":"7"}"#
      ])
    #expect(rig.frames(ann.id) == [])
    for _ in 0..<10 { ann.say("client-typing", "presence-r") }
    #expect(rig.frames(ben.id).count == 9)
    #expect(rig.frames(ann.id).joined().contains(#""code":4301"#))
    let reader = rig.token("reader", [Grant(.rooms, NamePattern("*"), .all)])
    let read = rig.request("GET", "/api/rooms/pusher%2F7%2Fpresence-r/history", token: reader)
    #expect(read.status == 200 && !read.body.contains("client-typing"))
  }

  @Test("a cache channel's subscriber is sent the last event, or that there is none")
  func caches() {
    let rig = Self.rig()
    let one = PusherClient(rig)
    #expect(
      one.subscribe("cache-a").last
        == #"{"event":"pusher:cache_miss","channel":"cache-a","data":"{}"}"#)
    for n in 1...2 { publish(#"{"event":"e","data":"\#(n)"}"#, in: "pusher/7/cache-a", rig) }
    #expect(rig.frames(one.id).count == 2)
    let two = PusherClient(rig)
    let event = #"{"event":"e","channel":"cache-a","data":"2"}"#
    #expect(two.subscribe("cache-a").last == event)
    // A newer event that arrives before the last event was read replaces it.
    let three = PusherClient(rig)
    rig.isStepwise = true
    #expect(three.subscribe("cache-a").count == 1)
    let body = #"{"publications":[{"room":"pusher/7/cache-a","data":{"event":"e","data":"3"}}]}"#
    _ = rig.begin("POST", "/api/publish", headers: ["authorization": "Bearer pk_publisher"], body)
    let replies = rig.performWithoutReplying()
    rig.deliver(replies.reversed())
    #expect(rig.frames(three.id).map { $0.contains(#""data":"3""#) } == [true])
  }

  @Test("the end of a connection has a code that says whether to reconnect")
  func ends() {
    let rig = Self.rig()
    let silent = PusherClient(rig)
    rig.pass(milliseconds: 30_000)
    #expect(rig.frames(silent.id) == [#"{"event":"pusher:ping","data":"{}"}"#])
    rig.pass(milliseconds: 30_000)
    #expect(rig.closeCodes[silent.id] == 4201)
    let large = PusherClient(rig)
    rig.send(large.id, oversizedBeyond: 16)
    #expect(rig.closeCodes[large.id] == 4100)
    let last = PusherClient(rig)
    rig.closeAll()
    #expect(
      rig.frames(last.id) == [
        #"{"event":"pusher:error","data":{"code":4200,"message":"the server is shutting down; reconnect"}}"#
      ])
    #expect(rig.closeCodes[last.id] == 4200)
  }

  @Test("a person who listens and answers pings stays present")
  func lease() {
    let rig = Self.rig()
    let (ann, ben) = (PusherClient(rig), PusherClient(rig))
    _ = ann.subscribe("presence-r", as: "7")
    _ = ben.subscribe("presence-r", as: "8")
    rig.pass(milliseconds: 1_000)
    _ = rig.frames(ann.id)
    for _ in 0..<200 {
      rig.pass(milliseconds: 1_000)
      for client in [ann, ben] where rig.frames(client.id).joined().contains("pusher:ping") {
        client.say("pusher:pong", "")
      }
    }
    #expect(rig.closeCodes.isEmpty)
    #expect(PusherClient(rig).subscribe("presence-r", as: "9")[0].contains(#"\"count\":3"#))
  }

  @Test("members and client events of one channel are known at every node")
  func nodes() {
    let store = MemoryStore(isShared: true)
    let nodes = ["a", "b"].map { prefix in
      Self.rig(store: store, prefix: prefix) { $0.sharesStore = true }
    }
    let (ann, ben) = (PusherClient(nodes[0]), PusherClient(nodes[1]))
    func pass() {
      for _ in 0..<8 {
        for hint in nodes[0].takeHints() { nodes[1].hear(hint.topic, hint.bytes) }
        for hint in nodes[1].takeHints() { nodes[0].hear(hint.topic, hint.bytes) }
        for node in nodes { node.pass(milliseconds: 250) }
      }
    }
    _ = ann.subscribe("presence-r", as: "7")
    _ = ben.subscribe("presence-r", as: "8")
    pass()
    #expect(
      nodes[0].frames(ann.id).contains(
        #"{"event":"pusher_internal:member_added","channel":"presence-r","data":"{\"user_id\":\"8\",\"user_info\":{\"name\":\"The 8\"}}"}"#
      ))
    _ = nodes[1].frames(ben.id)
    ann.say("client-typing", "presence-r", #"{"on":true}"#)
    publish(#"{"event":"e","data":"1"}"#, in: "pusher/7/presence-r", nodes[0], by: ben.socketID)
    pass()
    #expect(
      nodes[1].frames(ben.id) == [
        #"{"event":"client-typing","channel":"presence-r","data":{"on":true},"user_id":"7"}"#
      ])
    #expect(nodes[0].frames(ann.id).joined().contains(#""event":"e""#))
    // A larger event does not fit into a hint: it is rejected, not lost.
    ann.say("client-typing", "presence-r", #""\#(String(repeating: "x", count: 5_000))""#)
    #expect(nodes[0].frames(ann.id).joined().contains(#""code":4301"#))
  }
}
