import Gateway
import ParleyGatewayPorts
import ParleyOTWorkloads
import ParleySimulationKit
import Testing

@Suite("Slots of Socket.IO and Bayeux sessions")
struct SessionPlaceTests {
  // MARK: The state machine

  private static func address(_ number: Int) -> IPAddress { IPAddress(four: UInt32(number)) }

  private static func identity(_ user: String) -> Identity { Identity(user: user, grants: []) }

  /// Slots with numbered sessions.
  private struct Rig {
    var places: SessionSlots
    var next: UInt64 = 1

    /// Begins a session. Returns `nil` if it is refused.
    mutating func begin(from address: IPAddress?) -> ConnectionID? {
      switch places.decision(for: address, isIdentified: false) {
      case .enter: break
      case .replace(let old): places.leave(old)
      case .refuse: return nil
      }
      let id = ConnectionID(next)
      next += 1
      places.enter(id, from: address, isIdentified: false)
      return id
    }
  }

  @Test(
    "a new address gets a slot although many addresses use all that they can",
    arguments: [1, 3, 40, 5_000])
  func flood(addresses: Int) {
    var rig = Rig(places: SessionSlots(capacity: 10_000))
    for round in 0..<(20_000 / addresses) {
      for number in 1...addresses { _ = rig.begin(from: Self.address(number)) }
      guard round % 50 == 0 else { continue }
      #expect(rig.places.unidentifiedCount <= 2_500)
    }
    #expect(rig.begin(from: Self.address(1 << 20)) != nil)
  }

  @Test("a newcomer replaces the oldest session of the address with most of them")
  func replaced() {
    var rig = Rig(places: SessionSlots(capacity: 16))
    // Four slots; one address occupies half of them.
    let first = (1...3).map { _ in rig.begin(from: Self.address(1)) }
    #expect(first[1] != nil && first[2] == nil)
    for number in 2...3 { _ = rig.begin(from: Self.address(number)) }
    #expect(
      rig.places.decision(for: Self.address(4), isIdentified: false)
        == first[0].map { .replace($0) })
    #expect(rig.begin(from: Self.address(4)) != nil)
    #expect(rig.places.decision(for: Self.address(2), isIdentified: false) == .refuse(.full))
  }

  @Test("a session with a token is never replaced, and counts towards its user")
  func identified() throws {
    var rig = Rig(places: SessionSlots(capacity: 4))
    for user in ["ada", "ben", "cyd", "dan"] {
      let begun = rig.begin(from: Self.address(1))
      let id = try #require(begun)
      #expect(rig.places.identify(id, as: Self.identity(user)) == nil)
      #expect(rig.places.isIdentified(id) && rig.places.unidentifiedCount == 0)
    }
    #expect(rig.places.decision(for: Self.address(2), isIdentified: false) == .refuse(.full))
    // When one session ends, the newcomer takes its slot, until its user has too many.
    rig.places.leave(ConnectionID(1))
    let begun = rig.begin(from: Self.address(2))
    let id = try #require(begun)
    #expect(rig.places.identify(id, as: Self.identity("ben")) == .share)
    #expect(rig.places.unidentifiedCount == 1)
    #expect(rig.places.identify(id, as: Self.identity("eve")) == nil)
    // Identifying again changes nothing. Another user takes the session over if a slot is free.
    #expect(rig.places.identify(id, as: Self.identity("eve")) == nil)
    #expect(rig.places.identify(id, as: Self.identity("ada")) == .full)
    rig.places.leave(ConnectionID(2))
    #expect(rig.places.identify(id, as: Self.identity("ada")) == nil)
    #expect(rig.places.count == 3)
  }

  @Test("guests of a link count by address")
  func guests() throws {
    var guest = Self.identity("share/n")
    guest.isGuest = true
    var rig = Rig(places: SessionSlots(capacity: 10))
    var count = 0
    while let id = rig.begin(from: Self.address(1)), rig.places.identify(id, as: guest) == nil {
      count += 1
    }
    #expect(count == 5)
    let begun = rig.begin(from: Self.address(2))
    let id = try #require(begun)
    #expect(rig.places.identify(id, as: guest) == nil)
  }

  @Test("the counts always equal the numbers of sessions", arguments: UInt64(1)...30)
  func counts(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var rig = Rig(places: SessionSlots(capacity: 40))
    var known: Set<ConnectionID> = []
    var all: Set<ConnectionID> = []
    for _ in 0..<2_000 {
      let address = random.chance(10) ? nil : Self.address(random.below(12))
      switch random.below(4) {
      case 0, 1:
        let before = rig.places.decision(for: address, isIdentified: false)
        if let id = rig.begin(from: address) { all.insert(id) }
        if case .replace(let old) = before {
          #expect(!known.contains(old))
          all.remove(old)
        }
      case 2:
        guard let id = all.randomElement(using: &random) else { continue }
        let user = "user \(random.below(5))"
        if rig.places.identify(id, as: Self.identity(user)) == nil { known.insert(id) }
      default:
        guard let id = all.randomElement(using: &random) else { continue }
        rig.places.leave(id)
        known.remove(id)
        all.remove(id)
      }
      #expect(rig.places.count == all.count && all.count <= 40)
      #expect(rig.places.unidentifiedCount == all.count - known.count)
      #expect(rig.places.unidentifiedCount <= 10)
    }
  }

  // MARK: In the gateway

  private static let handshake =
    #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["long-polling"]}"#

  private static let poll = "/socket/?EIO=4&transport=polling"

  @Test(
    "10,000 handshakes of one address leave slots for clients at other addresses",
    arguments: [true, false], ["bayeux", "socketIO"])
  func handshakes(isDemo: Bool, family: String) {
    let rig = GatewayRig(isDemo: isDemo)
    var refusals = 0
    for _ in 0..<10_000 {
      let answer =
        family == "bayeux"
        ? rig.request("POST", "/faye", from: "192.0.2.1", Self.handshake)
        : rig.request("GET", Self.poll, from: "192.0.2.1")
      let isRefused = answer.status != 200 || answer.body.contains("\"successful\":false")
      refusals += isRefused ? 1 : 0
    }
    #expect(refusals >= 5_000)
    #expect(rig.metrics.sessionsRefused["share"] ?? 0 > 0 || family == "socketIO")
    let bayeux = rig.request("POST", "/faye", from: "192.0.2.2", Self.handshake)
    #expect(bayeux.body.contains("\"successful\":true"))
    #expect(rig.request("GET", Self.poll, from: "192.0.2.3").status == 200)
  }

  @Test("refused handshakes contain different retry times")
  func advice() throws {
    let rig = GatewayRig { $0.dialects.sessionsMax = 4 }
    #expect(
      rig.request("POST", "/faye", from: "192.0.2.1", Self.handshake).body.contains("clientId"))
    let answers = (0..<2).map { _ in
      rig.request("POST", "/faye", from: "192.0.2.1", Self.handshake).body
    }
    for answer in answers {
      let advice = try #require(
        answer.firstRange(of: #""advice":{"reconnect":"handshake","interval":"#))
      let interval = try #require(Int(answer[advice.upperBound...].prefix { $0.isNumber }))
      #expect((1_000...5_000).contains(interval))
    }
    #expect(answers[0] != answers[1])
    let request = rig.begin("GET", Self.poll, headers: [:], from: "192.0.2.1")
    let response = try #require(rig.response(request))
    #expect([429, 503].contains(response.status))
    let seconds = response.headers.first { $0.name == "retry-after" }.flatMap { Int($0.value) }
    #expect((1...5).contains(try #require(seconds)))
  }

  @Test("a Bayeux session without a token ends within seconds; a session with a token remains")
  func bayeuxExpires() {
    let rig = GatewayRig()
    rig.book?.enter("ada", user: "ada", [Grant(.rooms, NamePattern("*"), .all)])
    func begin() -> String {
      let answer = rig.request("POST", "/faye", from: "192.0.2.1", Self.handshake).body
      return answer.firstRange(of: #""clientId":""#).map {
        String(answer[$0.upperBound...].prefix { $0 != "\"" })
      } ?? ""
    }
    func say(_ channel: String, _ client: String, _ more: String) -> String {
      let message = #"{"channel":"\#(channel)","clientId":"\#(client)",\#(more)}"#
      return rig.request("POST", "/faye", from: "192.0.2.1", message).body
    }
    let (silent, connected, publishing, subscribed) = (begin(), begin(), begin(), begin())
    #expect(
      say("/meta/connect", connected, #""connectionType":"long-polling","advice":{"timeout":0}"#)
        .contains("true"))
    #expect(say("/a", publishing, #""data":1,"ext":{"access_token":"ada"}"#).contains("true"))
    #expect(
      say("/meta/subscribe", subscribed, #""subscription":"/a","ext":{"access_token":"ada"}"#)
        .contains("true"))
    func isThere(_ client: String) -> Bool {
      !say("/meta/unsubscribe", client, #""subscription":"/b""#).contains("401")
    }
    rig.pass(milliseconds: 9_999)
    for client in [silent, connected, publishing, subscribed] { #expect(isThere(client)) }
    rig.pass(milliseconds: 1)
    #expect(!isThere(silent) && isThere(connected))
    rig.pass(milliseconds: 5_000)
    #expect(!isThere(connected))
    rig.pass(milliseconds: 10_000)
    #expect(isThere(publishing) && isThere(subscribed))
    #expect(rig.metrics.sessionsExpired == 2)
  }

  @Test("a Socket.IO session that only polls ends soon after the time to authenticate")
  func socketIOExpires() {
    let rig = GatewayRig()
    let opening = rig.request("GET", Self.poll, from: "192.0.2.1").body
    let path = Self.poll + "&sid=" + opening.split(separator: "\"")[3]
    rig.pass(milliseconds: 15_000)
    #expect(rig.metrics.sessionsExpired == 1)
    rig.pass(milliseconds: 5_000)
    #expect(rig.request("GET", path, from: "192.0.2.1").status == 400)
  }

  @Test("a replaced session ends at once")
  func replacedInGateway() {
    let rig = GatewayRig { $0.dialects.sessionsMax = 8 }
    let opening = rig.request("GET", Self.poll, from: "192.0.2.1").body
    let path = Self.poll + "&sid=" + opening.split(separator: "\"")[3]
    for number in 2...3 {
      #expect(rig.request("GET", Self.poll, from: "192.0.2.\(number)").status == 200)
    }
    #expect(rig.metrics.sessionsReplaced == 1)
    #expect(rig.request("GET", path, from: "192.0.2.1").status == 400)
  }
}
