import Gateway
import ParleyGatewayPorts
import ParleySimulationKit
import Testing

@Suite("Resuming over Socket.IO: connection state recovery")
struct RecoveryTests {
  /// A client over a WebSocket, and the state that it has received.
  private struct Client {
    var id: UInt64
    var name = ""
    var recoveryID: String?
    var offset: String?
    /// Events without their offsets.
    var events: [String] = []
    var isRefused = false

    /// Returns the string value of a key.
    private static func text(_ key: String, in frame: String) -> String? {
      guard let start = frame.firstRange(of: "\"\(key)\":\"")?.upperBound else { return nil }
      return frame[start...].split(separator: "\"", omittingEmptySubsequences: false).first
        .map(String.init)
    }

    mutating func take(_ frames: [String]) {
      for frame in frames {
        if frame.hasPrefix("40") {
          name = Self.text("sid", in: frame) ?? ""
          recoveryID = Self.text("pid", in: frame)
        } else if frame.hasPrefix("44") {
          isRefused = true
        } else if frame.hasPrefix("42"), recoveryID != nil,
          let comma = frame.lastIndex(of: ",")
        {
          offset = String(frame[comma...].dropFirst(2).dropLast(2))
          events.append(frame[..<comma] + "]")
        } else if frame.hasPrefix("42") {
          events.append(frame)
        }
      }
    }

    /// The published numbers in the order of arrival.
    var numbers: [Int] {
      events.compactMap { event in
        event.firstRange(of: #""n":"#).flatMap {
          Int(event[$0.upperBound...].prefix { $0.isNumber })
        }
      }
    }
  }

  /// - Parameter hello: the content of CONNECT.
  private func connect(_ rig: GatewayRig, _ hello: String) -> Client {
    var client = Client(
      id: rig.connect(as: .socketIO(query: "EIO=4&transport=websocket", address: "a")))
    rig.say(client.id, "40" + hello)
    client.take(rig.frames(client.id))
    return client
  }

  /// Returns a client that has joined `r` as `user` and can resume.
  private func join(_ rig: GatewayRig, as user: String = "ada") -> Client {
    rig.book?.enter(user, user: user, [Grant(.rooms, NamePattern("*"), .all)])
    var client = connect(rig, #"{"recovery":true,"token":"\#(user)"}"#)
    rig.say(client.id, #"42["realtime:join",{"name":"r"}]"#)
    client.take(rig.frames(client.id))
    client.events = []
    return client
  }

  private func publish(_ number: Int, in room: String = "r", _ rig: GatewayRig) {
    let body = #"{"publications":[{"room":"\#(room)","data":{"n":\#(number)}}]}"#
    #expect(rig.request("POST", "/api/publish", token: "pk_publisher", body).status == 200)
  }

  private func comeBack(_ client: Client, _ rig: GatewayRig, token: String? = "ada") -> Client {
    let token = token.map { #","token":"\#($0)""# } ?? ""
    let offset = client.offset.map { #","offset":"\#($0)""# } ?? ""
    return connect(rig, #"{"pid":"\#(client.recoveryID ?? "")"\#(offset)\#(token)}"#)
  }

  @Test("a resuming client receives missed events once and in order, and stays in its rooms")
  func comesBack() {
    let rig = GatewayRig()
    var client = join(rig)
    publish(1, rig)
    client.take(rig.frames(client.id))
    #expect(client.numbers == [1])
    rig.close(client.id)
    publish(2, rig)
    publish(3, rig)
    var back = comeBack(client, rig)
    #expect(back.recoveryID == client.recoveryID && back.name == client.name)
    publish(4, rig)
    back.take(rig.frames(back.id))
    #expect(back.numbers == [2, 3, 4])
    // The client can resume again from there.
    rig.close(back.id)
    publish(5, rig)
    #expect(comeBack(back, rig).numbers == [5])
  }

  @Test("a connection that is lost unnoticed is taken over, and lost events are sent again")
  func takeover() {
    let rig = GatewayRig()
    let client = join(rig)
    publish(1, rig)
    let back = comeBack(client, rig)
    #expect(back.numbers == [1])
    #expect(rig.closeCodes[client.id] == 1000)
    rig.close(client.id)
    publish(2, rig)
    var after = back
    after.take(rig.frames(back.id))
    #expect(after.numbers == [1, 2])
  }

  @Test("only clients that request positions get them, and none if recovery is disabled")
  func asking() {
    let rig = GatewayRig(isDemo: true)
    #expect(connect(rig, "").recoveryID == nil)
    #expect(connect(rig, "{}").recoveryID == nil)
    #expect(connect(rig, #"{"recovery":true}"#).recoveryID != nil)
    let off = GatewayRig(isDemo: true) { $0.dialects.recoveryMilliseconds = 0 }
    #expect(connect(off, #"{"recovery":true}"#).recoveryID == nil)
    let all = GatewayRig(isDemo: true) { $0.dialects.recoversAllClients = true }
    #expect(connect(all, "").recoveryID != nil)
  }

  @Test("a session id is not sufficient to resume: missed events wait for the same user")
  func bound() {
    let rig = GatewayRig()
    var client = join(rig)
    publish(1, rig)
    client.take(rig.frames(client.id))
    rig.close(client.id)
    publish(2, rig)
    rig.book?.enter("eve", user: "eve")
    // Another user with the id starts a new session.
    var thief = comeBack(client, rig, token: "eve")
    #expect(thief.recoveryID != client.recoveryID && thief.numbers.isEmpty)
    // The other user gets nothing by authenticating later.
    thief = comeBack(client, rig, token: nil)
    #expect(thief.numbers.isEmpty)
    publish(3, rig)
    rig.say(thief.id, #"42["authenticate",{"token":"eve"}]"#)
    thief.take(rig.frames(thief.id))
    #expect(thief.numbers.isEmpty)
    #expect(rig.closeCodes[thief.id] != nil)
    // The owner has lost nothing, and authenticates by an event as old apps do.
    var back = comeBack(client, rig, token: nil)
    #expect(back.numbers.isEmpty)
    rig.say(back.id, #"42["authenticate",{"token":"ada"}]"#)
    back.take(rig.frames(back.id))
    #expect(back.numbers == [2, 3])
    #expect(back.events.last == #"42["authenticated"]"#)
  }

  @Test("an invalid token is refused with CONNECT")
  func refused() {
    let rig = GatewayRig()
    #expect(connect(rig, #"{"token":"garbage"}"#).isRefused)
  }

  @Test("a session can be resumed for a limited time")
  func time() {
    let rig = GatewayRig()
    let client = join(rig)
    rig.close(client.id)
    rig.pass(milliseconds: 119_999)
    var back = comeBack(client, rig)
    #expect(back.recoveryID == client.recoveryID)
    rig.close(back.id)
    rig.pass(milliseconds: 120_000)
    publish(1, rig)
    back = comeBack(client, rig)
    #expect(back.recoveryID != client.recoveryID && back.numbers.isEmpty)
  }

  @Test("missed events are limited in bytes; beyond that a client starts a new session")
  func bytes() {
    let rig = GatewayRig { $0.dialects.recoveryBytesMax = 100_000 }
    let client = join(rig)
    rig.close(client.id)
    let long = String(repeating: "x", count: 10_000)
    for _ in 0..<11 {
      let body = #"{"publications":[{"room":"r","data":"\#(long)"}]}"#
      #expect(rig.request("POST", "/api/publish", token: "pk_publisher", body).status == 200)
    }
    let back = comeBack(client, rig)
    #expect(back.recoveryID != client.recoveryID)
  }

  @Test("an inactive client in busy rooms can resume, because it has answered pings")
  func quiet() {
    let rig = GatewayRig { $0.dialects.recoveryBytesMax = 100_000 }
    let client = join(rig)
    rig.book?.enter("bob", user: "bob", [Grant(.rooms, NamePattern("*"), .all)])
    var busy = connect(rig, #"{"recovery":true,"token":"bob"}"#)
    rig.say(busy.id, #"42["realtime:join",{"name":"s"}]"#)
    for round in 0..<20 {
      for _ in 0..<100 { publish(round, in: "s", rig) }
      rig.pass(milliseconds: 25_000)
      for id in [client.id, busy.id] { rig.say(id, "3") }
    }
    rig.close(client.id)
    publish(7, rig)
    let back = comeBack(client, rig)
    #expect(back.recoveryID == client.recoveryID && back.numbers == [7])
    busy.take(rig.frames(busy.id))
    #expect(busy.numbers.count == 2_000)
  }

  @Test("an old or invalid position skips no events")
  func strangePlaces() {
    let rig = GatewayRig()
    var client = join(rig)
    rig.close(client.id)
    publish(1, rig)
    for offset in ["", "x.1", "1", "zzzz", client.offset.map { $0 + "zz" } ?? ""] {
      client.offset = offset
      let back = comeBack(client, rig)
      #expect(back.recoveryID == client.recoveryID, "\(offset)")
      #expect(back.numbers == [1], "\(offset)")
      rig.close(back.id)
    }
  }

  @Test("a client that leaves, is disconnected or breaks the protocol cannot resume")
  func endings() {
    let rig = GatewayRig()
    for last in ["41", "2", "4x", #"42["authenticate",{"token":"garbage"}]"#] {
      let client = join(rig)
      rig.say(client.id, last)
      rig.close(client.id)
      let back = comeBack(client, rig)
      #expect(back.recoveryID != client.recoveryID, "\(last)")
    }
  }

  @Test("an expired or revoked token ends a disconnected session, too")
  func tokens() throws {
    let rig = GatewayRig()
    let client = join(rig)
    rig.book?.enter("brief", user: "ada", expiresAt: rig.clock.now + 1_000)
    rig.say(client.id, #"42["authenticate",{"token":"brief"}]"#)
    rig.close(client.id)
    rig.pass(milliseconds: 1_000)
    #expect(comeBack(client, rig).recoveryID != client.recoveryID)
    let other = join(rig)
    rig.close(other.id)
    rig.revocations.addFromOtherProcess(.user("ada", before: rig.clock.now + 1))
    rig.pass(milliseconds: 1)
    rig.book?.enter("new", user: "ada", issuedAt: rig.clock.now + 1)
    #expect(comeBack(other, rig, token: "new").recoveryID != other.recoveryID)
  }

  @Test("joining a room with a position delivers each event once, whenever the connection breaks")
  func currentFailures() {
    let rig = GatewayRig()
    publish(1, rig)
    var client = join(rig)
    rig.say(client.id, #"42["realtime:join",{"name":"r","position":{"epoch":"x","offset":0}}]"#)
    client.take(rig.frames(client.id))
    rig.close(client.id)
    publish(2, rig)
    let back = comeBack(client, rig)
    #expect(back.numbers == [2])
    // The event contains its offset, as the client had asked.
    #expect(back.events.first?.contains(#""offset":2"#) ?? false)
  }

  @Test("a client that resumes with fewer rights does not receive events that it may not read")
  func fewerRights() {
    let rig = GatewayRig()
    let client = join(rig)
    rig.say(client.id, #"42["realtime:join",{"name":"s"}]"#)
    _ = rig.frames(client.id)
    rig.close(client.id)
    publish(1, rig)
    publish(2, in: "s", rig)
    rig.book?.enter("less", user: "ada", [Grant(.rooms, NamePattern("s"), .all)])
    var back = comeBack(client, rig, token: "less")
    #expect(back.recoveryID == client.recoveryID && back.numbers == [2])
    publish(3, rig)
    publish(4, in: "s", rig)
    back.take(rig.frames(back.id))
    #expect(back.numbers == [2, 4])
  }

  @Test("a polling session can be resumed, too")
  func polling() {
    let rig = GatewayRig()
    let client = join(rig)
    rig.close(client.id)
    publish(1, rig)
    let query = "/socket/?EIO=4&transport=polling"
    let opening = rig.request("GET", query, from: "b").body
    let path = query + "&sid=" + opening.split(separator: "\"")[3]
    let hello = #"40{"pid":"\#(client.recoveryID ?? "")","token":"ada"}"#
    let rest = #"42["realtime:leave",{"name":"s"}]"#
    #expect(rig.request("POST", path, from: "b", hello + "\u{1e}" + rest).body == "ok")
    let packets = rig.request("GET", path, from: "b").body.split(separator: "\u{1e}")
      .map(String.init)
    var back = Client(id: 0)
    back.take(packets)
    #expect(back.recoveryID == client.recoveryID && back.numbers == [1])
    #expect(back.events.last?.contains("realtime:leave:success") ?? false)
  }

  @Test("disconnected sessions of one user leave room for those of others")
  func shares() {
    let rig = GatewayRig { $0.dialects.sessionsMax = 8 }
    let patient = join(rig, as: "a")
    rig.close(patient.id)
    for _ in 0..<20 {
      let client = join(rig, as: "b")
      rig.close(client.id)
    }
    #expect(comeBack(patient, rig, token: "a").recoveryID == patient.recoveryID)
  }

  @Test("disconnected sessions are limited in number, and the oldest are removed first")
  func number() {
    let rig = GatewayRig { $0.dialects.sessionsMax = 3 }
    let clients = ["a", "b", "c", "d"].map { user in
      let client = join(rig, as: user)
      rig.close(client.id)
      return client
    }
    #expect(comeBack(clients[0], rig, token: "a").recoveryID != clients[0].recoveryID)
    #expect(comeBack(clients[3], rig, token: "d").recoveryID == clients[3].recoveryID)
  }
}
