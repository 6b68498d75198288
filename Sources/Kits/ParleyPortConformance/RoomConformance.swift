import ParleyGatewayPorts
import ParleyJSON

/// Requirements for rooms.
extension DocumentStoreConformance {
  static let rooms: [ConformanceCheck] = [
    ConformanceCheck("publications are numbered from 1, and read as they were written") { rig in
      let first = try rig.recover("r", from: nil)
      try expect(first.head.offset, 0, "the offset of a room without publications")
      try require(first.missed == nil, "nothing to be recovered from nowhere")
      try expect(rig.publish("r", "1", time: 5), 1, "the first offset")
      try expect(rig.publish("r", "[\"\u{1f426}\",1.5]", person: "ann", time: 4), 2, "the second")
      let page = try rig.page("r", .since(0))
      let expected = [
        Publication(offset: 1, time: 5, data: JSONValue(trusted: Array("1".utf8))),
        // The time is at least that of the previous publication.
        Publication(
          offset: 2, time: 5, personID: "ann",
          data: JSONValue(trusted: Array("[\"\u{1f426}\",1.5]".utf8))),
      ]
      try expect(page.publications, expected, "the history")
      try expect(page.head, RoomPosition(epoch: first.head.epoch, offset: 2), "the head")
      try rig.restart()
      try expect(rig.page("r", .newest).publications, expected, "after a restart")
      try expect(rig.page("r", .newest).head, page.head, "the head after a restart")
      try expect(rig.publish("r", "3"), 3, "the offset after a restart")
    },
    ConformanceCheck("rooms whose names look alike are two") { rig in
      _ = try rig.publish("\u{e9}", "1")
      try expect(rig.publish("e\u{301}", "2"), 1, "the other's first offset")
      try expect(rig.page("\u{e9}", .newest).publications.count, 1, "the one's history")
    },
    ConformanceCheck("a key is published once") { rig in
      try expect(rig.publish("r", "1", key: "k", time: 10), 1, "the offset")
      try expect(rig.publish("r", "2"), 2, "another's offset")
      let again = try rig.publishing("r", "1", key: "k", time: 12)
      let epoch = try rig.page("r", .newest).head.epoch
      try expect(
        again,
        .published(RoomPosition(epoch: epoch, offset: 1), time: 10, isRepeated: true), "the reply")
      try expect(rig.publishing("r", "other", key: "k", time: 13), .keyReused, "another content")
      try expect(
        rig.publishing("r", "1", key: "k", person: "bob", time: 13), .keyReused, "another person")
      try expect(rig.publish("s", "1", key: "k"), 1, "in another room")
      try rig.restart()
      try expect(rig.publish("r", "1", key: "k", time: 14), 1, "after a restart")
      try expect(rig.page("r", .newest).publications.count, 2, "the history")
      // In this check, keys expire after 1,000 milliseconds.
      try expect(rig.publish("r", "1", key: "k", time: 2_000), 3, "long after")
    },
    ConformanceCheck("a subscriber gets all that it missed, or the answer that it cannot") { rig in
      for number in 1...5 { _ = try rig.publish("r", "\(number)", time: Timestamp(number)) }
      let epoch = try rig.page("r", .newest).head.epoch
      func missed(_ offset: Int, _ epoch: Epoch, retention: Int = 100, limit: Int = 100) throws
        -> [Int]?
      {
        try rig.recover(
          "r", from: RoomPosition(epoch: epoch, offset: offset),
          RoomRetention(publicationsMax: retention, ageMax: 1_000), limit: limit
        ).missed?.map(\.offset)
      }
      try expect(missed(2, epoch), [3, 4, 5], "within the window")
      try expect(missed(5, epoch), [], "at the head")
      try expect(missed(0, epoch), [1, 2, 3, 4, 5], "from the start")
      try expect(missed(6, epoch), nil, "ahead of the head")
      try expect(missed(-1, epoch), nil, "before the start")
      try expect(missed(2, "other"), nil, "of another history")
      try expect(missed(2, epoch, retention: 3), [3, 4, 5], "just within a smaller window")
      try expect(missed(1, epoch, retention: 3), nil, "just beyond a smaller window")
      try expect(missed(2, epoch, limit: 2), nil, "more than asked for")
      try expect(missed(5, epoch, retention: 0), [], "at the head, without memory")
      let late = try rig.recover(
        "r", from: RoomPosition(epoch: epoch, offset: 2),
        RoomRetention(publicationsMax: 9, ageMax: 100), now: 104)
      try expect(late.missed, nil, "too old")
    },
    ConformanceCheck("history is read forwards and backwards, page by page") { rig in
      for number in 1...7 { _ = try rig.publish("r", "\(number)", time: Timestamp(number)) }
      func page(_ range: RoomRange, _ limit: Int = 3, bytesMax: Int = 1_000) throws -> [Int] {
        let page = try rig.page("r", range, limit: limit, bytesMax: bytesMax)
        return page.publications.map(\.offset) + (page.hasMore ? [-1] : [])
      }
      try expect(page(.newest), [5, 6, 7, -1], "the newest")
      try expect(page(.before(5)), [2, 3, 4, -1], "before them")
      try expect(page(.before(2)), [1], "the oldest")
      try expect(page(.before(1)), [], "before all")
      try expect(page(.since(0)), [1, 2, 3, -1], "from the start")
      try expect(page(.since(4)), [5, 6, 7], "to the end")
      try expect(page(.since(7)), [], "at the end")
      try expect(page(.since(0), 7), [1, 2, 3, 4, 5, 6, 7], "all")
      try expect(page(.since(0), 7, bytesMax: 2), [1, 2, -1], "as many as fit")
      try expect(page(.since(0), 7, bytesMax: 0), [1, -1], "one at least")
      let retention = RoomRetention(publicationsMax: 4, ageMax: 1_000)
      try require(rig.page("r", .since(2), retention).hasGap, "a gap beyond the window")
      try require(!rig.page("r", .since(3), retention).hasGap, "no gap within it")
      try require(!rig.page("r", .since(7), retention).hasGap, "no gap at the head")
      let aged = try rig.page(
        "r", .since(0), RoomRetention(publicationsMax: 9, ageMax: 100), now: 105)
      try expect(aged.publications.map(\.offset), [6, 7], "what is young enough")
      try require(aged.hasGap, "a gap before what is young enough")
    },
    ConformanceCheck("what is beyond a room's memory is forgotten") { rig in
      let retention = RoomRetention(publicationsMax: 2, ageMax: 1_000)
      for number in 1...5 {
        _ = try rig.publish("r", "\(number)", time: Timestamp(number), retention)
      }
      try expect(
        rig.page("r", .since(0), retention).publications.map(\.offset), [4, 5], "by number")
      let none = RoomRetention(publicationsMax: 0, ageMax: 1_000)
      try expect(rig.publish("r", "6", none), 6, "the offset without memory")
      try expect(rig.page("r", .newest, none).publications, [], "without memory")
      _ = try rig.publish("r", "7", time: 7, retention)
      _ = try rig.publish("s", "1", time: 900_000, retention)
      rig.maintain()
      try expect(rig.page("r", .newest, retention, now: 900_000).publications, [], "by age")
      try expect(rig.page("r", .newest, retention).head.offset, 7, "the head after all that")
    },
    ConformanceCheck("a renewed epoch is another history") { rig in
      _ = try rig.publish("r", "1")
      let old = try rig.page("r", .newest).head
      guard
        case .recovery(let recovery) = try rig.room(
          .renewEpoch("r", from: old.epoch, to: "renewed"))
      else { throw ConformanceFailure("expected a recovery") }
      try expect(recovery.head, RoomPosition(epoch: "renewed", offset: 1), "the head")
      try expect(rig.recover("r", from: old).missed, nil, "the old position")
      _ = try rig.room(.renewEpoch("r", from: old.epoch, to: "again"))
      try expect(rig.page("r", .newest).head.epoch, "renewed", "renewed from another epoch")
      _ = try rig.room(.renewEpoch("s", from: old.epoch, to: "renewed too"))
      try rig.restart()
      try expect(rig.page("s", .newest).head.epoch, "renewed too", "a room without publications")
    },
    ConformanceCheck("the heads of many rooms are read in one request") { rig in
      let none = try rig.page("s", .newest).head
      _ = try rig.publish("r", "1", time: 7)
      _ = try rig.publish("r", "2", time: 9)
      let forgets = RoomRetention(publicationsMax: 0, ageMax: 1)
      _ = try rig.publish("t", "1", time: 8, forgets)
      let heads = [
        RoomHead(position: try rig.page("r", .newest).head, time: 9),
        RoomHead(position: none, time: 0),
        RoomHead(position: RoomPosition(epoch: none.epoch, offset: 1), time: 8),
        RoomHead(position: try rig.page("r", .newest).head, time: 9),
      ]
      try expect(rig.room(.heads(["r", "s", "t", "r"])), .heads(heads), "the heads")
      try expect(rig.room(.heads([])), .heads([]), "of none")
      try rig.restart()
      try expect(rig.room(.heads(["r", "s", "t", "r"])), .heads(heads), "after a restart")
    },
    ConformanceCheck("receipts rise, and never go back") { rig in
      let place = PublicationAddress(room: "r", offset: 1)
      func note(_ stage: ReceiptStage, _ person: PersonID) throws -> PeopleReply {
        try rig.people(.receipt(place, Receipt(personID: person, stage: stage)))
      }
      try expect(note(.read, "ben"), .unknownPublication, "before it is published")
      _ = try rig.publish("r", "1", person: "ann")
      let delivered = Receipt(personID: "ben", stage: .delivered)
      let read = Receipt(personID: "ben", stage: .read)
      let rises: [(ReceiptStage, Receipt, Bool)] = [
        (.delivered, delivered, true), (.delivered, delivered, false), (.read, read, true),
        (.delivered, read, false), (.read, read, false),
      ]
      for (stage, stands, isChanged) in rises {
        try expect(
          note(stage, "ben"), .receipt(stands, author: "ann", isChanged: isChanged), "a receipt")
      }
      _ = try note(.delivered, "al")
      try rig.restart()
      try expect(
        rig.people(.receipts(place)),
        .receipts([Receipt(personID: "al", stage: .delivered), read], author: "ann"), "all of them")
    },
    ConformanceCheck("flags, members, blocks and last times are kept") { rig in
      _ = try rig.publish("r", "1")
      let flag = PublicationFlag(offset: 1, personID: "ben", reason: "spam", time: 9)
      try expect(rig.people(.flag("r", flag)), .done, "a flag")
      var other = flag
      other.offset = 2
      try expect(rig.people(.flag("r", other)), .unknownPublication, "a flag of nothing")
      for person in ["b", "a", "c"] as [PersonID] {
        _ = try rig.people(.member("new", person, isMember: true))
        _ = try rig.people(
          .block(PersonBlock(person: "p", blocked: person), isBlocked: true))
      }
      _ = try rig.people(.member("new", "b", isMember: false))
      _ = try rig.people(.block(PersonBlock(person: "p", blocked: "b"), isBlocked: false))
      _ = try rig.people(.online(["ann", "ben"], 7))
      _ = try rig.people(.online(["ann"], 5))
      try rig.restart()
      try expect(rig.people(.flags("r", limit: 9)), .flags([flag]), "the flags")
      try expect(rig.people(.members("new")), .members(["a", "c"]), "the members")
      try expect(
        rig.people(.blocks),
        .blocks([
          PersonBlock(person: "p", blocked: "a"), PersonBlock(person: "p", blocked: "c"),
        ]), "the blocks")
      try expect(
        rig.people(.lastOnline(["ann", "x", "ben"])), .lastOnline([7, nil, 7]), "the times")
      _ = try rig.people(.unflag(PublicationAddress(room: "r", offset: 1), "ben"))
      try expect(rig.people(.flags("r", limit: 9)), .flags([]), "no flags")
    },
    ConformanceCheck("people whose names look alike are two") { rig in
      let (one, other): (PersonID, PersonID) = ("\u{e9}", "e\u{301}")
      let place = PublicationAddress(room: "r", offset: 1)
      _ = try rig.publish("r", "1")
      for person in [one, other] {
        _ = try rig.people(.member("r", person, isMember: true))
        _ = try rig.people(.block(PersonBlock(person: "p", blocked: person), isBlocked: true))
        _ = try rig.people(.receipt(place, Receipt(personID: person, stage: .delivered)))
      }
      _ = try rig.people(.online([one], 7))
      guard case .members(let members) = try rig.people(.members("r")),
        case .blocks(let blocks) = try rig.people(.blocks),
        case .receipts(let receipts, _) = try rig.people(.receipts(place)),
        case .lastOnline(let times) = try rig.people(.lastOnline([one, other]))
      else { throw ConformanceFailure("the replies are of other kinds") }
      try expect(members, [other, one], "members")
      try expect(blocks.count, 2, "blocks")
      try expect(receipts.count, 2, "receipts")
      try expect(times, [7, nil], "times")
    },
  ]
}

extension StoreRig {
  func room(_ request: RoomRequest) throws -> RoomReply {
    let replies = try perform(.room(request))
    guard case .room(let reply) = replies[0] else { throw unexpected(replies[0], "a room's reply") }
    return reply
  }

  func people(_ request: PeopleRequest) throws -> PeopleReply {
    let replies = try perform(.people(request))
    guard case .people(let reply) = replies[0]
    else { throw unexpected(replies[0], "a reply about people") }
    return reply
  }

  func publishing(
    _ room: RoomName, _ json: String, key: String? = nil, person: PersonID? = nil,
    time: Timestamp = 1, _ retention: RoomRetention = .standard
  ) throws -> RoomReply {
    try self.room(
      .publish(
        room,
        PublicationDraft(
          key: key, time: time, personID: person, data: JSONValue(trusted: Array(json.utf8))),
        retention: retention, keyAge: 1_000))
  }

  /// Publishes, and returns the publication's offset.
  func publish(
    _ room: RoomName, _ json: String, key: String? = nil, person: PersonID? = nil,
    time: Timestamp = 1, _ retention: RoomRetention = .standard
  ) throws -> Int {
    let reply = try publishing(room, json, key: key, person: person, time: time, retention)
    guard case .published(let position, _, _) = reply else { throw unexpected(reply, "a place") }
    return position.offset
  }

  func page(
    _ room: RoomName, _ range: RoomRange, _ retention: RoomRetention = .standard, limit: Int = 20,
    bytesMax: Int = 1_000, now: Timestamp = 10
  ) throws -> RoomPage {
    let reply = try self.room(
      .page(room, range, limit: limit, bytesMax: bytesMax, retention: retention, now: now))
    guard case .page(let page) = reply else { throw unexpected(reply, "a page") }
    return page
  }

  func recover(
    _ room: RoomName, from position: RoomPosition?, _ retention: RoomRetention = .standard,
    limit: Int = 100, now: Timestamp = 10
  ) throws -> RoomRecovery {
    let reply = try self.room(
      .recover(room, from: position, limit: limit, bytesMax: 1_000, retention: retention, now: now))
    guard case .recovery(let recovery) = reply else { throw unexpected(reply, "a recovery") }
    return recovery
  }
}
