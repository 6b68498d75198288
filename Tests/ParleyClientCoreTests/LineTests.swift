import ParleyClientCore
import SocketMessages
import Testing

@Suite("A client's connection")
struct LineTests {
  @Test("sends hello, and is online after the welcome")
  func start() {
    var rig = Rig()
    #expect(rig.handle(.start) == ["connecting", "connect"])
    #expect(rig.handle(.opened) == ["greeting", "> hello"])
    #expect(rig.welcome() == ["claim A", "online"])
    #expect(rig.handle(.start) == [])
  }

  @Test("reconnects with its identity, which is not reported again")
  func claims() {
    var rig = Rig(claim: .init(id: "A", resumeToken: "of A"))
    rig.handle(.start)
    #expect(rig.handle(.opened) == ["greeting", "> hello A"])
    #expect(rig.welcome() == ["online"])
  }

  @Test("a server that does not know the client id makes it a new client")
  func unknownClaim() {
    var rig = Rig(claim: .init(id: "A", resumeToken: "of A"))
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.fail("hello", .unauthorised) == ["> hello"])
    #expect(rig.welcome(as: "B") == ["claim B", "online"])
  }

  @Test("a rejected token does not change the identity")
  func refusedToken() {
    var rig = Rig(usesTokens: true, claim: .init(id: "A", resumeToken: "of A"))
    rig.handle(.start)
    rig.handle(.token("t"))
    rig.handle(.opened)
    #expect(rig.fail("hello", .unauthorised) == ["> hello with t"])
    #expect(rig.handle(.closed(code: 4502)) == ["stopped"])
    #expect(rig.machine.state == .stopped(.closed(code: 4502)))
    #expect(rig.machine.claim?.id == "A")
  }

  @Test("a permanently refused hello stops it")
  func refusedHello() {
    var rig = Rig()
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.fail("hello", .badMessage) == ["disconnect", "stopped"])
    #expect(rig.machine.state == .stopped(.refused(.badMessage)))
  }

  @Test("a welcome of another version stops it, without changing the identity")
  func misreadWelcome() {
    var rig = Rig(claim: .init(id: "A", resumeToken: "of A"))
    rig.handle(.start)
    rig.handle(.opened)
    let id = rig.sent.last?.id ?? ""
    let answer = #"{"messageId":"\#(id)","type":"welcome","data":{"protocol":"parley.v2"}}"#
    #expect(rig.handle(.received(Array(answer.utf8))) == ["disconnect", "stopped"])
    #expect(rig.machine.state == .stopped(.refused(.badMessage)))
    #expect(rig.machine.claim?.id == "A")
  }

  @Test("a rate-limited hello waits for the requested time, and at most twice as long")
  func retryableHello() {
    var rig = Rig()
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.fail("hello", .tooFast, after: 5_000) == ["disconnect", "waiting"])
    #expect((5_000...10_000).contains(rig.wakeAt ?? 0))
  }

  @Test("delays double to the maximum, each random in its second half", arguments: 1...UInt64(30))
  func backOff(seed: UInt64) {
    var rig = Rig(seed: seed)
    rig.handle(.start)
    var longest: Int64 = 250
    for _ in 0..<12 {
      #expect(rig.handle(.closed(code: 1006)) == ["waiting"])
      #expect((longest / 2...longest).contains((rig.wakeAt ?? 0) - rig.now))
      #expect(rig.awaken() == ["connecting", "connect"])
      longest = min(2 * longest, 15_000)
    }
    rig.handle(.opened)
    rig.welcome()
    rig.handle(.closed(code: 1006))
    #expect((125...250).contains((rig.wakeAt ?? 0) - rig.now))
  }

  @Test("two clients with other seeds do not reconnect at once")
  func spread() {
    let delays = (1...UInt64(20)).map { seed in
      var rig = Rig(seed: seed)
      rig.handle(.start)
      rig.handle(.closed(code: 1006))
      return rig.wakeAt ?? 0
    }
    #expect(Set(delays).count > 10)
  }

  @Test("a goodbye sets only the next delay")
  func goodbye() {
    var rig = Rig()
    rig.connect()
    rig.receive(.goodbye(.init(reason: "draining", reconnectAfter: 40_000...50_000)))
    rig.handle(.closed(code: 4002))
    #expect((40_000...50_000).contains((rig.wakeAt ?? 0) - rig.now))
    rig.awaken()
    rig.handle(.closed(code: 1006))
    #expect((rig.wakeAt ?? 0) - rig.now <= 500)
  }

  @Test(
    "codes from 4500 to 4999 stop it", arguments: [4500, 4502, 4505, 4507, 4508, 4999] as [UInt16])
  func finalCodes(code: UInt16) {
    var rig = Rig()
    rig.connect()
    #expect(rig.handle(.closed(code: code)) == ["stopped"])
    #expect(rig.machine.state == .stopped(.closed(code: code)))
    #expect(rig.handle(.start) == ["connecting", "connect"])
  }

  @Test(
    "it reconnects after any other code",
    arguments: [1000, 1006, 4001, 4006, 4499, 5000] as [UInt16])
  func otherCodes(code: UInt16) {
    var rig = Rig()
    rig.connect()
    #expect(rig.handle(.closed(code: code)) == ["waiting"])
  }

  @Test("a connection that is not opened or welcomed in time is closed", arguments: [false, true])
  func slowOpening(opens: Bool) {
    var rig = Rig()
    rig.handle(.start)
    if opens { rig.handle(.opened) }
    #expect(rig.wakeAt == 10_000)
    #expect(rig.awaken() == ["disconnect", "waiting"])
  }

  @Test("a silent connection is pinged, and closed without an answer")
  func silence() {
    var rig = Rig()
    rig.connect()
    #expect(rig.wakeAt == 20_000)
    #expect(rig.awaken() == ["> ping"])
    rig.now += 5_000
    rig.receive(.pong(.init(serverTime: 1)))
    #expect(rig.wakeAt == 45_000)
    #expect(rig.awaken() == ["> ping"])
    #expect(rig.wakeAt == 53_000)
    #expect(rig.awaken() == ["disconnect", "waiting"])
  }

  @Test("when the network returns it connects at once; an open connection is probed")
  func reachable() {
    var rig = Rig()
    rig.connect()
    #expect(rig.handle(.reachable) == ["> ping"])
    #expect(rig.wakeAt == 2_500)
    #expect(rig.awaken() == ["disconnect", "waiting"])
    #expect(rig.handle(.reachable) == ["connecting", "connect"])
    #expect(rig.handle(.reachable) == [])
  }

  @Test("stopping ends it, and late events of the connection change nothing")
  func stop() {
    var rig = Rig()
    rig.connect()
    #expect(rig.handle(.stop) == ["disconnect", "stopped"])
    #expect(rig.handle(.closed(code: 1006)) == [])
    #expect(rig.handle(.opened) == [])
    #expect(rig.welcome() == [])
    #expect(rig.wakeAt == nil)
  }

  @Test("a device that slept for a day handles all expired timers")
  func oversleeping() {
    var rig = Rig()
    rig.connect()
    rig.now = 86_400_000
    #expect(rig.handle(.wake) == ["> ping"])
    #expect(rig.wakeAt == 86_408_000)
  }

  @Test("a clock that is set back is treated as stopped")
  func clockGoesBack() {
    var rig = Rig()
    rig.now = 5_000
    rig.connect()
    rig.now = 0
    rig.receive(.pong(.init(serverTime: 1)))
    #expect(rig.awaken() == ["> ping"])
    #expect(rig.now == 25_000)
  }

  // MARK: Tokens

  @Test("a token is requested before each connection, and sent with the hello")
  func tokens() {
    var rig = Rig(usesTokens: true)
    #expect(rig.handle(.start) == ["authorising", "token?"])
    #expect(rig.handle(.token("t1")) == ["connecting", "connect"])
    #expect(rig.handle(.opened) == ["greeting", "> hello with t1"])
    rig.welcome()
    rig.handle(.closed(code: 1006))
    #expect(rig.awaken() == ["authorising", "token?"])
    #expect(rig.handle(.token("t2")) == ["connecting", "connect"])
    #expect(rig.handle(.opened) == ["greeting", "> hello A with t2"])
  }

  @Test("without a token it stops until it receives one")
  func noToken() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    #expect(rig.handle(.token(nil)) == ["stopped"])
    #expect(rig.machine.state == .stopped(.noToken))
    #expect(rig.handle(.token("t")) == ["connecting", "connect"])
  }

  @Test("a token that expires soon is refreshed on the same connection")
  func refresh() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    rig.welcome()
    #expect(rig.receive(.tokenExpiring(.init(expiresAt: 9))) == ["token?"])
    #expect(rig.receive(.tokenExpiring(.init(expiresAt: 9))) == [])
    #expect(rig.handle(.token("t2")) == ["> refresh t2"])
    #expect(rig.fail("refresh", .tooFast, after: 300) == [])
    #expect(rig.pass(300) == ["> refresh t2"])
    #expect(rig.receive(.refreshed(.init(expiresAt: 10)), to: "refresh") == [])
    #expect(rig.receive(.tokenExpiring(.init(expiresAt: 19))) == ["token?"])
  }

  @Test("an expired token is replaced, and the note continues")
  func expired() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    rig.welcome()
    rig.now = 60_000
    #expect(rig.handle(.closed(code: 4507)) == ["authorising", "token?"])
    #expect(rig.handle(.token("t2")) == ["connecting", "connect"])
    #expect(rig.handle(.opened) == ["greeting", "> hello A with t2"])
  }

  @Test("a late token is used for the next connection, and requested once")
  func lateRefresh() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    rig.welcome()
    rig.now = 60_000
    #expect(rig.receive(.tokenExpiring(.init(expiresAt: 9))) == ["token?"])
    #expect(rig.handle(.closed(code: 4507)) == ["authorising"])
    #expect(rig.handle(.token("t2")) == ["connecting", "connect"])
    #expect(rig.handle(.opened) == ["greeting", "> hello A with t2"])
  }

  @Test("a token that arrives between hello and welcome is sent after the welcome")
  func tokenBetween() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    #expect(rig.handle(.token("t2")) == [])
    #expect(rig.welcome() == ["claim A", "online", "> refresh t2"])
  }

  @Test("tokens that expire at once cause no endless retries")
  func shortTokens() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    rig.welcome()
    #expect(rig.handle(.closed(code: 4507)) == ["waiting"])
    #expect(rig.awaken() == ["authorising", "token?"])
  }

  @Test("a refusal to refresh changes nothing")
  func refusedRefresh() {
    var rig = Rig(usesTokens: true)
    rig.handle(.start)
    rig.handle(.token("t1"))
    rig.handle(.opened)
    rig.welcome()
    rig.handle(.token("bad"))
    #expect(rig.fail("refresh", .unauthorised) == [])
    #expect(rig.machine.state == .online)
  }

  @Test("after a refused refresh, the accepted token is used for the next connection")
  func refusedRefreshKeepsToken() {
    var rig = Rig()
    rig.handle(.token("t1"))
    rig.handle(.start)
    rig.handle(.opened)
    rig.welcome()
    rig.handle(.token("bad"))
    rig.told = []
    rig.fail("refresh", .unauthorised)
    #expect(rig.told == [.refreshed(.unauthorised)])
    rig.handle(.closed(code: 1006))
    rig.awaken()
    #expect(rig.handle(.opened) == ["greeting", "> hello A with t1"])
    rig.welcome()
    rig.handle(.token("t2"))
    rig.told = []
    rig.receive(.refreshed(.init(expiresAt: 10)), to: "refresh")
    #expect(rig.told == [.refreshed(nil)])
    rig.handle(.closed(code: 1006))
    rig.awaken()
    #expect(rig.handle(.opened) == ["greeting", "> hello A with t2"])
  }

  @Test(
    "the app is notified of the server's features, the token's expiry, and changed resources")
  func told() {
    var rig = Rig()
    rig.handle(.start)
    rig.handle(.opened)
    rig.welcome()
    guard case .welcome(let welcome) = rig.told.first else {
      Issue.record("no welcome was told")
      return
    }
    #expect(welcome.clientID == "A")
    rig.told = []
    #expect(rig.receive(.tokenExpiring(.init(expiresAt: 9))) == [])
    rig.receive(.resourceUpdate(.init(resourceID: "r", senderID: nil)))
    #expect(rig.told == [.tokenEnds(at: 9), .resource("r", by: nil)])
  }
}
