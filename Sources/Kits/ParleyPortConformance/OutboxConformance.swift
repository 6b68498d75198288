import ParleyGatewayPorts

/// Requirements for stores that contain an outbox.
extension DocumentStoreConformance {
  static let outbox: [ConformanceCheck] = [
    ConformanceCheck("an event is there exactly if its change is") { rig in
      try rig.tell(queuedMax: 9)
      try rig.create("n", time: 5)
      _ = try rig.error(.create(id: "n", epoch: "other", title: "Other", time: 6))
      try rig.rename("n", title: "New", time: 7)
      _ = try rig.error(.rename(id: "m", title: "None", time: 8))
      let before = try rig.take()
      try expect(before.map(\.type), ["created", "renamed"], "the news")
      try expect(before.map(\.subject), ["n", "n"], "what it is about")
      try expect(before.map(\.time), [5, 7], "the times")
      try require(Set(before.map(\.id)).count == 2, "an id for each")
      try rig.restart()
      try rig.tell(queuedMax: 9)
      try expect(rig.take(), before, "what was not settled, after a restart")
    },
    ConformanceCheck("events come in the order of their batch") { rig in
      try rig.tell(queuedMax: 9)
      _ = try rig.perform(
        .tell([rig.news("1")]),
        .create(id: "n", epoch: StoreRig.epoch, title: "A note", time: 2),
        .create(id: "n", epoch: StoreRig.epoch, title: "Another", time: 3),
        .tell([rig.news("3")]))
      try expect(rig.take().map(\.type), ["1", "created", "3"], "the order")
    },
    ConformanceCheck("events are taken in order until they are settled") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add((1...4).map { rig.news("\($0)", bytes: 10) })
      try expect(rig.take(limit: 3).map(\.type), ["1", "2", "3"], "as many as asked for")
      try expect(rig.take(bytesMax: 25).map(\.type), ["1", "2"], "as many as fit")
      try expect(rig.take(bytesMax: 1).map(\.type), ["1"], "one at least")
      let first = try rig.take(limit: 2)
      try rig.settle(delivered: first, adding: [rig.news("5")])
      try rig.settle(delivered: first)
      try expect(rig.take().map(\.type), ["3", "4", "5"], "what is left and what follows")
      try expect(rig.take(for: .push), [], "another target's")
      try expect(rig.standing().queued, 3, "the number")
      try rig.settle(delivered: rig.take())
      try expect(rig.standing(), OutboxQueueState(), "the end")
      try rig.add([rig.news("6")])
      try rig.settle(delivered: first)
      try expect(rig.take().map(\.type), ["6"], "after stale settling")
      try rig.add([rig.news("7")])
      let both = try rig.take()
      try rig.settle(delivered: Array(both.prefix(1)), adding: [rig.news("8")])
      // Another gateway has sent both events, and has settled the first one earlier.
      try rig.settle(delivered: both, adding: [rig.news("8")])
      try expect(rig.take().map(\.type), ["7", "8"], "what follows is added once")
    },
    ConformanceCheck("news that is held back is replaced by newer news of the same") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add([rig.news("changed", of: "a", time: 10, hold: 100)])
      try rig.add([rig.news("changed", of: "b", time: 20, hold: 100)])
      try rig.add([rig.news("changed", of: "a", time: 90, hold: 100)])
      try expect(rig.take(now: 109), [], "before it is due")
      try expect(rig.standing().nextDue, 110, "the first time due")
      try rig.restart()
      try rig.tell(queuedMax: 9)
      let due = try rig.take(now: 110)
      try expect(due.map(\.subject), ["a"], "what is due first")
      try expect(due.map(\.time), [90], "the newest takes the place")
      try rig.add([rig.news("changed", of: "a", time: 112, hold: 100)])
      try expect(rig.take(now: 211).map(\.subject), ["a", "b"], "what is due next")
      try expect(rig.take(now: 212).map(\.time), [90, 20, 112], "one each time")
      try expect(rig.standing().nextDue, nil, "nothing is held back")
    },
    ConformanceCheck("news may have what is held back about the same go first") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add([
        rig.news("changed", of: "a", time: 1, hold: 100),
        rig.news("changed", of: "b", time: 1, hold: 100),
      ])
      var last = rig.news("deleted", of: "a", time: 2)
      last.releasesHeld = true
      try rig.add([last])
      try expect(rig.take(now: 3).map(\.type), ["changed", "deleted"], "the order")
    },
    ConformanceCheck("a clock that was set back holds news up for twice as long at most") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add([rig.news("changed", time: 1_000_000, hold: 100)])
      try expect(rig.take(now: 999_900), [], "a clock that is as far behind as it is held")
      try expect(rig.take(now: 999_899).count, 1, "a clock that is farther behind")
    },
    ConformanceCheck("a reader's clock read before the commit lets nothing go early") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add([rig.news("changed", time: 1_000, hold: 3_600_000)])
      try expect(rig.take(now: 999), [], "a time that is a little older than the news")
      try expect(rig.take(now: 3_601_000).count, 1, "what is due")
    },
    ConformanceCheck("what is given up is kept for a while") { rig in
      try rig.tell(queuedMax: 9, deadLettersMax: 2)
      try rig.add((1...4).map { rig.news("\($0)") })
      let events = try rig.take(limit: 3)
      try rig.settle(givenUp: events, now: 77)
      try expect(rig.take().map(\.type), ["4"], "what is left")
      let letters = try rig.deadLetters()
      try expect(letters.map(\.event), [events[2], events[1]], "the newest")
      try expect(letters.map(\.time), [77, 77], "when they were given up")
      try expect(letters.map(\.reason), [.unwanted, .unwanted], "why")
      try rig.settle(givenUp: events, now: 78)
      try expect(rig.deadLetters(), letters, "what was given up twice")
      try expect(rig.standing().deadLetters, 2, "the number")
    },
    ConformanceCheck("a queue that is too long loses its oldest") { rig in
      try rig.tell(queuedMax: 3)
      try rig.add((1...5).map { rig.news("\($0)") })
      try rig.add([rig.news("other", target: .push)])
      try expect(rig.take().map(\.type), ["3", "4", "5"], "the newest")
      let letters = try rig.deadLetters()
      try expect(letters.map(\.event.type), ["2", "1"], "the oldest")
      try expect(letters.map(\.reason), [.queueFull, .queueFull], "why")
      try expect(rig.take(for: .push).count, 1, "another target's queue")
    },
    ConformanceCheck("mail that waits is not pushed out by more mail") { rig in
      try rig.tell(queuedMax: 2)
      try rig.add([rig.mail("1", to: "a"), rig.mail("2", to: "a"), rig.mail("3", to: "a", hold: 9)])
      // Three of one recipient, and four overall, are the maximum.
      try rig.add([rig.mail("4", to: "a"), rig.mail("5", to: "a", hold: 9)])
      try rig.add([rig.mail("6", to: "b"), rig.mail("7", to: "c")])
      try expect(rig.take(for: .mail, now: 1).map(\.type), ["1", "2", "6"], "what waits")
      try expect(rig.take(for: .mail, now: 99).map(\.type), ["1", "2", "6", "3"], "what is due")
      try expect(rig.standing(of: .mail).overflowed, 3, "what was not added")
      try expect(rig.deadLetters(), [], "no dead letters")
    },
    ConformanceCheck("mail is delayed in the commit that takes it from its queue") { rig in
      try rig.tell(queuedMax: 9)
      try rig.add([rig.mail("1", to: "a"), rig.mail("2", to: "a"), rig.mail("3", to: "a")])
      let first = try rig.take(for: .mail, limit: 1)
      // Its recipient has the maximum, of which this message is a part.
      try rig.settle(delivered: first, adding: [rig.mail("1", to: "a", hold: 100)])
      try expect(rig.take(for: .mail, now: 1).map(\.type), ["2", "3"], "others go first")
      try rig.restart()
      try rig.tell(queuedMax: 9)
      try expect(rig.take(for: .mail, now: 101).map(\.type), ["2", "3", "1"], "the message is due")
    },
    ConformanceCheck("without rules no event is recorded, and waiting events stay") { rig in
      try rig.tell(queuedMax: 9)
      try rig.create("n")
      try rig.restart()
      try rig.create("m")
      try expect(rig.take().map(\.subject), ["n"], "the news")
    },
  ]
}

/// A recorder of events for created and renamed notes.
private struct PlainRecorder: OutboxRecorder {
  func drafts(for request: StoreRequest, _ reply: StoreReply) -> [OutboxDraft] {
    switch request {
    case .create(let id, _, _, let time, _, _): [draft("created", id, time)]
    case .rename(let id, _, let time): [draft("renamed", id, time)]
    default: []
    }
  }

  private func draft(_ type: String, _ id: DocumentID, _ time: Timestamp) -> OutboxDraft {
    OutboxDraft(target: .webhook, type: type, subject: id.text, time: time, data: [])
  }
}

extension StoreRig {
  func outbox() throws -> any Outbox {
    guard let outbox = store as? any Outbox else {
      throw ConformanceFailure("the store has no outbox")
    }
    return outbox
  }

  /// Enables recording of events.
  func tell(queuedMax: Int, deadLettersMax: Int = 9) throws {
    try outbox().outboxRules = OutboxRules(
      recorder: PlainRecorder(), queuedMax: queuedMax, deadLettersMax: deadLettersMax, mailMax: 4,
      mailMaxOfRecipient: 3)
  }

  func news(
    _ type: String, of subject: String = "s", target: OutboxTarget = .webhook,
    time: Timestamp = 1, hold: Timestamp = 0, bytes: Int = 1
  ) -> OutboxDraft {
    OutboxDraft(
      target: target, type: type, subject: subject, time: time,
      data: [UInt8](repeating: UInt8(ascii: "1"), count: bytes), holdMilliseconds: hold)
  }

  func mail(_ id: String, to recipient: String, hold: Timestamp = 0) -> OutboxDraft {
    news(id, of: recipient, target: .mail, hold: hold)
  }

  func add(_ drafts: [OutboxDraft]) throws { try done(.tell(drafts)) }

  func settle(
    delivered: [OutboxEvent] = [], givenUp: [OutboxEvent] = [], now: Timestamp = 1,
    adding drafts: [OutboxDraft] = []
  ) throws {
    try done(
      outbox().perform(
        .settle(delivered: delivered, givenUp: givenUp, .unwanted, now: now, adding: drafts)))
  }

  func take(
    for target: OutboxTarget = .webhook, limit: Int = 99, bytesMax: Int = 9_999,
    now: Timestamp = 50
  ) throws -> [OutboxEvent] {
    let reply = try outbox().perform(
      .take(target, limit: limit, bytesMax: bytesMax, now: now))
    guard case .events(let events) = reply else { throw unexpected(reply, "events") }
    return events
  }

  func deadLetters() throws -> [DeadLetter] {
    let reply = try outbox().perform(.deadLetters(limit: 99))
    guard case .deadLetters(let letters) = reply else { throw unexpected(reply, "dead letters") }
    return letters
  }

  func standing(of target: OutboxTarget = .webhook) throws -> OutboxQueueState {
    try outbox().takeOutboxChanges()[target] ?? OutboxQueueState()
  }

  private func done(_ reply: OutboxReply) throws {
    guard case .done = reply else { throw unexpected(reply, "done") }
  }
}
