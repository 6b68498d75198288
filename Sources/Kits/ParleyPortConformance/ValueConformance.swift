import ParleyGatewayPorts
import ParleyJSON
import ParleyOTWorkloads

/// Requirements for values of rooms.
extension DocumentStoreConformance {
  static let values: [ConformanceCheck] = [
    ConformanceCheck("values and data of a room have one order, and values outlive the history") {
      rig in
      let forgets = RoomRetention(publicationsMax: 1, ageMax: 1_000)
      try expect(rig.publish("r", "1", forgets), 1, "the offset of data")
      try expect(
        rig.change("r", #"[{"set":"card","to":{"b":1,"a":[1.50]}}]"#, forgets), 2, "of a change")
      let both = try rig.changing(
        "r", #"[{"merge":"card","with":{"b":null,"c":"x"}},{"add":"votes","by":2}]"#,
        data: "\"moved\"", forgets)
      let epoch = try rig.page("r", .newest).head.epoch
      try expect(
        both, .published(RoomPosition(epoch: epoch, offset: 3), time: 1, isRepeated: false),
        "the reply to both")
      let expected = [
        "card=" + #"{"a":[1.50],"c":"x"}"# + "@3", "votes=2@3",
      ]
      for _ in 0..<2 {
        try expect(rig.valueTexts("r"), expected, "the values")
        let page = try rig.page("r", .newest, forgets)
        try expect(page.head.offset, 3, "the head")
        try expect(page.publications.map(\.offset), [3], "the history")
        try expect(
          page.publications.first?.data, JSONValue(trusted: Array("\"moved\"".utf8)), "the data")
        try expect(
          page.publications.first?.values.map { String(decoding: $0.utf8, as: UTF8.self) },
          #"[{"merge":"card","with":{"b":null,"c":"x"}},{"add":"votes","by":2}]"#,
          "the operations")
        try rig.restart()
      }
      try expect(rig.change("r", #"[{"delete":"card"}]"#, time: 900_000, forgets), 4, "a deletion")
      try expect(
        rig.page("r", .newest, forgets, now: 900_000).publications.map(\.data), [nil], "no data")
      rig.maintain()
      try expect(rig.valueTexts("r"), ["votes=2@3"], "the values after housekeeping")
    },
    ConformanceCheck("a change whose conditions do not hold has no effect") { rig in
      try expect(
        rig.changing("r", #"[{"set":"a","to":1}]"#, ifPosition: 1),
        .outdated(rig.page("r", .newest).head), "a position of an empty room")
      try expect(
        rig.change("r", #"[{"set":"a","to":1}]"#, if: ["a": 0], ifPosition: 0), 1, "the first")
      let value = RoomValue(value: JSONValue(1), offset: 1)
      let change = #"[{"set":"a","to":2},{"set":"b","to":2}]"#
      try expect(
        rig.changing("r", change, if: ["a": 0, "b": 0]), .valuesRefused(.conflict(["a": value])),
        "a name that there is")
      try expect(
        rig.changing("r", change, if: ["c": 1]), .valuesRefused(.conflict(["c": nil])),
        "a name that there is not")
      try expect(
        rig.changing("r", change, ifPosition: 0), .outdated(rig.page("r", .newest).head),
        "another position")
      try expect(
        rig.changing("r", #"[{"set":"b","to":"x"},{"add":"b","by":1}]"#),
        .valuesRefused(.notAnInteger(index: 1)), "an addition to a text")
      try expect(rig.valueTexts("r"), ["a=1@1"], "the values")
      try expect(rig.page("r", .newest).head.offset, 1, "the head")
      try expect(rig.change("r", change, if: ["a": 1, "b": 0], ifPosition: 1), 2, "the next")
      try rig.restart()
      try expect(rig.valueTexts("r"), ["a=2@2", "b=2@2"], "after a restart")
    },
    ConformanceCheck("a change under a key is made once, and a retry meets no condition") { rig in
      let change = #"[{"add":"n","by":1}]"#
      try expect(rig.change("r", change, key: "k", if: ["n": 0], ifPosition: 0), 1, "the first")
      let epoch = try rig.page("r", .newest).head.epoch
      try expect(
        rig.changing("r", change, key: "k", if: ["n": 0], ifPosition: 0),
        .published(RoomPosition(epoch: epoch, offset: 1), time: 1, isRepeated: true), "the retry")
      try expect(
        rig.changing("r", #"[{"add":"n","by":2}]"#, key: "k"), .keyReused, "another change")
      try expect(
        rig.changing("r", change, key: "k", data: "1"), .keyReused, "the change with data")
      try expect(
        rig.changing("r", change, key: "other", if: ["n": 0]),
        .valuesRefused(.conflict(["n": RoomValue(value: JSONValue(1), offset: 1)])), "refused")
      try expect(rig.change("r", change, key: "other"), 2, "a key of a refused change")
      try expect(rig.valueTexts("r"), ["n=2@2"], "the values")
    },
    ConformanceCheck("values are read by name, by prefix, and page by page") { rig in
      let names = [
        "", "a", "card/1", "card/10", "card/2", "e\u{301}", "z\u{0}", "\u{e9}", "\u{1f426}",
      ]
      let operations = names.dropFirst().map {
        ValueOperation(ValueName($0), .set(JSONValue($0)))
      }
      _ = try rig.changing("r", ValueChange(operations))
      _ = try rig.change("other", #"[{"set":"a","to":0}]"#)
      func read(_ prefix: String, after: ValueName? = nil, _ countMax: Int = 99, bytes: Int = 999)
        throws -> [String]
      {
        let page = try rig.values(
          "r", ValueQuery(.prefix(prefix, after: after), countMax: countMax, bytesMax: bytes))
        try expect(page.head.offset, 1, "the position")
        return page.values.map(\.name.text) + (page.hasMore ? ["…"] : [])
      }
      let all = Array(names.dropFirst())
      try expect(read(""), all, "all")
      try expect(read("card/"), ["card/1", "card/10", "card/2"], "a prefix")
      try expect(read("card/1", 1), ["card/1", "…"], "a page")
      try expect(read("card/", after: "card/1", 2), ["card/10", "card/2"], "the last page")
      try expect(read("card/", after: "card/2"), [], "after all")
      try expect(read("card/", after: "a"), ["card/1", "card/10", "card/2"], "before all")
      try expect(read("card/", after: "d"), [], "beyond")
      try expect(read("", bytes: 1), ["a", "…"], "one at least")
      try expect(read("\u{e9}"), ["\u{e9}"], "the one of two that look alike")
      var pages: [String] = []
      while true {
        let page = try read("", after: pages.last.map { ValueName($0) }, 3)
        pages += page.filter { $0 != "…" }
        if page.last != "…" { break }
      }
      try expect(pages, all, "page by page")
      let one = try rig.values("r", ValueQuery(.one("card/10")))
      try expect(one.values.map(\.name), ["card/10"], "one")
      try expect(rig.values("r", ValueQuery(.one("card"))).values, [], "none")
      let known = try rig.values("r", ValueQuery(.prefix("", after: nil), known: one.head))
      try expect(known.isKnown && known.values.isEmpty, true, "a page that the reader has")
      try expect(known.head, one.head, "at the same position")
      let older = RoomPosition(epoch: one.head.epoch, offset: one.head.offset - 1)
      let newer = try rig.values("r", ValueQuery(.one("card/10"), known: older))
      try expect(newer, one, "a page that has changed since")
      let other = RoomPosition(epoch: "another", offset: one.head.offset)
      try expect(rig.values("r", ValueQuery(.one("card/10"), known: other)), one, "another epoch")
      let none = try rig.values("s", ValueQuery(.prefix("", after: nil)))
      try expect(none.values, [], "a room without values")
      try expect(none.head.offset, 0, "its position")
    },
    ConformanceCheck("a subscriber that cannot recover reads the values at the head") { rig in
      let limits = RoomRetention(publicationsMax: 2, ageMax: 1_000)
      for number in 1...4 { _ = try rig.change("r", #"[{"set":"n","to":\#(number)}]"#, limits) }
      let head = try rig.page("r", .newest).head
      func recover(_ offset: Int?) throws -> RoomRecovery {
        let reply = try rig.room(
          .recover(
            "r", from: offset.map { RoomPosition(epoch: head.epoch, offset: $0) }, limit: 9,
            bytesMax: 999, retention: limits, now: 10,
            values: ValueQuery(.prefix("", after: nil))))
        guard case .recovery(let recovery) = reply else { throw unexpected(reply, "a recovery") }
        return recovery
      }
      let values = RoomValuesPage(
        head: head, values: [NamedValue("n", RoomValue(value: JSONValue(4), offset: 4))],
        hasMore: false)
      try expect(recover(1), RoomRecovery(head: head, missed: nil, values: values), "too far back")
      try expect(recover(nil), RoomRecovery(head: head, missed: nil, values: values), "at first")
      let recent = try recover(2)
      try expect(recent.missed?.map(\.offset), [3, 4], "recent")
      try expect(recent.values, nil, "no values beside what was missed")
    },
    ConformanceCheck("a lifetime is stored, and follows a clock that is set back") { rig in
      _ = try rig.change("r", #"[{"set":"a","to":1,"ttl":5},{"set":"b","to":1}]"#, time: 9_000_000)
      try rig.restart()
      try expect(rig.expiry("r", "a"), .init(time: 9_005_000, lifetime: 5_000), "the end")
      _ = try rig.change("r", #"[{"set":"b","to":2}]"#, time: 1_000)
      try expect(
        rig.expiry("r", "a"), .init(time: 6_000, lifetime: 5_000), "after the clock was set back")
    },
    ConformanceCheck("values are bound to the client that publishes them") { rig in
      var draft = PublicationDraft(
        time: 1, data: nil,
        change: ValueChange([
          ValueOperation("seat", .set(JSONValue("ann")), lifetime: .connection)
        ]))
      draft.client = "c-1"
      _ = try rig.room(.publish("r", draft, retention: .standard, keyAge: 1))
      try rig.restart()
      try expect(
        rig.values("r", ValueQuery(.one("seat"))).values.map(\.value.holder), ["c-1"], "the holder")
    },
    ConformanceCheck("values that end are found by their time and by their client") { rig in
      _ = try rig.change(
        "r", #"[{"set":"b","to":1,"ttl":9},{"set":"a","to":1,"ttl":5}]"#, time: 1_000)
      _ = try rig.change("s", #"[{"set":"a","to":1,"ttl":7},{"set":"c","to":1}]"#, time: 1_000)
      for (client, room) in [("c-1", "r"), ("c-2", "r"), ("c-1", "s")] {
        var draft = PublicationDraft(
          time: 1, data: nil,
          change: ValueChange([
            ValueOperation(ValueName("of-" + client), .set(.null), lifetime: .connection)
          ]))
        draft.client = client
        _ = try rig.room(.publish(RoomName(room), draft, retention: .standard, keyAge: 1))
      }
      func ending(_ which: EndingValues, _ limit: Int = 9) throws -> [String] {
        let reply = try rig.room(.ending(which, limit: limit))
        guard case .ending(let values, let next) = reply else { throw unexpected(reply, "values") }
        try expect(next, 6_000, "the next end")
        return values.map {
          "\($0.room)/\($0.name)@\($0.offset)" + ($0.holder.map { " " + $0 } ?? "")
        }
      }
      try rig.restart()
      try expect(ending(.expired(at: 5_999)), [], "before the first end")
      try expect(ending(.expired(at: 8_000)), ["r/a@1", "s/a@1"], "those that have ended")
      try expect(ending(.expired(at: 10_000), 1), ["r/a@1"], "as many as asked for")
      try expect(
        ending(.held(by: "c-1")), ["r/of-c-1@2 c-1", "s/of-c-1@2 c-1"], "those of a client")
      try expect(ending(.held(by: "c")), [], "those of another")
      try expect(
        ending(.heldByAny(after: nil), 2), ["r/of-c-1@2 c-1", "s/of-c-1@2 c-1"], "those of any")
      let place = EndingValue(room: "s", name: "of-c-1", offset: 2, holder: "c-1")
      try expect(ending(.heldByAny(after: place)), ["r/of-c-2@3 c-2"], "those of the others")
    },
    ConformanceCheck("the limits of a room's values hold across restarts") { rig in
      var limits = ValueLimits()
      limits.namesMax = 2
      limits.bytesMax = 20
      func change(_ json: String) throws -> RoomReply {
        try rig.changing("r", json, limits: limits)
      }
      _ = try change(#"[{"set":"a","to":1},{"set":"b","to":1}]"#)
      try rig.restart()
      try expect(
        change(#"[{"set":"c","to":1}]"#), .valuesRefused(.tooManyNames(namesMax: 2)), "names")
      try expect(
        change(#"[{"set":"a","to":"0123456789abcdef"}]"#),
        .valuesRefused(.tooManyBytes(bytesMax: 20)), "bytes")
      _ = try change(#"[{"delete":"a"},{"set":"c","to":1}]"#)
      try expect(rig.valueTexts("r"), ["b=1@1", "c=1@2"], "the values")
    },
    ConformanceCheck("random changes agree with the fold of the accepted ones") { rig in
      for seed in UInt64(1)...4 { try runChanges(seed: seed, rig) }
    },
  ]

  private static func runChanges(seed: UInt64, _ rig: StoreRig) throws {
    var random = SplitMix64(seed: seed)
    var room = RoomValues()
    var head = 0
    let name = RoomName("room-\(seed)")
    let names: [ValueName] = ["a", "b", "\u{e9}", "e\u{301}", "__proto__"]
    for _ in 0..<40 {
      let operations = (0...random.below(3)).map { _ in
        let name = names[random.below(names.count)]
        switch random.below(4) {
        case 0: return ValueOperation(name, .set(["x": JSONValue(random.below(9))]))
        case 1: return ValueOperation(name, .delete)
        case 2: return ValueOperation(name, .merge(["y": random.chance(50) ? .null : JSONValue(1)]))
        default: return ValueOperation(name, .add(random.between(-2, 2)))
        }
      }
      var change = ValueChange(operations)
      if random.chance(30) { change.ifOffsets[names[0]] = room[names[0]]?.offset ?? 0 }
      if random.chance(10) { change.ifOffsets[names[1]] = random.below(head + 1) }
      var expected: ValueRefusal?
      do throws(ValueRefusal) {
        try room.apply(change, at: ValueOrigin(offset: head + 1, time: 1))
        head += 1
      } catch {
        expected = error
      }
      let reply = try rig.changing(name, change)
      switch reply {
      case .published(let position, _, _):
        try expect(expected, nil, "the refusal of an accepted change, seed \(seed)")
        try expect(position.offset, head, "the offset, seed \(seed)")
      default: try expect(reply, expected.map { .valuesRefused($0) }, "the refusal, seed \(seed)")
      }
      if random.chance(10) { try rig.restart() }
      let found = try rig.values(name, ValueQuery(.prefix("", after: nil)))
      try expect(
        found.values, room.inOrder.map { NamedValue($0.name, $0.value) }, "the values, seed \(seed)"
      )
    }
  }
}

extension StoreRig {
  func changing(
    _ room: RoomName, _ change: ValueChange, key: String? = nil, data: String? = nil,
    ifPosition: Int? = nil, time: Timestamp = 1, limits: ValueLimits = ValueLimits(),
    _ retention: RoomRetention = .standard
  ) throws -> RoomReply {
    var draft = PublicationDraft(
      key: key, time: time, data: data.map { JSONValue(trusted: Array($0.utf8)) }, change: change)
    draft.limits = limits
    if let ifPosition {
      draft.ifPosition = RoomPosition(
        epoch: try page(room, .newest).head.epoch, offset: ifPosition)
    }
    return try self.room(.publish(room, draft, retention: retention, keyAge: 1_000))
  }

  func changing(
    _ room: RoomName, _ json: String, key: String? = nil, data: String? = nil,
    if conditions: [ValueName: Int] = [:], ifPosition: Int? = nil, time: Timestamp = 1,
    limits: ValueLimits = ValueLimits(), _ retention: RoomRetention = .standard
  ) throws -> RoomReply {
    guard let operations = ValueOperation.list(in: JSONValue(trusted: Array(json.utf8))) else {
      throw ConformanceFailure("the operations of a check are malformed")
    }
    return try changing(
      room, ValueChange(operations, ifOffsets: conditions), key: key, data: data,
      ifPosition: ifPosition, time: time, limits: limits, retention)
  }

  /// Changes values, and returns the publication's offset.
  func change(
    _ room: RoomName, _ json: String, key: String? = nil, if conditions: [ValueName: Int] = [:],
    ifPosition: Int? = nil, time: Timestamp = 1, _ retention: RoomRetention = .standard
  ) throws -> Int {
    let reply = try changing(
      room, json, key: key, if: conditions, ifPosition: ifPosition, time: time, retention)
    guard case .published(let position, _, _) = reply else { throw unexpected(reply, "a place") }
    return position.offset
  }

  func values(_ room: RoomName, _ query: ValueQuery) throws -> RoomValuesPage {
    let reply = try self.room(.values(room, query))
    guard case .values(let page) = reply else { throw unexpected(reply, "values") }
    return page
  }

  func expiry(_ room: RoomName, _ name: ValueName) throws -> RoomValue.Expiry? {
    try values(room, ValueQuery(.one(name))).values.first?.value.expiry
  }

  /// Returns all values of a room as texts: `name=value@offset`.
  func valueTexts(_ room: RoomName) throws -> [String] {
    try values(room, ValueQuery(.prefix("", after: nil))).values.map {
      "\($0.name)=\(String(decoding: $0.value.value.utf8, as: UTF8.self))@\($0.value.offset)"
    }
  }
}
