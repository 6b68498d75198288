import ParleyGatewayPorts
import OTCore

/// Requirements for histories and earlier texts.
extension DocumentStoreConformance {
  /// Creates a note with six entries: Ann, Ann, Ben, Ben, Ann, Ben. Their times differ by a second,
  /// but by a minute before the fourth.
  private static func makeHistory(_ rig: StoreRig) throws {
    try rig.create("n", time: 500)
    let steps: [(TextOperation, String, Timestamp)] = [
      (op("one"), "ann", 1_000),
      (op(3, " two"), "ann", 2_000),
      (op(3, "…", 4), "ben", 3_000),
      (op(8, "!"), "ben", 63_000),
      (op(-3, 6), "ann", 64_000),
      (op(1, "日本", -1, 4), "ben", 65_000),
    ]
    for (index, (operation, client, time)) in steps.enumerated() {
      var next = entry(index + 1, operation, client: client)
      next.author = client == "ann" ? "Ann" : "Ben"
      next.time = time
      try rig.append("n", next)
    }
  }

  private static let texts = [
    "", "one", "one two", "one… two", "one… two!", "… two!", "…日本two!",
  ]
  private static let times: [Timestamp] = [500, 1_000, 2_000, 3_000, 63_000, 64_000, 65_000]

  static let history: [ConformanceCheck] = [
    ConformanceCheck("the text of every revision is known") { rig in
      try makeHistory(rig)
      for (revision, text) in texts.enumerated() {
        let found = try rig.text("n", at: .revision(revision))
        try expect(found.revision, revision, "the revision")
        try expect(text: found.text, text, "the text at \(revision)")
        try expect(found.time, times[revision], "the time of \(revision)")
        try expect(
          found.authors.reduce(0) { $0 + $1.count }, text.unicodeScalars.count,
          "the authors' length at \(revision)")
      }
      try expect(rig.text("n", at: .revision(99)).revision, 6, "a revision yet to come")
      try expect(rig.text("n", at: .revision(-9)).revision, 0, "a revision before all")
      try expect(
        rig.error(.text(id: "x", at: .revision(0))), .unknownDocument, "an unknown document")
    },
    ConformanceCheck("every letter has its author") { rig in
      try makeHistory(rig)
      let expected: [[AuthorRun]] = [
        [],
        [AuthorRun(author: "Ann", count: 3)],
        [AuthorRun(author: "Ann", count: 7)],
        [run("Ann", 3), run("Ben", 1), run("Ann", 4)],
        [run("Ann", 3), run("Ben", 1), run("Ann", 4), run("Ben", 1)],
        [run("Ben", 1), run("Ann", 4), run("Ben", 1)],
        [run("Ben", 3), run("Ann", 3), run("Ben", 1)],
      ]
      for (revision, runs) in expected.enumerated() {
        try expect(rig.text("n", at: .revision(revision)).authors, runs, "at \(revision)")
      }
    },
    ConformanceCheck("a time finds the newest revision of that time") { rig in
      try makeHistory(rig)
      let cases: [(Timestamp, Int)] = [
        (0, 0), (999, 0), (1_000, 1), (2_500, 2), (62_999, 3), (63_000, 4), (65_000, 6),
        (.max, 6),
      ]
      for (time, revision) in cases {
        try expect(rig.text("n", at: .time(time)).revision, revision, "at \(time)")
      }
    },
    ConformanceCheck("history is listed in groups of one author without pauses") { rig in
      try makeHistory(rig)
      let page = try rig.history("n", after: 0, pause: 30_000)
      let groups = page.groups
      try expect(page.head, 6, "the head")
      try expect(groups.map(\.firstRevision), [1, 3, 4, 5, 6], "the first revisions")
      try expect(groups.map(\.lastRevision), [2, 3, 4, 5, 6], "the last revisions")
      try expect(groups.map(\.author), ["Ann", "Ben", "Ben", "Ann", "Ben"], "the authors")
      try expect(groups.map(\.inserted), [7, 1, 1, 0, 2], "what was inserted")
      try expect(groups.map(\.deleted), [0, 0, 0, 3, 1], "what was deleted")
      try expect(groups.map(\.firstTime), [1_000, 3_000, 63_000, 64_000, 65_000], "the times")
      for limit in 1...6 {
        try expect(
          rig.history("n", after: 0, limit: limit, pause: 30_000),
          HistoryPage(groups: Array(groups.prefix(limit)), head: 6), "the first \(limit)")
      }
      try expect(
        rig.history("n", after: 1, limit: 2, pause: 60_000).groups.map(\.lastRevision), [2, 4],
        "with a longer pause")
      try expect(
        rig.history("n", after: 6, pause: 1), HistoryPage(groups: [], head: 6), "at the head")
    },
    ConformanceCheck("a long stretch of one author is several groups") { rig in
      try rig.create("n")
      let count = 2 * HistoryGroup.entriesMax + 1
      try rig.done(
        rig.perform(
          .append(
            id: "n", epoch: StoreRig.epoch,
            entries: (1...count).map { entry($0, op(.number($0 - 1), "x")) }))[0])
      let groups = try rig.history("n", after: 0, pause: .max).groups
      let most = HistoryGroup.entriesMax
      try expect(groups.map(\.firstRevision), [1, most + 1, 2 * most + 1], "the first revisions")
      try expect(groups.map(\.inserted), [most, most, 1], "what was inserted")
      for group in groups {
        try expect(
          rig.history("n", after: group.firstRevision - 1, limit: 1, pause: .max).groups, [group],
          "a page that begins with a group")
      }
    },
    ConformanceCheck("sessions are the changes of all people without pauses, the newest first") {
      rig in
      try makeHistory(rig)
      let newer = EditingSession(
        firstRevision: 4, lastRevision: 6, firstTime: 63_000, lastTime: 65_000,
        authors: [author("Ben", 6, 2, 3, 1), author("Ann", 5, 1, 0, 3)])
      let older = EditingSession(
        firstRevision: 1, lastRevision: 3, firstTime: 1_000, lastTime: 3_000,
        authors: [author("Ben", 3, 1, 1, 0), author("Ann", 2, 2, 7, 0)])
      func page(_ sessions: [EditingSession], hasMore: Bool = false) -> EditingSessionPage {
        EditingSessionPage(
          sessions: sessions, head: 6, oldest: 0, hasMore: hasMore, isLastCut: false)
      }
      try expect(rig.sessions("n", pause: 30_000), page([newer, older]), "all")
      try expect(rig.sessions("n", limit: 1, pause: 30_000), page([newer], hasMore: true), "one")
      try expect(rig.sessions("n", before: 4, pause: 30_000), page([older]), "the rest")
      try expect(rig.sessions("n", before: 99, pause: 30_000), page([newer, older]), "a later one")
      for before in [0, 1] {
        try expect(rig.sessions("n", before: before, pause: 1), page([]), "before all")
      }
      try expect(
        rig.sessions("n", pause: 60_000).sessions.map(\.firstRevision), [1], "with a longer pause")
      try expect(
        rig.sessions("n", before: 6, limit: 1, pause: 30_000).sessions.map(\.lastRevision), [5],
        "a part of a session")
      try expect(
        rig.error(.past(id: "x", .sessions(before: 1, limit: 1, pause: 1))), .unknownDocument,
        "an unknown document")
      try rig.compact("n", through: 2)
      let left = try rig.sessions("n", pause: 30_000)
      try expect(left.oldest, 2, "the oldest revision after compaction")
      try expect(left.sessions.map(\.firstRevision), [4, 3], "the sessions after compaction")
      try expect(left.hasMore, false, "more after compaction")
    },
    ConformanceCheck("a long session is cut where enough was read") { rig in
      try rig.create("n")
      let most = EditingSessionPage.changesMax
      var revision = 0
      while revision < most + 5 {
        let last = min(revision + 1_000, most + 5)
        try rig.done(
          rig.perform(
            .append(
              id: "n", epoch: StoreRig.epoch,
              entries: ((revision + 1)...last).map { number in
                var next = entry(number, op(.number(number - 1), "x"))
                next.time = number <= 5 ? 0 : 1_000
                return next
              }))[0])
        revision = last
      }
      let whole = try rig.sessions("n", pause: 500)
      try expect(whole.sessions.map(\.firstRevision), [6], "as long as may be read")
      try expect(whole.hasMore, true, "more before it")
      try expect(whole.isLastCut, false, "it is whole")
      let cut = try rig.sessions("n", pause: 1_000)
      try expect(cut.sessions.map(\.firstRevision), [6], "a longer one")
      try expect(cut.isLastCut, true, "it is cut")
      let rest = try rig.sessions("n", before: 6, pause: 1_000)
      try expect(rest.sessions.map(\.lastRevision), [5], "its beginning")
      try expect(rest.hasMore, false, "no more before it")
    },
    ConformanceCheck("two revisions are compared by words") { rig in
      try makeHistory(rig)
      for from in 0...6 {
        for to in from...6 {
          let difference = try rig.difference("n", from: from, to: to)
          try expect(difference.from.revision, from, "the older revision")
          try expect(difference.to.time, times[to], "the newer one's time")
          try expect(
            text: difference.operation.applied(to: texts[from]), texts[to], "\(from) to \(to)")
        }
      }
      try expect(
        rig.difference("n", from: 3, to: 4).parts, [.kept(8), .inserted("!", author: "Ben")],
        "an insertion")
      try expect(rig.difference("n", from: 6, to: 6).parts, [.kept(7)], "no change")
      try expect(
        rig.error(.past(id: "n", .difference(from: 0, to: 7))), .notNext(headRevision: 6),
        "a revision yet to come")
      try rig.compact("n", through: 4)
      try expect(
        rig.error(.past(id: "n", .difference(from: 3, to: 6))), .compacted(oldestRevision: 4),
        "a text gone")
      try expect(rig.difference("n", from: 4, to: 6).parts.isEmpty, false, "from the base")
    },
    ConformanceCheck("a change that cannot be sent again leaves no mark") { rig in
      try rig.create("n")
      for revision in 1...20 {
        try rig.append(
          "n",
          entry(
            revision, op(.number(revision - 1), "x"), client: revision == 7 ? "ann" : "\(revision)",
            sequence: revision == 7 ? 1 : 0))
      }
      for _ in 0..<2 {
        try expect(rig.load("n").marks.map(\.key), ["ann"], "the marks")
        try expect(
          rig.entries("n", after: 5, through: 8).map(\.sequence), [0, 1, 0], "the numbers")
        try rig.restart()
      }
    },
    ConformanceCheck("versions have names") { rig in
      try makeHistory(rig)
      try expect(rig.versions("n"), [], "at first")
      let draft = NamedVersion(revision: 2, name: "Entwurf ✎", author: "Ann", time: 9)
      let final = NamedVersion(revision: 6, name: "Final", author: "Ben", time: 10)
      try rig.save(draft, in: "n")
      try rig.save(final, in: "n")
      try expect(rig.versions("n"), [final, draft], "two")
      let renamed = NamedVersion(revision: 2, name: "Draft", author: "Ben", time: 11)
      try rig.save(renamed, in: "n")
      try rig.restart()
      try expect(rig.versions("n"), [final, renamed], "after another name")
      try rig.done(.deleteVersion(id: "n", revision: 2))
      try rig.done(.deleteVersion(id: "n", revision: 2))
      try expect(rig.versions("n"), [final], "after a deletion")
      let future = NamedVersion(revision: 7, name: "Later", author: "Ben", time: 11)
      try expect(
        rig.error(StoreRig.saving(future, in: "n")),
        .notNext(headRevision: 6), "a revision yet to come")
      try expect(
        rig.error(StoreRig.saving(draft, in: "n", epoch: "other")),
        .notNext(headRevision: 6), "another epoch")
      try rig.delete("n")
      try rig.create("n")
      try expect(rig.versions("n"), [], "after the note was deleted")
    },
    ConformanceCheck("a log continues under another epoch") { rig in
      try makeHistory(rig)
      try expect(
        rig.error(.renewEpoch(id: "n", from: "other", to: "third")),
        .notNext(headRevision: 6), "from another epoch")
      try rig.done(.renewEpoch(id: "n", from: StoreRig.epoch, to: "second"))
      try expect(rig.load("n").epoch, "second", "the epoch")
      try expect(
        rig.error(.append(id: "n", epoch: StoreRig.epoch, entries: [entry(7, op(7))])),
        .notNext(headRevision: 6), "an append under the old epoch")
      try rig.done(
        rig.perform(.append(id: "n", epoch: "second", entries: [entry(7, op(7, "?"))]))[0])
      try rig.done(.renewEpoch(id: "n", from: "second", to: "third"))
      try rig.done(.renewEpoch(id: "n", from: "third", to: "fourth"))
      try rig.done(
        rig.perform(.append(id: "n", epoch: "fourth", entries: [entry(8, op(8, "?"))]))[0])
      try rig.restart()
      try expect(rig.load("n").epoch, "fourth", "the epoch after a restart")
      try expect(text: rig.load("n").text, "…日本two!??", "the text")
      try expect(rig.load("n").recent.count, 8, "the entries of all epochs")
      try expect(rig.load("n").marks.count, 2, "the marks")
    },
  ]

  static let compaction: [ConformanceCheck] = [
    ConformanceCheck("compaction forgets entries, and nothing else") { rig in
      try makeHistory(rig)
      let before = try rig.load("n")
      try rig.compact("n", through: 4)
      try rig.compact("n", through: 2)
      for round in 0..<2 {
        let after = try rig.load("n")
        try expect(text: after.text, before.text, "the text")
        try expect(after.summary, before.summary, "the summary")
        try expect(after.marks, before.marks, "the marks")
        try expect(after.epoch, before.epoch, "the epoch")
        try expect(after.recent.map(\.revision), [5, 6], "the entries left")
        try expect(rig.entries("n", after: 4, through: 6), after.recent, "the range left")
        for request in [
          StoreRequest.entries(id: "n", after: 3, through: 6),
          .history(id: "n", after: 0, limit: 9, pause: 1),
        ] {
          try expect(rig.error(request), .compacted(oldestRevision: 5), "what is gone")
        }
        for revision in 4...6 {
          let text = try rig.text("n", at: .revision(revision))
          try expect(text: text.text, texts[revision], "the text at \(revision)")
          try expect(text.time, times[revision], "the time of \(revision)")
        }
        for point in [HistoryPoint.revision(3), .time(3_000), .time(62_999)] {
          try expect(
            rig.error(.text(id: "n", at: point)), .compacted(oldestRevision: 4), "a text gone")
        }
        try expect(rig.text("n", at: .time(63_000)).revision, 4, "the base's time")
        if round == 0 {
          rig.maintain()
          try rig.restart()
        }
      }
      try rig.append("n", entry(7, op(7, "?")))
      try expect(text: rig.load("n").text, "…日本two!?", "the text after one more")
    },
    ConformanceCheck("a log may be compacted up to its head") { rig in
      try makeHistory(rig)
      try rig.compact("n", through: 99)
      try expect(text: rig.load("n").text, texts[6], "the text")
      try expect(rig.load("n").recent, [], "the entries")
      try expect(rig.text("n", at: .time(.max)).authors.count, 3, "the authors")
      try rig.append("n", entry(7, op(7, "?"), client: "ann"))
      try expect(rig.load("n").recent.map(\.revision), [7], "the entries after one more")
      try expect(rig.load("n").marks["ann"]?.revision, 7, "Ann's mark")
      try expect(rig.load("n").marks["ben"]?.revision, 6, "Ben's mark")
    },
    ConformanceCheck("the text of a named version stays") { rig in
      try makeHistory(rig)
      for revision in [2, 3, 5] {
        try rig.save(
          NamedVersion(revision: revision, name: "V\(revision)", author: "Ann", time: 1), in: "n")
      }
      try rig.compact("n", through: 4)
      try rig.done(.deleteVersion(id: "n", revision: 3))
      try rig.compact("n", through: 6)
      rig.maintain()
      try rig.restart()
      for revision in [0, 2, 5, 6] {
        let text = try rig.text("n", at: .revision(revision))
        try expect(text: text.text, texts[revision], "the text at \(revision)")
        try expect(text.time, times[revision], "the time of \(revision)")
      }
      for revision in [1, 3, 4] {
        try expect(
          rig.error(.text(id: "n", at: .revision(revision))), .compacted(oldestRevision: 6),
          "the text at \(revision)")
      }
      try rig.save(NamedVersion(revision: 2, name: "Again", author: "Ann", time: 1), in: "n")
      let gone = NamedVersion(revision: 3, name: "Gone", author: "Ann", time: 1)
      try expect(
        rig.error(StoreRig.saving(gone, in: "n")),
        .compacted(oldestRevision: 6), "a version without a text")
    },
  ]

  private static func author(
    _ name: String, _ last: Int, _ changes: Int, _ inserted: Int, _ deleted: Int
  ) -> EditingSession.Author {
    EditingSession.Author(
      name: name, lastRevision: last, changes: changes, inserted: inserted, deleted: deleted)
  }

  private static func run(_ author: String, _ count: Int) -> AuthorRun {
    AuthorRun(author: author, count: count)
  }
}
