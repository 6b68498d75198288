import ParleyGatewayPorts

/// Requirements for requests that are performed once.
extension DocumentStoreConformance {
  static let once: [ConformanceCheck] = [
    ConformanceCheck("an answer is kept with the work, and told apart by owner, key and content") {
      rig in
      let asked = request("ann", "PUT /a k", body: "1")
      try expect(rig.once(.answer(asked, .standard)), .unanswered, "before")
      let reply = try rig.keeping(
        .create(id: "n", epoch: StoreRig.epoch, title: "N", time: 5), asked)
      try expect(rig.note(reply).id, "n", "the reply of the work")
      try rig.restart()
      try expect(rig.once(.answer(asked, .standard)), .answered(Array("n".utf8)), "after")
      for other in [
        request("ben", "PUT /a k", body: "1"), request("ann", "PUT /b k", body: "1"),
        request("ann", "PUT /a l", body: "1"),
      ] {
        try expect(rig.once(.answer(other, .standard)), .unanswered, "another request")
      }
      for other in [
        request("ann", "PUT /a k", body: "2"),
        request("ann", "PUT /a k", variant: "x", body: "1"),
      ] {
        try expect(rig.once(.answer(other, .standard)), .keyReused, "another content")
      }
      let accent = request("\u{e9}", "k", body: "")
      _ = try rig.keeping(.rename(id: "n", title: "M", time: 6), accent)
      try expect(
        rig.once(.answer(request("e\u{301}", "k", body: ""), .standard)), .unanswered,
        "an owner that looks alike")
    },
    ConformanceCheck("work that fails keeps no answer, and its answers nothing else") { rig in
      let asked = request("ann", "k", body: "")
      let reply = try rig.keeping(.rename(id: "none", title: "N", time: 5), asked)
      try expect(rig.error(reply), .unknownDocument, "the reply")
      try expect(rig.once(.answer(asked, .standard)), .unanswered, "afterwards")
      let replies = try rig.perform(
        .create(id: "n", epoch: StoreRig.epoch, title: "N", time: 5),
        .once(
          .perform(
            .append(id: "n", epoch: "other", entries: [entry(1, op("x"))]),
            keeping: [AnswerDraft(asked) { _ in [1] }], .standard)))
      try expect(rig.error(replies[1]), .notNext(headRevision: 0), "the reply")
      try expect(rig.once(.answer(asked, .standard)), .unanswered, "after that")
      try rig.append("n", entry(1, op("y")))
      let late = try rig.keeping(
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("x"))]), asked)
      try expect(rig.lostRace(late), [entry(1, op("y"))], "the race")
      try expect(rig.once(.answer(asked, .standard)), .unanswered, "after a lost race")
      try expect(rig.list().count, 1, "the notes")
    },
    ConformanceCheck("several answers of one commit are kept, and none where none is to be") {
      rig in
      try rig.create("n")
      let asked = (1...3).map { request("ann", "k\($0)", body: "") }
      let drafts = [
        AnswerDraft(asked[0]) { _ in [1] }, AnswerDraft(asked[1]) { _ in nil },
        AnswerDraft(asked[2]) { _ in [3] },
      ]
      let replies = try rig.perform(
        .once(
          .perform(
            .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("x"))]),
            keeping: drafts, .standard)))
      try rig.done(replies[0])
      try expect(rig.once(.answer(asked[0], .standard)), .answered([1]), "the first")
      try expect(rig.once(.answer(asked[1], .standard)), .unanswered, "the second")
      try expect(rig.once(.answer(asked[2], .standard)), .answered([3]), "the third")
    },
    ConformanceCheck("answers are forgotten by age and by number") { rig in
      try rig.create("n")
      let retention = AnswerRetention(countMax: 3, ageMax: 1_000)
      func isKept(_ key: String, _ owner: String = "ann", at time: Timestamp) throws -> Bool {
        try rig.once(.answer(request(owner, key, body: "", time: time), retention)) != .unanswered
      }
      for number in 1...4 {
        let time = Timestamp(100_000 + number)
        for owner in ["ann", "ben"] where owner == "ann" || number == 1 {
          _ = try rig.keeping(
            .rename(id: "n", title: "\(number)", time: time),
            request(owner, "k\(number)", body: "", time: time), retention)
        }
      }
      try expect(isKept("k1", at: 100_010), false, "the oldest")
      try expect(isKept("k2", at: 100_010), true, "the oldest that is kept")
      try expect(isKept("k1", "ben", at: 100_010), true, "another's")
      try expect(isKept("k4", at: 101_003), true, "just young enough")
      try expect(isKept("k4", at: 101_004), false, "too old")
      // A key is new if its answer is expired.
      _ = try rig.keeping(
        .rename(id: "n", title: "again", time: 300_000),
        request("ann", "k4", body: "other", time: 300_000), retention)
      rig.maintain()
      try rig.restart()
      try expect(
        rig.once(.answer(request("ann", "k4", body: "other", time: 300_001), retention)),
        .answered(Array("n".utf8)), "used anew")
    },
    ConformanceCheck("a note is made once under its maker's id") { rig in
      let note = NoteSummary(
        id: "n", title: "One", revision: 0, createdAt: 100_000, updatedAt: 100_000)
      try expect(rig.make("One"), .created(note), "the first")
      try expect(rig.make("One", time: 100_001), .found(note), "the same again")
      try expect(rig.make("Two"), .taken, "another title")
      try expect(rig.make("One", "ben"), .taken, "another owner")
      try rig.restart()
      // The note belongs to its creator even after a change.
      let renamed = try rig.rename("n", title: "Three", time: 100_002)
      try expect(rig.make("One"), .found(renamed), "the same after a change")
      try rig.delete("n")
      try expect(rig.make("One", time: 100_500), .deleted, "the same after it was deleted")
      try expect(rig.list(), [], "the notes")
      rig.maintain()
      try rig.restart()
      try expect(rig.make("One", time: 200_000), .created(try rig.load("n").summary), "much later")
      try rig.create("old")
      try expect(
        rig.once(
          .create(
            NoteDraft(id: "old", title: "A note", owner: "ann", time: 5), epoch: "e", restMax: 1)),
        .taken, "a note that was made without a maker")
      try rig.delete("old")
      try rig.create("old")
    },
    ConformanceCheck("an id rests from when its note was deleted, not from when it last changed") {
      rig in
      _ = try rig.make(time: 100_000)
      try rig.delete("n")
      rig.maintain()
      // Long after the last request that contained a time.
      try expect(rig.make(time: 500_000), .deleted, "the first request after the deletion")
      rig.maintain()
      try expect(rig.make(time: 500_999), .deleted, "one within the rest")
      try expect(rig.make(time: 501_001), .created(try rig.load("n").summary), "one after it")
    },
  ]

  private static func request(
    _ owner: String, _ key: String, variant: String = "", body: String, time: Timestamp = 100_000
  ) -> KeyedRequest {
    KeyedRequest(
      owner: owner, key: key, variant: variant, body: Array(body.utf8), time: time)
  }
}

extension StoreRig {
  /// Creates the note `n`, whose id remains reserved for a second after a deletion.
  func make(
    _ title: String = "One", _ owner: String = "ann", time: Timestamp = 100_000
  ) throws -> OnceReply {
    let draft = NoteDraft(id: "n", title: title, owner: owner, time: time)
    return try once(.create(draft, epoch: Self.epoch, restMax: 1_000))
  }

  func once(_ request: OnceRequest) throws -> OnceReply {
    let replies = try perform(.once(request))
    guard case .once(let reply) = replies[0]
    else { throw unexpected(replies[0], "the kept answer") }
    return reply
  }

  /// Performs a request, and stores the note's id as the answer.
  func keeping(
    _ work: StoreRequest, _ asked: KeyedRequest, _ retention: AnswerRetention = .standard
  ) throws -> StoreReply {
    let draft = AnswerDraft(asked) { reply in
      guard case .note(let note) = reply else { return nil }
      return Array(note.id.text.utf8)
    }
    return try perform(.once(.perform(work, keeping: [draft], retention)))[0]
  }
}
