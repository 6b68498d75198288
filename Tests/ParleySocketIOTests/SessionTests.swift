import ParleyJSON
import ParleySocketIO
import Testing

@Suite("Sessions")
struct SessionTests {
  private func session(
    _ generation: EngineGeneration, overWebSocket: Bool = true,
    change: (inout SocketSession.Settings) -> Void = { _ in }
  ) -> SocketSession {
    var settings = SocketSession.Settings()
    change(&settings)
    return SocketSession(
      id: "secret", generation: generation, overWebSocket: overWebSocket, settings: settings, now: 0
    )
  }

  /// The sent packets, as texts; polls' answers in brackets.
  private func texts(_ actions: [SocketSession.Action]?) -> [String] {
    (actions ?? []).compactMap {
      switch $0 {
      case .send(let bytes): String(decoding: bytes, as: UTF8.self)
      case .sendToProbe(let bytes): "probe " + String(decoding: bytes, as: UTF8.self)
      case .answerPoll(let bytes): "[" + String(decoding: bytes, as: UTF8.self) + "]"
      default: nil
      }
    }
  }

  @Test("the third generation begins in the default namespace")
  func beginThree() {
    var session = session(.three)
    let actions = session.begin()
    #expect(
      texts(actions) == [
        #"0{"sid":"secret","upgrades":[],"pingInterval":25000,"pingTimeout":20000}"#, "40",
      ])
    #expect(actions.last == .entered(namespace: "/", credentials: nil))
  }

  @Test("the fourth generation must connect to a namespace")
  func beginFour() {
    var session = session(.four)
    #expect(
      texts(session.begin()) == [
        #"0{"sid":"secret","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#
      ])
    #expect(session.received(#"42["early"]"#.utf8, now: 0) == [.end(.badPacket)])
    session = self.session(.four)
    #expect(
      session.received(#"40{"token":"t"}"#.utf8, now: 0)
        == [.entered(namespace: "/", credentials: JSONValue(#"{"token":"t"}"#.utf8))])
    #expect(texts(session.accept("/", as: "name")) == [#"40{"sid":"name"}"#])
    #expect(session.received("40".utf8, now: 0).isEmpty, "it is in already")
  }

  @Test("an accepted client gets an id to resume; a rejected one gets the reason")
  func answersToConnect() {
    var session = session(.four)
    _ = session.received("40".utf8, now: 0)
    #expect(
      texts(session.accept("/", as: "name", recoveryID: "secret"))
        == [#"40{"sid":"name","pid":"secret"}"#])
    session = self.session(.four)
    _ = session.received("40".utf8, now: 0)
    #expect(
      texts(session.refuse("/", message: "no", data: JSONValue(1)))
        == [#"44{"message":"no","data":1}"#])
    #expect(!session.isIn("/"))
    #expect(session.received("40".utf8, now: 0).count == 1, "it may try again")
  }

  @Test("an unknown namespace is refused in the form of the client's generation")
  func namespaces() {
    var three = session(.three)
    _ = three.begin()
    #expect(
      texts(three.received("40/admin?x=1,".utf8, now: 0)) == [#"44/admin,"Invalid namespace""#])
    var four = session(.four) { $0.namespaces = ["/", "/chat"] }
    #expect(
      texts(four.received("40/admin,".utf8, now: 0))
        == [#"44/admin,{"message":"Invalid namespace"}"#])
    _ = four.received("40/chat,".utf8, now: 0)
    #expect(texts(four.accept("/chat", as: "name")) == [#"40/chat,{"sid":"name"}"#])
    #expect(
      four.received(#"42/chat,5["x",1]"#.utf8, now: 0)
        == [.event(namespace: "/chat", name: "x", arguments: [JSONValue(1)], id: 5)])
    #expect(four.received("41/chat,".utf8, now: 0) == [.left(namespace: "/chat")])
  }

  @Test("a client of the third generation sends pings, and a silent one is closed")
  func pingsThree() {
    var session = session(.three)
    _ = session.begin()
    #expect(session.ticked(now: 44_999).isEmpty)
    #expect(texts(session.received("2".utf8, now: 44_999)) == ["3"])
    #expect(session.ticked(now: 89_998).isEmpty)
    #expect(session.ticked(now: 89_999).last == .end(.silent))
    #expect(session.hasEnded)
  }

  @Test("the server pings clients of the fourth generation, and requires an answer")
  func pingsFour() {
    var session = session(.four)
    _ = session.begin()
    #expect(session.ticked(now: 24_999).isEmpty)
    #expect(texts(session.ticked(now: 25_000)) == ["2"])
    #expect(session.awaitsPong)
    #expect(session.received("3".utf8, now: 30_000).isEmpty)
    #expect(!session.awaitsPong)
    #expect(session.ticked(now: 54_999).isEmpty)
    #expect(texts(session.ticked(now: 55_000)) == ["2"])
    #expect(session.ticked(now: 75_000) == [.end(.silent)])
  }

  @Test("a ping in the wrong direction ends the session")
  func wrongDirection() {
    var four = session(.four)
    _ = four.begin()
    #expect(four.received("2".utf8, now: 0) == [.end(.badPacket)])
    var three = session(.three)
    _ = three.begin()
    #expect(three.received("3".utf8, now: 0).last == .end(.badPacket))
  }

  @Test("a poll returns the queued packets once")
  func polling() {
    var session = session(.four, overWebSocket: false)
    #expect(texts(session.begin()).count == 1)
    #expect(!session.hasPoll)
    #expect(session.posted(Array("40".utf8), now: 0) != nil)
    #expect(session.accept("/", as: "name").isEmpty)
    #expect(session.send(Array("42[1]".utf8)).isEmpty)
    #expect(texts(session.poll()) == ["[40{\"sid\":\"name\"}\u{1e}42[1]]"])
    #expect(session.poll() == [], "it waits")
    #expect(session.poll() == nil, "only one may wait")
    #expect(texts(session.send(Array("42[2]".utf8))) == ["[42[2]]"])
    #expect(session.poll() == [])
    #expect(texts(session.received("1".utf8, now: 0)) == ["[1]"])
  }

  @Test("rejects an unexpected body without effect")
  func badBody() {
    var session = session(.four, overWebSocket: false)
    _ = session.begin()
    #expect(session.posted(Array("x".utf8), now: 0) == nil)
    #expect(session.posted(Array(repeating: UInt8(ascii: "4"), count: 1_000_001), now: 0) == nil)
    #expect(!session.hasEnded)
  }

  @Test("a client that polls too slowly is dropped, with its queued events")
  func slow() {
    var session = session(.four, overWebSocket: false) { $0.queuedBytesMax = 100 }
    _ = session.begin()
    var actions: [SocketSession.Action] = []
    for _ in 0..<30 where actions.isEmpty { actions = session.send(Array("42[1]".utf8)) }
    #expect(actions == [.end(.slow)])
    #expect(session.poll() == nil)
  }

  @Test("the session of a client that stops polling is removed")
  func forgotten() {
    var session = session(.four, overWebSocket: false)
    _ = session.begin()
    #expect(session.ticked(now: 25_000).isEmpty)
    #expect(session.ticked(now: 45_000) == [.end(.silent)])
  }

  @Test("upgrading from polling to a WebSocket loses nothing")
  func upgrade() {
    var session = session(.four, overWebSocket: false)
    #expect(texts(session.begin())[0].contains(#""upgrades":["websocket"]"#))
    _ = session.posted(Array("40".utf8), now: 0)
    _ = session.accept("/", as: "name")
    _ = session.poll()
    #expect(session.poll() == [])
    #expect(session.beginProbe() == true)
    #expect(session.beginProbe() == false, "only one at a time")
    #expect(texts(session.receivedByProbe("2probe".utf8, now: 0)) == ["probe 3probe", "[6]"])
    #expect(session.send(Array("42[1]".utf8)).isEmpty)
    let actions = session.receivedByProbe("5".utf8, now: 0)
    #expect(actions?.first == .adoptProbe)
    #expect(texts(actions) == ["42[1]"])
    #expect(session.isOnWebSocket)
    #expect(session.poll() == nil)
    #expect(texts(session.send(Array("42[2]".utf8))) == ["42[2]"])
  }

  @Test("a failed probe does not affect polling")
  func brokenProbe() {
    var session = session(.three, overWebSocket: false)
    _ = session.begin()
    #expect(session.receivedByProbe("2probe".utf8, now: 0) == nil, "none was begun")
    #expect(session.beginProbe() == true)
    #expect(session.receivedByProbe(#"42["x"]"#.utf8, now: 0) == nil)
    session.endProbe()
    #expect(session.poll() == [])
    #expect(texts(session.send(Array("42[1]".utf8))) == ["[5:42[1]]"])
  }

  @Test("a session closed by the server notifies its client")
  func dismissed() {
    var session = session(.three)
    _ = session.begin()
    let actions = session.end(.dismissed)
    #expect(texts(actions) == ["1"])
    #expect(actions.suffix(2) == [.left(namespace: "/"), .end(.dismissed)])
    #expect(session.send([]).isEmpty)
    #expect(session.end(.closed).isEmpty)
  }

  @Test("a client closed between two polls is notified by the next poll")
  func dismissedBetweenPolls() {
    var session = session(.four, overWebSocket: false)
    _ = session.begin()
    _ = session.posted(Array("40".utf8), now: 0)
    _ = session.accept("/", as: "name")
    _ = session.send(Array("42[1]".utf8))
    #expect(session.end(.dismissed) == [.left(namespace: "/")])
    #expect(session.posted(Array("42[2]".utf8), now: 0) == [])
    let actions = session.poll()
    #expect(texts(actions) == ["[40{\"sid\":\"name\"}\u{1e}42[1]\u{1e}1]"])
    #expect(actions?.last == .end(.dismissed))
    #expect(session.poll() == nil)
  }
}
