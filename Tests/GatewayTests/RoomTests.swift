import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Rooms with memory")
struct RoomTests {
  private func publish(
    _ rig: GatewayRig, _ id: UInt64, _ json: String, in room: String = "r", key: String? = nil
  ) throws -> ServerMessage.Published {
    let data = try #require(JSONValue(json.utf8))
    let reply = rig.ask(id, .publish(.init(room: room, data: data, key: key)))
    guard case .published(let published) = reply else { throw Unexpected(message: reply) }
    return published
  }

  private func subscribe(
    _ rig: GatewayRig, _ id: UInt64, _ room: String = "r", from position: RoomPosition? = nil
  ) throws -> ServerMessage.Subscribed {
    let reply = rig.ask(id, .subscribe(.init(room: room, position: position)))
    guard case .subscribed(let subscribed) = reply else { throw Unexpected(message: reply) }
    return subscribed
  }

  private func offsets(_ rig: GatewayRig, _ id: UInt64) -> [Int] {
    rig.pushes(id).compactMap {
      if case .publication(let push) = $0 { push.publication.offset } else { nil }
    }
  }

  private func code(_ reply: ServerMessage?) -> ErrorCode? {
    if case .error(let failure) = reply { failure.code } else { nil }
  }

  @Test("a publication reaches all subscribers with its offset and its person")
  func publishing() throws {
    let rig = GatewayRig()
    let (ann, _) = try rig.connectNative(rig.token("ann", [Grant(.rooms, NamePattern("*"), .all)]))
    let (ben, _) = try rig.connectNative(rig.token("ben", [Grant(.rooms, NamePattern("*"), .read)]))
    let at = try subscribe(rig, ben).position
    #expect(at.offset == 0)
    let published = try publish(rig, ann, "{\"x\":1.5}")
    #expect(published.position == RoomPosition(epoch: at.epoch, offset: 1))
    let pushes = rig.pushes(ben)
    guard case .publication(let push) = pushes.first, pushes.count == 1 else {
      throw Unexpected(message: pushes.first)
    }
    #expect(push.publication.personID == "ann")
    #expect(push.publication.data == JSONValue("{\"x\":1.5}".utf8))
    #expect(push.epoch == at.epoch)
    #expect(offsets(rig, ann) == [])
  }

  @Test("a resuming subscriber receives missed publications, then new ones")
  func recovery() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    let start = try subscribe(rig, ben).position
    _ = try publish(rig, ann, "1")
    #expect(offsets(rig, ben) == [1])
    rig.close(ben)
    _ = try publish(rig, ann, "2")
    _ = try publish(rig, ann, "3")
    let (again, _) = try rig.connectNative(nil)
    let resumed = try subscribe(
      rig, again, from: RoomPosition(epoch: start.epoch, offset: 1))
    #expect(resumed.isRecovered == true)
    #expect(resumed.publications.map(\.offset) == [2, 3])
    #expect(resumed.position.offset == 3)
    _ = try publish(rig, ann, "4")
    #expect(offsets(rig, again) == [4])
    // A subscriber at the head misses nothing.
    let current = try subscribe(rig, ann, from: RoomPosition(epoch: start.epoch, offset: 4))
    #expect(current.isRecovered == true)
    #expect(current.publications == [])
  }

  @Test("beyond the window a client is notified of the gap, and receives no missed publications")
  func beyondTheWindow() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.roomMemories = [
        RoomRetentionRule(NamePattern("short-*"), RoomRetention(publicationsMax: 2, ageMax: 1_000)),
        RoomRetentionRule(NamePattern("*"), RoomRetention(publicationsMax: 100, ageMax: 1_000)),
      ]
    }
    let (ann, _) = try rig.connectNative(nil)
    let epoch = try subscribe(rig, ann, "short-1").position.epoch
    for number in 1...4 { _ = try publish(rig, ann, "\(number)", in: "short-1") }
    let gone = try subscribe(rig, ann, "short-1", from: RoomPosition(epoch: epoch, offset: 1))
    #expect(gone.isRecovered == false)
    #expect(gone.publications == [])
    #expect(gone.position.offset == 4)
    let kept = try subscribe(rig, ann, "short-1", from: RoomPosition(epoch: epoch, offset: 2))
    #expect(kept.isRecovered == true)
    #expect(kept.publications.map(\.offset) == [3, 4])
    // Publications also expire by age.
    _ = try publish(rig, ann, "1", in: "long")
    rig.pass(milliseconds: 2_000)
    let old = try subscribe(rig, ann, "long", from: RoomPosition(epoch: epoch, offset: 0))
    #expect(old.isRecovered == false)
    // A position of another history cannot be recovered.
    let other = try subscribe(rig, ann, "long", from: RoomPosition(epoch: "other", offset: 1))
    #expect(other.isRecovered == false)
  }

  @Test("a client position ahead of the store starts another epoch")
  func ahead() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let first = try publish(rig, ann, "1").position
    let ahead = try subscribe(rig, ann, from: RoomPosition(epoch: first.epoch, offset: 9))
    #expect(ahead.isRecovered == false)
    #expect(ahead.position.epoch != first.epoch)
    #expect(ahead.position.offset == 1)
    let stale = try subscribe(rig, ann, from: first)
    #expect(stale.isRecovered == false)
    #expect(
      try publish(rig, ann, "2").position == RoomPosition(epoch: ahead.position.epoch, offset: 2))
  }

  @Test("a key is published once, and refused for other data")
  func keys() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    _ = try subscribe(rig, ben)
    let first = try publish(rig, ann, "1", key: "k")
    let again = try publish(rig, ann, "1", key: "k")
    #expect(!first.isRepeated && again.isRepeated)
    #expect(first.position == again.position)
    #expect(offsets(rig, ben) == [1])
    #expect(code(rig.ask(ann, .publish(.init(room: "r", data: .null, key: "k")))) == .keyReused)
  }

  @Test("uncommitted publications are not delivered")
  func commits() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    _ = try subscribe(rig, ann)
    rig.store.commitsToFail = 1
    let reply = rig.ask(ann, .publish(.init(room: "r", data: .null, key: "k")))
    guard case .error(let failure) = reply else { throw Unexpected(message: reply) }
    #expect(failure.code == .unavailable && failure.retryable)
    #expect(offsets(rig, ann) == [])
    #expect(try publish(rig, ann, "null", key: "k").position.offset == 1)
    #expect(offsets(rig, ann) == [1])
  }

  @Test("each action in a room needs its right")
  func rights() throws {
    let rig = GatewayRig()
    let (ann, _) = try rig.connectNative(
      rig.token(
        "ann",
        [
          Grant(.rooms, NamePattern("in"), .publish), Grant(.rooms, NamePattern("out"), .read),
        ]))
    #expect(code(rig.ask(ann, .publish(.init(room: "out", data: .null)))) == .notAllowed)
    #expect(code(rig.ask(ann, .publish(.init(room: "in", data: .null)))) == nil)
    #expect(code(rig.ask(ann, .subscribe(.init(room: "in")))) == .notAllowed)
    #expect(code(rig.ask(ann, .roomHistory(.init(room: "in")))) == .notAllowed)
    #expect(code(rig.ask(ann, .roomHistory(.init(room: "out")))) == nil)
  }

  @Test("exceeding any limit is answered with an error")
  func limits() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.limits.publicationBytesMax = 10
      $0.limits.roomBytesMax = 5
      $0.limits.keyBytesMax = 5
      $0.limits.pageMax = 3
    }
    let (ann, _) = try rig.connectNative(nil)
    let long = try #require(JSONValue("\"123456789\"".utf8))
    let messages: [(ClientMessage, ErrorCode)] = [
      (.publish(.init(room: "r", data: long)), .tooLarge),
      (.publish(.init(room: "r", data: .null, key: "123456")), .tooLarge),
      (.publish(.init(room: "r", data: .null, senderID: "123456")), .tooLarge),
      (.publish(.init(room: "", data: .null)), .tooLarge),
      (.publish(.init(room: "123456", data: .null)), .tooLarge),
      (.subscribe(.init(room: "123456")), .tooLarge),
      (.unsubscribe(.init(room: "123456")), .tooLarge),
      (.roomHistory(.init(room: "123456")), .tooLarge),
      (.roomHistory(.init(room: "r", limit: 4)), .badMessage),
      (.roomHistory(.init(room: "r", limit: 0)), .badMessage),
      (.roomHistory(.init(room: "r", since: 1, before: 2)), .badMessage),
      (.roomHistory(.init(room: "r", since: -1)), .badMessage),
    ]
    for (message, expected) in messages { #expect(code(rig.ask(ann, message)) == expected) }
  }

  @Test("history has pages of twenty, forwards and backwards")
  func pages() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    for number in 1...45 { _ = try publish(rig, ann, "\(number)") }
    func page(_ since: Int?, _ before: Int?) throws -> ServerMessage.RoomHistory {
      let reply = rig.ask(ann, .roomHistory(.init(room: "r", since: since, before: before)))
      guard case .roomHistory(let page) = reply else { throw Unexpected(message: reply) }
      return page
    }
    #expect(try page(nil, nil).publications.map(\.offset) == Array(26...45))
    #expect(try page(nil, 26).publications.map(\.offset) == Array(6...25))
    #expect(try page(nil, 6).publications.map(\.offset) == Array(1...5))
    #expect(try page(nil, 6).hasMore == false)
    #expect(try page(20, nil).publications.map(\.offset) == Array(21...40))
    #expect(try page(20, nil).hasMore)
    #expect(try page(40, nil).hasMore == false)
  }

  @Test("HTTP requests publish one or several publications, and read them")
  func http() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    _ = try subscribe(rig, ann, "a/b")
    let single = rig.request("POST", "/api/rooms/a%2Fb/publish", "{\"data\":[1.5],\"key\":\"k\"}")
    #expect(single.status == 200)
    #expect(single.body.hasPrefix("{\"room\":\"a/b\",\"epoch\":"))
    #expect(single.body.hasSuffix(",\"offset\":1,\"repeated\":false}"))
    #expect(
      rig.request("POST", "/api/rooms/a%2Fb/publish", "{\"data\":[1.5],\"key\":\"k\"}").body
        .hasSuffix(",\"offset\":1,\"repeated\":true}"))
    #expect(
      rig.request("POST", "/api/rooms/a%2Fb/publish", "{\"data\":2,\"key\":\"k\"}").status == 409)
    let batch = rig.request(
      "POST", "/api/publish",
      "{\"publications\":[{\"room\":\"a/b\",\"data\":2},{\"room\":\"\",\"data\":3},{\"data\":4},"
        + "{\"room\":\"a/b\",\"data\":5}]}")
    #expect(batch.status == 200)
    #expect(batch.body.contains("\"code\":\"tooLarge\""))
    #expect(batch.body.contains("\"code\":\"badMessage\""))
    #expect(offsets(rig, ann) == [1, 2, 3])
    let history = rig.request("GET", "/api/rooms/a%2Fb/history?since=1&limit=1")
    #expect(history.status == 200)
    #expect(history.body.contains("\"offset\":2"))
    #expect(history.body.hasSuffix("\"gap\":false,\"more\":true}"))
    for (method, path, body, status) in [
      ("POST", "/api/rooms/r/publish", "{}", 400), ("POST", "/api/rooms/r/publish", "[", 400),
      ("GET", "/api/rooms/r/publish", "", 405), ("POST", "/api/rooms/r/history", "", 405),
      ("GET", "/api/rooms/r/history?since=x", "", 400),
      ("GET", "/api/rooms/r/history?since=1&before=2", "", 400),
      ("GET", "/api/rooms/r/history?limit=1000", "", 400),
      ("POST", "/api/rooms/%zz/publish", "{\"data\":1}", 400),
      ("POST", "/api/rooms//publish", "{\"data\":1}", 413),
      ("POST", "/api/publish", "{\"publications\":[]}", 400), ("GET", "/api/publish", "", 405),
      ("GET", "/api/rooms/r/nothing", "", 404),
    ] {
      #expect(rig.request(method, path, body).status == status, "\(method) \(path)")
    }
  }

  @Test("a batch over the limit is not read to its end")
  func longBatch() {
    let rig = GatewayRig(isDemo: true) { $0.limits.pageMax = 3 }
    func statuses(_ list: String) -> Int {
      rig.request("POST", "/api/publish", #"{"publications":[\#(list)"#).status
    }
    let part = #"{"room":"r","data":1}"#
    #expect(statuses("\(part),\(part),\(part)]}") == 200)
    #expect(statuses("{},{},{},{}, and no JSON") == 413)
    #expect(statuses("{},{},{}, and no JSON") == 400)
    // Of two lists the last one counts, but both are parsed.
    #expect(statuses(#"7],"publications":[\#(part)]}"#) == 400)
    #expect(statuses(#"{}],"publications":[\#(part)]}"#) == 200)
    #expect(statuses(#"{},{}],"publications":[\#(part),\#(part)]}"#) == 413)
  }

  @Test("HTTP requests need their rights")
  func httpRights() throws {
    let rig = GatewayRig()
    let token = rig.token("app", [Grant(.rooms, NamePattern("mine"), [.publish])])
    #expect(rig.request("POST", "/api/rooms/mine/publish", "{\"data\":1}").status == 401)
    func status(_ path: String, _ body: String, _ method: String = "POST") -> Int {
      rig.request(method, path, token: token, body).status
    }
    #expect(status("/api/rooms/mine/publish", "{\"data\":1}") == 200)
    #expect(status("/api/rooms/other/publish", "{\"data\":1}") == 403)
    #expect(status("/api/rooms/mine/history", "", "GET") == 403)
    let batch = rig.request(
      "POST", "/api/publish", token: token,
      "{\"publications\":[{\"room\":\"other\",\"data\":1}]}")
    #expect(batch.body.contains("notAllowed"))
  }

  @Test("subscribers of the list of notes are notified when tags change")
  func tags() throws {
    let rig = GatewayRig(isDemo: true)
    let (reader, _) = try rig.connectNative(nil)
    let (other, _) = try rig.connectNative(nil)
    _ = try subscribe(rig, reader, "notes")
    rig.tagsChange()
    let news = rig.pushes(reader).compactMap { push in
      if case .resourceUpdate(let update) = push { update.resourceID } else { nil as String? }
    }
    #expect(news == ["tags"])
    #expect(rig.pushes(other).isEmpty)
  }

  @Test("a Whaler client whose pool is the room receives a resource update")
  func whaler() throws {
    let rig = GatewayRig(isDemo: true)
    let whaler = rig.connectWhaler(pool: "org-1", token: nil)
    #expect(
      rig.request("POST", "/api/rooms/org-1/publish", "{\"data\":1,\"senderId\":\"me\"}").status
        == 200)
    let frame = try #require(rig.frames(whaler).last)
    #expect(frame.contains("\"type\":\"resourceUpdate\""))
    #expect(frame.contains("{\"resourceId\":\"org-1\",\"senderId\":\"me\"}"))
  }
}
