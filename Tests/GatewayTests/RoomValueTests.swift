import Gateway
import ParleyGatewayPorts
import ParleyJSON
import ParleyOTWorkloads
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Values of rooms, over sockets")
struct RoomValueTests {
  private func operations(_ json: String) throws -> ValueOperationList {
    let value = try #require(JSONValue(json.utf8))
    return ValueOperationList(try #require(ValueOperation.list(in: value)))
  }

  private func change(
    _ json: String, data: String? = nil, if offsets: [ValueName: Int]? = nil,
    ifPosition: RoomPosition? = nil, key: String? = nil
  ) throws -> ClientMessage {
    var publish = ClientMessage.Publish(room: "r", data: .null, key: key)
    publish.data = data.map { JSONValue(trusted: Array($0.utf8)) }
    publish.values = json.isEmpty ? nil : try operations(json)
    publish.ifOffsets = offsets.map(ValueOffsets.init)
    publish.ifPosition = ifPosition
    return .publish(publish)
  }

  private func subscription(_ prefix: String? = "", from position: RoomPosition? = nil)
    -> ClientMessage
  {
    var subscribe = ClientMessage.Subscribe(room: "r", position: position)
    subscribe.values = prefix.map { ValueNames(prefix: $0) }
    return .subscribe(subscribe)
  }

  private func subscribed(_ reply: ServerMessage?) throws -> ServerMessage.Subscribed {
    guard case .subscribed(let subscribed) = reply else { throw Unexpected(message: reply) }
    return subscribed
  }

  private func failure(_ reply: ServerMessage?) throws -> ServerMessage.Failure {
    guard case .error(let failure) = reply else { throw Unexpected(message: reply) }
    return failure
  }

  private func offset(_ reply: ServerMessage?) throws -> Int {
    guard case .published(let published) = reply else { throw Unexpected(message: reply) }
    return published.position.offset
  }

  private func publications(_ messages: [ServerMessage]) -> [Publication] {
    messages.compactMap { if case .publication(let push) = $0 { push.publication } else { nil } }
  }

  private func text(_ value: JSONValue?) -> String? {
    value.map { String(decoding: $0.utf8, as: UTF8.self) }
  }

  @Test("each subscriber gets the values of the room's position, whoever has subscribed before")
  func snapshots() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    // Prefixes that look alike are different.
    let prefixes = ["", "\u{e9}", "e\u{301}", "b"]
    for number in 1...3 {
      for name in ["\u{e9}", "e\u{301}"] {
        _ = try offset(rig.ask(ann, change(#"[{"set":"\#(name)","to":\#(number)}]"#)))
      }
      for prefix in prefixes + prefixes {
        let (reader, _) = try rig.connectNative(nil)
        let reply = try subscribed(rig.ask(reader, subscription(prefix)))
        let expected: [NamedValues.Item] = [
          .init("e\u{301}", JSONValue(number), offset: 2 * number),
          .init("\u{e9}", JSONValue(number), offset: 2 * number - 1),
        ]
        #expect(reply.position.offset == 2 * number)
        #expect(
          reply.values?.all == expected.filter { $0.name.text.utf8.starts(with: prefix.utf8) })
      }
    }
  }

  @Test("subscribers with values get the operations, and others only data")
  func delivery() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    let (cat, _) = try rig.connectNative(nil)
    let empty = try subscribed(rig.ask(ben, subscription()))
    #expect(empty.values == NamedValues())
    #expect(try subscribed(rig.ask(cat, subscription(nil))).values == nil)
    #expect(try offset(rig.ask(ann, change(#"[ {"set" : "a", "to" : {"b":1}} ]"#))) == 1)
    #expect(try offset(rig.ask(ann, change(#"[{"add":"n","by":1}]"#, data: "\"hi\""))) == 2)
    #expect(try offset(rig.ask(ann, change("", data: "3"))) == 3)
    let seen = publications(rig.pushes(ben))
    #expect(seen.map(\.offset) == [1, 2, 3])
    #expect(
      seen.map { text($0.values) } == [
        #"[{"set":"a","to":{"b":1}}]"#, #"[{"add":"n","by":1}]"#, nil,
      ])
    #expect(seen.map { text($0.data) } == [nil, "\"hi\"", "3"])
    let others = publications(rig.pushes(cat))
    #expect(others.map(\.offset) == [2, 3])
    #expect(others.allSatisfy { $0.values == nil && $0.data != nil })
    // The same holds for what a resuming subscriber has missed, and for history.
    let start = RoomPosition(epoch: empty.position.epoch, offset: 0)
    let missed = try subscribed(rig.ask(ben, subscription("", from: start)))
    #expect(missed.isRecovered == true)
    #expect(missed.publications.map(\.offset) == [1, 2, 3])
    #expect(missed.values == nil)
    let less = try subscribed(rig.ask(cat, subscription(nil, from: start)))
    #expect(less.publications.map(\.offset) == [2, 3])
    #expect(less.position.offset == 3)
    for (id, offsets) in [(ben, [1, 2, 3]), (cat, [2, 3]), (ann, [2, 3])] {
      guard case .roomHistory(let page) = rig.ask(id, .roomHistory(.init(room: "r"))) else {
        throw Unexpected(message: nil)
      }
      #expect(page.publications.map(\.offset) == offsets)
    }
  }

  @Test("a block hides data and author, and no operation")
  func blocks() throws {
    let rig = GatewayRig()
    let grants = [Grant(.rooms, NamePattern("*"), .all)]
    let (ann, _) = try rig.connectNative(rig.token("ann", grants))
    let (ben, _) = try rig.connectNative(rig.token("ben", grants))
    let start = try subscribed(rig.ask(ben, subscription())).position
    rig.ask(ben, .block(.init(personID: "ann", isBlocked: true)))
    _ = rig.pushes(ben)
    rig.ask(ann, try change(#"[{"add":"n","by":1}]"#, data: "\"hi\""))
    rig.ask(ann, try change("", data: "2"))
    let live = publications(rig.pushes(ben))
    let missed = try subscribed(rig.ask(ben, subscription("", from: start))).publications
    for seen in [live, missed] {
      #expect(seen.map(\.offset) == [1])
      #expect(text(seen.first?.values) == #"[{"add":"n","by":1}]"#)
      #expect(seen.first?.data == nil)
      #expect(seen.first?.personID == nil)
    }
  }

  @Test("a page of history is empty only if no publication with data is left")
  func historyPages() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    rig.ask(ann, try change("", data: "1"))
    for _ in 0..<30 { rig.ask(ann, try change(#"[{"add":"n","by":1}]"#)) }
    guard case .roomHistory(let page) = rig.ask(ann, .roomHistory(.init(room: "r", limit: 2)))
    else { throw Unexpected(message: nil) }
    #expect(page.publications.map(\.offset) == [1])
    #expect(page.position.offset == 31)
  }

  @Test("who loses a race is told the current values, or the head")
  func conditions() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    #expect(try offset(rig.ask(ann, change(#"[{"set":"a","to":1}]"#, if: ["a": 0]))) == 1)
    let lost = try failure(rig.ask(ben, change(#"[{"set":"a","to":2}]"#, if: ["a": 0, "b": 7])))
    #expect(lost.code == .conflict)
    #expect(!lost.retryable)
    #expect(
      lost.values?.all == [
        .init("a", JSONValue(1), offset: 1), .init("b", nil, offset: 0),
      ])
    let epoch = try subscribed(rig.ask(ben, subscription())).position.epoch
    let stale = RoomPosition(epoch: epoch, offset: 0)
    let outdated = try failure(rig.ask(ben, change("", data: "1", ifPosition: stale)))
    #expect(outdated.code == .outdated)
    #expect(outdated.position == RoomPosition(epoch: epoch, offset: 1))
    let head = RoomPosition(epoch: epoch, offset: 1)
    #expect(try offset(rig.ask(ben, change("", data: "1", ifPosition: head))) == 2)
    #expect(try offset(rig.ask(ben, change(#"[{"set":"a","to":2}]"#, if: ["a": 1]))) == 3)
  }

  @Test("a condition needs the right to read, for its refusal contains what is there")
  func rights() throws {
    let rig = GatewayRig()
    let pattern = NamePattern("*")
    let (ann, _) = try rig.connectNative(rig.token("ann", [Grant(.rooms, pattern, .publish)]))
    let (ben, _) = try rig.connectNative(rig.token("ben", [Grant(.rooms, pattern, .read)]))
    #expect(try offset(rig.ask(ann, change(#"[{"set":"a","to":1}]"#))) == 1)
    let position = RoomPosition(epoch: "e", offset: 1)
    for message in [
      try change(#"[{"set":"a","to":1}]"#, if: ["a": 0]),
      try change("", data: "1", ifPosition: position),
      .values(.init(room: "r")), subscription(),
    ] { #expect(try failure(rig.ask(ann, message)).code == .notAllowed) }
    #expect(try failure(rig.ask(ben, change(#"[{"set":"a","to":1}]"#))).code == .notAllowed)
    #expect(try subscribed(rig.ask(ben, subscription())).values?.all.count == 1)
  }

  @Test("what is no change is refused, and nothing is published")
  func refusals() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.valueLimits.valueBytesMax = 10
      $0.valueLimits.namesMax = 1
      $0.limits.publicationBytesMax = 100
    }
    let (ann, _) = try rig.connectNative(nil)
    let cases: [(ClientMessage, ErrorCode)] = [
      (try change(""), .badMessage),
      (try change("[]"), .badMessage),
      (try change(#"[{"set":"a","to":"0123456789"}]"#), .tooLarge),
      (try change(#"[{"set":"a","to":1},{"set":"b","to":1}]"#), .tooMany),
      (try change(#"[{"set":"a","to":"x"},{"add":"a","by":1}]"#), .badOperation),
      (try change(#"[{"delete":"\#(String(repeating: "x", count: 99))"}]"#), .tooLarge),
    ]
    for (message, code) in cases { #expect(try failure(rig.ask(ann, message)).code == code) }
    #expect(try subscribed(rig.ask(ann, subscription())).position.offset == 0)
    let long = String(repeating: "x", count: 201)
    #expect(try failure(rig.ask(ann, subscription(long))).code == .tooLarge)
    #expect(try failure(rig.ask(ann, .values(.init(room: "r", prefix: long)))).code == .tooLarge)
  }

  @Test("a failed recovery brings the values in its place")
  func failedRecovery() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.roomRetention = RoomRetention(publicationsMax: 1, ageMax: 1_000)
    }
    let (ann, _) = try rig.connectNative(nil)
    for _ in 0..<3 { rig.ask(ann, try change(#"[{"add":"n","by":1}]"#)) }
    let epoch = try subscribed(rig.ask(ann, subscription(nil))).position.epoch
    for position in [
      RoomPosition(epoch: epoch, offset: 1), RoomPosition(epoch: "other", offset: 3),
      RoomPosition(epoch: epoch, offset: 9),
    ] {
      let (ben, _) = try rig.connectNative(nil)
      let reply = try subscribed(rig.ask(ben, subscription("", from: position)))
      #expect(reply.isRecovered == false)
      #expect(reply.values?.all == [.init("n", JSONValue(3), offset: 3)])
      #expect(reply.position.offset == 3)
    }
  }

  @Test("pages and operations give everybody the fold of the log", arguments: UInt64(1)...60)
  func mirrors(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let rig = GatewayRig(isDemo: true) {
      $0.valuePageBytes = 40
      $0.roomRetention = RoomRetention(publicationsMax: 4, ageMax: 1_000_000)
    }
    let (author, _) = try rig.connectNative(nil)
    var oracle = RoomValues()
    var head = 0
    var readers: [(id: UInt64, mirror: ValueMirror)] = []
    func publish() throws {
      let names: [ValueName] = ["a", "b", "c", "d", "\u{e9}", "z"]
      let list = (0...random.below(2)).map { _ in
        let name = names[random.below(names.count)]
        return random.chance(20)
          ? ValueOperation(name, .delete) : ValueOperation(name, .add(random.between(1, 9)))
      }
      let change = ValueChange(list)
      var message = ClientMessage.Publish(room: "r", data: .null)
      message.data = nil
      message.values = ValueOperationList(list)
      head += 1
      #expect(try offset(rig.ask(author, .publish(message))) == head)
      try oracle.apply(change, at: ValueOrigin(offset: head, time: 0))
    }
    func hear(_ index: Int) {
      for publication in publications(rig.pushes(readers[index].id)) {
        let operations = publication.values.flatMap(ValueOperation.list) ?? []
        let changed = readers[index].mirror.apply(operations, offset: publication.offset)
        #expect(changed != nil)
      }
    }
    for _ in 0..<40 {
      if random.chance(60) { try publish() }
      if random.chance(20), readers.count < 4 {
        let (id, _) = try rig.connectNative(nil)
        let reply = try subscribed(rig.ask(id, subscription()))
        var mirror = ValueMirror(at: reply.position)
        let isOfHistory = mirror.add(reply.page, at: reply.position, hasMore: reply.hasMore)
        #expect(isOfHistory)
        readers.append((id, mirror))
      }
      for index in readers.indices where random.chance(50) {
        if random.chance(50) { hear(index) }
        guard let after = readers[index].mirror.nextAfter else { continue }
        let reply = rig.ask(readers[index].id, .values(.init(room: "r", after: after)))
        guard case .values(let page) = reply else { throw Unexpected(message: reply) }
        let isOfHistory = readers[index].mirror.add(
          page.page, at: page.position, hasMore: page.hasMore)
        #expect(isOfHistory)
      }
    }
    for index in readers.indices {
      while let after = readers[index].mirror.nextAfter {
        let reply = rig.ask(readers[index].id, .values(.init(room: "r", after: after)))
        guard case .values(let page) = reply else { throw Unexpected(message: reply) }
        let isOfHistory = readers[index].mirror.add(
          page.page, at: page.position, hasMore: page.hasMore)
        #expect(isOfHistory)
      }
      hear(index)
      #expect(readers[index].mirror.isComplete, "seed \(seed)")
      #expect(readers[index].mirror.values == oracle.values, "seed \(seed), reader \(index)")
    }
  }

  @Test("values over HTTP: rights, pages, entity tags, conditions and keys")
  func http() throws {
    let rig = GatewayRig()
    let pattern = NamePattern("*")
    for (user, verbs) in [
      ("all", Verbs.all), ("reader", .read), ("writer", .publish), ("signaller", .signal),
    ] { _ = rig.token(user, [Grant(.rooms, pattern, verbs)]) }
    func ask(
      _ method: String, _ path: String, _ body: String = "", as user: String = "all"
    ) -> (status: Int, body: String) {
      let answer = rig.request(method, "/api/rooms/r\(path)", token: user, body)
      return (answer.status, answer.body)
    }
    let change = #"{"values":[{"set":"a/b","to":{"x":1}},{"add":"n","by":2}],"key":"k"}"#
    #expect(ask("PATCH", "/values", change, as: "reader").status == 403)
    #expect(ask("PATCH", "/values", change, as: "writer").status == 200)
    #expect(ask("PATCH", "/values", change, as: "writer").body.contains(#""repeated":true"#))
    let page = ask("GET", "/values", as: "reader")
    #expect(page.status == 200)
    #expect(
      page.body.hasSuffix(
        #""values":{"a/b":{"value":{"x":1},"offset":1},"n":{"value":2,"offset":1}},"more":false}"#))
    #expect(ask("GET", "/values", as: "writer").status == 403)
    let first = ask("GET", "/values?limit=1").body
    #expect(first.contains(#""a/b""#) && first.hasSuffix(#""more":true}"#))
    #expect(ask("GET", "/values?after=a%2Fb&prefix=n").body.contains(#""n":{"value":2"#))
    #expect(ask("GET", "/values?limit=0").status == 400)
    for path in ["/values/a%2Fb", "/values?name=a/b"] {
      #expect(ask("GET", path).body.hasSuffix(#""value":{"x":1},"offset":1}"#), "\(path)")
    }
    #expect(ask("GET", "/values/none").status == 404)
    #expect(ask("GET", "/values/n", as: "signaller").status == 403)
    let lost = #"{"values":[{"delete":"n"}],"ifOffsets":{"n":9}}"#
    #expect(ask("PATCH", "/values", lost, as: "writer").status == 403)
    let conflict = ask("PATCH", "/values", lost)
    #expect(conflict.status == 409)
    #expect(conflict.body.contains(#""code":"conflict""#))
    #expect(conflict.body.contains(#""values":{"n":{"value":2,"offset":1}}"#))
    let outdated = ask(
      "POST", "/publish", #"{"data":1,"ifPosition":{"epoch":"other","offset":1}}"#)
    #expect(outdated.status == 412)
    #expect(outdated.body.contains(#""position":{"epoch":""#))
    for body in [
      "{}", #"{"values":[]}"#, #"{"values":[{"set":"a"}]}"#, #"{"values":1}"#,
      #"{"values":[{"delete":"a"}],"ifOffsets":{"a":-1}}"#,
    ] { #expect(ask("PATCH", "/values", body).status == 400, "\(body)") }
    let many = (0..<300).map { _ in #"{"delete":"a"}"# }.joined(separator: ",")
    #expect(ask("PATCH", "/values", "{\"values\":[\(many)]}").status == 400)
    let bound = #"{"values":[{"set":"a","to":1,"while":"connected"}]}"#
    #expect(ask("PATCH", "/values", bound).status == 403)
    // Without values=true, history has what old readers know.
    #expect(ask("GET", "/history").body.contains(#""publications":[]"#))
    #expect(ask("GET", "/history?values=true").body.contains(#""values":[{"set":"a/b""#))
    // Entity tags.
    let known = rig.begin(
      "GET", "/api/rooms/r/values/n", headers: ["authorization": "Bearer all"])
    let tag = try #require(
      rig.response(known)?.headers.first { $0.name == "etag" }?.value)
    let again = rig.begin(
      "GET", "/api/rooms/r/values/n",
      headers: ["authorization": "Bearer all", "if-none-match": tag])
    #expect(rig.answer(again)?.status == 304)
    // Signals.
    let (id, _) = try rig.connectNative("reader")
    rig.ask(id, subscription(nil))
    let signal = #"{"name":"p","data":[1]}"#
    #expect(ask("POST", "/signal", signal, as: "signaller").status == 204)
    #expect(ask("POST", "/signal", signal, as: "writer").status == 204)
    #expect(ask("POST", "/signal", signal, as: "reader").status == 403)
    #expect(ask("POST", "/signal", "{}").status == 400)
    let heard = signals(rig.pushes(id))
    #expect(heard.map(\.name) == ["p", "p"])
    #expect(heard.allSatisfy { $0.clientID == nil })
  }

  @Test("a value with a lifetime is deleted by a publication, unless it was renewed")
  func lifetimes() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    rig.ask(ann, subscription())
    rig.ask(ann, try change(#"[{"set":"a","to":1,"ttl":5},{"set":"b","to":1,"ttl":5}]"#))
    rig.pass(milliseconds: 3_000)
    rig.ask(ann, try change(#"[{"set":"b","to":2,"ttl":60}]"#))
    rig.pass(milliseconds: 1_900)
    #expect(publications(rig.pushes(ann)).map(\.offset) == [1, 2])
    for _ in 0..<5 { rig.pass(milliseconds: 1_000) }
    let ended = publications(rig.pushes(ann))
    #expect(ended.map { text($0.values) } == [#"[{"delete":"a"}]"#])
    #expect(ended.first?.personID == nil)
    for _ in 0..<60 { rig.pass(milliseconds: 1_000) }
    #expect(publications(rig.pushes(ann)).map { text($0.values) } == [#"[{"delete":"b"}]"#])
    #expect(try subscribed(rig.ask(ann, subscription())).values == NamedValues())
  }

  @Test(
    "a value ends by the clock that its lifetime began with, or in its time after that was set back",
    arguments: [-3_600_000, -30_000, 0, 30_000, 3_600_000])
  func jumpingClock(ahead: Int64) throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    rig.ask(ann, subscription())
    rig.ask(ann, try change(#"[{"set":"a","to":1,"ttl":90},{"set":"b","to":1}]"#))
    rig.clock.set(aheadBy: ahead)
    // The next publication notices a clock that was set back by more than a minute.
    rig.ask(ann, try change(#"[{"add":"b","by":1}]"#))
    rig.pass(milliseconds: 1_000)
    #expect((rig.store.rooms.values(of: "r")["a"] == nil) == (ahead > 90_000))
    for _ in 0..<125 { rig.pass(milliseconds: 1_000) }
    #expect(rig.store.rooms.values(of: "r")["a"] == nil)
    #expect(rig.store.rooms.values(of: "r")["b"]?.value == JSONValue(2))
    let deletions = publications(rig.pushes(ann)).filter {
      text($0.values) == #"[{"delete":"a"}]"#
    }
    #expect(deletions.count == 1)
  }

  @Test("a bound value is deleted after the last connection of its client has ended")
  func boundValues() throws {
    let rig = GatewayRig(isDemo: true)
    let (ben, _) = try rig.connectNative(nil)
    rig.ask(ben, subscription())
    let (ann, welcome) = try rig.connectNative(nil)
    rig.ask(ann, try change(#"[{"set":"seat","to":"ann","while":"connected"}]"#))
    rig.close(ann)
    rig.pass(milliseconds: 4_000)
    // A client that returns within the grace period keeps its values.
    let (back, _) = try rig.connectNative(
      nil, client: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
    rig.pass(milliseconds: 60_000)
    #expect(publications(rig.pushes(ben)).map(\.offset) == [1])
    rig.close(back)
    rig.pass(milliseconds: 4_000)
    #expect(publications(rig.pushes(ben)) == [])
    for _ in 0..<3 { rig.pass(milliseconds: 1_000) }
    #expect(publications(rig.pushes(ben)).map { text($0.values) } == [#"[{"delete":"seat"}]"#])
  }

  @Test("a client that returns while its values are looked for keeps them, and loses them later")
  func returningHolder() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, welcome) = try rig.connectNative(nil)
    rig.ask(ann, try change(#"[{"set":"seat","to":"ann","while":"connected"}]"#))
    rig.close(ann)
    rig.isStepwise = true
    for _ in 0..<7 { rig.pass(milliseconds: 1_000) }
    #expect(!rig.stored.isEmpty)
    let (back, _) = try rig.connectNative(
      nil, client: .init(id: welcome.clientID, resumeToken: welcome.resumeToken))
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    rig.isStepwise = false
    #expect(rig.store.rooms.values(of: "r")["seat"] != nil)
    rig.close(back)
    for _ in 0..<8 { rig.pass(milliseconds: 1_000) }
    #expect(rig.store.rooms.values(of: "r")["seat"] == nil)
  }

  @Test("a slow subscriber of the latest values gets them once it has drained")
  func latest() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, _) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    var subscribe = ClientMessage.Subscribe(room: "r")
    subscribe.values = ValueNames()
    subscribe.isLatest = true
    rig.ask(ben, .subscribe(subscribe))
    rig.ask(ann, try change(#"[{"add":"n","by":1}]"#))
    #expect(publications(rig.pushes(ben)).map(\.offset) == [1])
    rig.queues.bytes[ben] = 100_000
    for _ in 0..<50 { rig.ask(ann, try change(#"[{"add":"n","by":1}]"#)) }
    #expect(rig.pushes(ben).isEmpty)
    rig.queues.bytes[ben] = nil
    rig.drain(ben)
    let caughtUp = rig.pushes(ben)
    guard case .values(let values) = caughtUp.first, caughtUp.count == 1 else {
      throw Unexpected(message: caughtUp.first)
    }
    #expect(values.values.all == [.init("n", JSONValue(51), offset: 51)])
    #expect(values.position.offset == 51)
    rig.ask(ann, try change(#"[{"add":"n","by":1}]"#))
    #expect(publications(rig.pushes(ben)).map(\.offset) == [52])
  }

  @Test("people are present with data, and the newest data of a person count")
  func presenceData() throws {
    let rig = GatewayRig(isDemo: true)
    let (ben, _) = try rig.connectNative(nil)
    rig.ask(ben, .subscribe(.init(room: "r", isPresent: true)))
    let (ann, welcome) = try rig.connectNative(nil)
    #expect(
      try failure(rig.ask(ann, .roomPresence(.init(room: "r", data: JSONValue(1))))).code
        == .notJoined)
    var subscribe = ClientMessage.Subscribe(room: "r", isPresent: true)
    subscribe.presenceData = JSONValue("away")
    rig.ask(ann, .subscribe(subscribe))
    func seen() -> [String?] {
      rig.pass(milliseconds: 1_000)
      return rig.pushes(ben).flatMap { message -> [String?] in
        guard case .roomPresence(let change) = message else { return [] }
        return (change.joined + change.updated)
          .filter { $0.personID.text.isExactly(welcome.clientID) }.map { text($0.data) }
      }
    }
    #expect(seen() == ["\"away\""])
    _ = rig.send(ann, .roomPresence(.init(room: "r", data: JSONValue(1))))
    _ = rig.send(ann, .roomPresence(.init(room: "r", data: JSONValue(2))))
    #expect(seen() == ["2"])
    _ = rig.send(ann, .roomPresence(.init(room: "r", data: nil)))
    #expect(seen() == [nil])
    let long = JSONValue(String(repeating: "x", count: 4_095))
    #expect(
      try failure(rig.ask(ann, .roomPresence(.init(room: "r", data: long)))).code == .tooLarge)
  }

  // MARK: Signals

  private func signals(_ messages: [ServerMessage]) -> [ServerMessage.Signal] {
    messages.compactMap { if case .signal(let signal) = $0 { signal } else { nil } }
  }

  private func signal(_ name: String, _ json: String) -> ClientMessage {
    .signal(.init(room: "r", name: name, data: JSONValue(trusted: Array(json.utf8))))
  }

  @Test("signals reach the other subscribers, the last of a name in a turn, and no disk")
  func signalling() throws {
    let rig = GatewayRig(isDemo: true)
    let (ann, welcome) = try rig.connectNative(nil)
    let (ben, _) = try rig.connectNative(nil)
    #expect(try failure(rig.ask(ann, signal("p", "1"))).code == .notJoined)
    rig.ask(ann, subscription(nil))
    rig.ask(ben, subscription())
    let commits = rig.store.commitCount
    rig.isStepwise = true
    for (name, json) in [("p", "1"), ("q", "2"), ("p", "3")] {
      _ = rig.send(ann, signal(name, json))
    }
    rig.isStepwise = false
    rig.pass(milliseconds: 0)
    let heard = signals(rig.pushes(ben))
    #expect(heard.map(\.name) == ["p", "q"])
    #expect(heard.map { text($0.data) } == ["3", "2"])
    #expect(heard.allSatisfy { $0.clientID == welcome.clientID && $0.room == "r" })
    #expect(signals(rig.pushes(ann)) == [])
    #expect(rig.store.commitCount == commits)
  }

  @Test("a signal has a right, limits and a rate")
  func signalLimits() throws {
    let rig = GatewayRig { $0.signalsPerSecondMax = 3 }
    let pattern = NamePattern("*")
    let (ann, _) = try rig.connectNative(
      rig.token("ann", [Grant(.rooms, pattern, [.read, .signal])]))
    let (ben, _) = try rig.connectNative(
      rig.token("ben", [Grant(.rooms, pattern, [.read, .publish])]))
    let (cat, _) = try rig.connectNative(rig.token("cat", [Grant(.rooms, pattern, .read)]))
    for id in [ann, ben, cat] { rig.ask(id, subscription(nil)) }
    #expect(try failure(rig.ask(cat, signal("p", "1"))).code == .notAllowed)
    let long = "\"" + String(repeating: "x", count: 4_095) + "\""
    #expect(try failure(rig.ask(ann, signal("p", long))).code == .tooLarge)
    #expect(
      try failure(rig.ask(ben, signal(String(repeating: "n", count: 201), "1"))).code == .tooLarge)
    _ = rig.send(ann, signal("p", "1"))
    _ = rig.send(ben, signal("p", "2"))
    #expect(signals(rig.pushes(cat)).map(\.personID) == ["ann", "ben"])
    _ = rig.send(ann, signal("p", "3"))
    let refused = try failure(rig.ask(ann, signal("p", "4")))
    #expect(refused.code == .tooFast)
    #expect((refused.retryAfter ?? 0) > 0)
    rig.pass(milliseconds: 1_000)
    _ = rig.send(ann, signal("p", "5"))
    #expect(text(signals(rig.pushes(cat)).last?.data) == "5")
  }
}

extension ServerMessage.Subscribed {
  /// The values of the first page.
  fileprivate var page: [(name: ValueName, value: RoomValue)] { (values ?? NamedValues()).page }
}

extension ServerMessage.Values {
  fileprivate var page: [(name: ValueName, value: RoomValue)] { values.page }
}

extension NamedValues {
  fileprivate var page: [(name: ValueName, value: RoomValue)] {
    all.compactMap { item in
      item.value.map { (item.name, RoomValue(value: $0, offset: item.offset)) }
    }
  }
}
