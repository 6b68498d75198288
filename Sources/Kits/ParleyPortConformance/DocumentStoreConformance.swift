import ParleyGatewayPorts
import ParleyJSON
import OTCore

/// The requirements for every document store.
public enum DocumentStoreConformance {
  /// All checks. Each needs a new store.
  public static let checks: [ConformanceCheck] =
    notes + deletions + folders + logs + formats + history + compaction + batches + restarts + rooms
    + values
    + outbox
    + once + files + comments + sessions + names + audit + notices + [.randomHistories]

  private static let notes: [ConformanceCheck] = [
    ConformanceCheck("a new note is listed, and loads empty") { rig in
      let made = try rig.create("n", title: "Größe 🐦", time: 7)
      let expected = NoteSummary(
        id: "n", title: "Größe 🐦", revision: 0, createdAt: 7, updatedAt: 7)
      try expect(made, expected, "the reply")
      try expect(rig.list(), [expected], "the list")
      let document = try rig.load("n")
      try expect(document.summary, expected, "the summary")
      try expect(document.epoch, StoreRig.epoch, "the epoch")
      try expect(text: document.text, "", "the text")
      try expect(document.recent, [], "the entries")
      try expect(document.marks, [:], "the marks")
    },
    ConformanceCheck("a name can be taken once") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("kept")))
      let error = try rig.error(.create(id: "n", epoch: "other", title: "Other", time: 9))
      try expect(error, .exists, "the error")
      try expect(text: rig.load("n").text, "kept", "the text")
    },
    ConformanceCheck("names that look equal to a person are different") { rig in
      try rig.create("\u{e9}")
      try rig.create("e\u{301}")
      try rig.append("\u{e9}", entry(1, op("one")))
      try expect(text: rig.load("e\u{301}").text, "", "the other's text")
      try expect(rig.list().count, 2, "the notes")
    },
    ConformanceCheck("an unknown document is said to be one") { rig in
      let requests: [StoreRequest] = [
        .rename(id: "x", title: "X", time: 1), .delete(id: "x"), .load(id: "x", recentMax: 1),
        .entries(id: "x", after: 0, through: 1),
        .append(id: "x", epoch: StoreRig.epoch, entries: [entry(1, op("x"))]),
        .snapshot(id: "x", epoch: StoreRig.epoch, revision: 0, text: ""),
      ]
      for request in requests {
        try expect(rig.error(request), .unknownDocument, "the error")
      }
    },
    ConformanceCheck("a list has the newest change first") { rig in
      try rig.create("a", time: 10)
      try rig.create("b", time: 20)
      try rig.create("c", time: 15)
      try expect(rig.list().map(\.id), ["b", "c", "a"], "after creation")
      try rig.rename("c", title: "C", time: 30)
      try rig.append("a", entry(1, op("a")))
      try expect(rig.list().map(\.id), ["a", "c", "b"], "after a rename and an edit")
      try expect(rig.list().map(\.updatedAt), [2_001, 30, 20], "the times")
    },
    ConformanceCheck("notes are read in pages, in the order in which they were made") { rig in
      for (id, time) in [("b", 20), ("a", 10), ("c", 10), ("\u{e9}", 10), ("d", 30)] {
        try rig.create(DocumentID(id), time: Timestamp(time))
      }
      func page(after place: NoteSortKey?, limit: Int) throws -> [DocumentID] {
        let replies = try rig.perform(.notes(after: place, limit: limit))
        guard case .notes(let notes) = replies[0] else { throw unexpected(replies[0], "notes") }
        return notes.map(\.id)
      }
      let all: [DocumentID] = ["d", "b", "\u{e9}", "c", "a"]
      try expect(page(after: nil, limit: 9), all, "all")
      try expect(page(after: nil, limit: 2), ["d", "b"], "the first page")
      let place = NoteSortKey(time: 20, id: "b")
      try rig.rename("a", title: "A", time: 40)
      try rig.delete("b")
      try rig.create("e", time: 50)
      try expect(page(after: place, limit: 2), ["\u{e9}", "c"], "the second, after changes")
      try expect(
        page(after: NoteSortKey(time: 10, id: "c"), limit: 2), ["a"], "the third")
      try expect(page(after: NoteSortKey(time: 10, id: "a"), limit: 2), [], "the end")
    },
    ConformanceCheck("a title changes, and nothing else") { rig in
      try rig.create("n", time: 10)
      try rig.append("n", entry(1, op("text")))
      let renamed = try rig.rename("n", title: "New", time: 9_000)
      try expect(
        renamed,
        NoteSummary(id: "n", title: "New", revision: 1, createdAt: 10, updatedAt: 9_000),
        "the reply")
      try expect(rig.load("n").summary, renamed, "the summary")
      try expect(text: rig.load("n").text, "text", "the text")
    },
    ConformanceCheck("a deleted note is gone, and its name can be used again") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("old")))
      try rig.delete("n")
      try expect(rig.error(.load(id: "n", recentMax: 1)), .unknownDocument, "the error")
      try expect(rig.list(), [], "the list")
      try rig.create("n")
      try expect(text: rig.load("n").text, "", "the text")
      try expect(rig.load("n").marks, [:], "the marks")
      try rig.append("n", entry(1, op("new")))
      rig.maintain()
      try expect(text: rig.load("n").text, "new", "the text after housekeeping")
      try expect(rig.entries("n", after: 0, through: 9).count, 1, "the entries")
    },
  ]

  private static let logs: [ConformanceCheck] = [
    ConformanceCheck("entries are read as they were written, and fold into the text") { rig in
      try rig.create("n")
      let entries = [
        entry(1, op("héllo\u{0}\"\\\n\u{2028}")),
        entry(2, op(5, -5, "🐦👩‍👩‍👧 e\u{301}"), client: "ben", sequence: 1),
        entry(3, TextOperation.identity(length: 14), client: "ben", sequence: 2),
        entry(4, op(-14), sequence: 2),
        entry(5, TextOperation.identity(length: 0), sequence: 3),
        entry(6, op("日本語"), sequence: 4),
      ]
      for entry in entries { try rig.append("n", entry) }
      let document = try rig.load("n")
      try expect(document.recent, entries, "the newest entries")
      try expect(text: document.text, "日本語", "the text")
      try expect(document.summary.revision, 6, "the revision")
      try expect(rig.entries("n", after: 0, through: 6), entries, "all entries")
      try expect(rig.entries("n", after: 2, through: 4), Array(entries[2..<4]), "a range")
      try expect(rig.entries("n", after: 4, through: 99), Array(entries[4...]), "an open range")
      try expect(rig.entries("n", after: 6, through: 99), [], "a range beyond the head")
      try expect(rig.entries("n", after: 4, through: 2), [], "a range without entries")
      for after in 0..<4 {
        try expect(
          rig.entries("n", after: after, through: 6, bytesMax: 0),
          Array(entries[after..<after + 2]), "two entries at least")
      }
      try expect(
        rig.entries("n", after: 0, through: 6, bytesMax: 1 << 20), entries,
        "entries with few bytes")
    },
    ConformanceCheck("a load brings at most as many entries as asked for") { rig in
      try rig.create("n")
      for revision in 1...5 {
        try rig.append("n", entry(revision, revision == 1 ? op("x") : op(1, -0)))
      }
      try expect(rig.load("n", recentMax: 2).recent.map(\.revision), [4, 5], "two")
      try expect(rig.load("n", recentMax: 0).recent.map(\.revision), [], "none")
      try expect(rig.load("n", recentMax: 9).recent.map(\.revision), [1, 2, 3, 4, 5], "all")
    },
    ConformanceCheck("only what follows the head is appended") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("ab")))
      let wrong: [(Epoch, [LogEntry])] = [
        (StoreRig.epoch, [entry(0, op(2))]),
        (StoreRig.epoch, [entry(3, op(2))]),
        ("another", [entry(1, op("ab"))]),
        (StoreRig.epoch, [entry(2, op(1))]),
        (StoreRig.epoch, [entry(2, op(3))]),
        (StoreRig.epoch, [entry(2, op(2, "c")), entry(4, op(3))]),
        (StoreRig.epoch, [entry(2, op(2, "c")), entry(3, op(2))]),
        ("another", [entry(2, op(2))]),
      ]
      for (epoch, entries) in wrong {
        let error = try rig.error(.append(id: "n", epoch: epoch, entries: entries))
        try expect(error, .notNext(headRevision: 1), "the error")
        try expect(rig.load("n").recent, [entry(1, op("ab"))], "the log")
      }
      try rig.append("n", entry(2, op(2, "c")), entry(3, op(3, "d")))
      try expect(text: rig.load("n").text, "abcd", "the text")
    },
    ConformanceCheck("who loses the race for a revision is given what the log has") { rig in
      try rig.create("n")
      let log = [
        entry(1, op("ab")), entry(2, op(2, "c"), client: "ben", sequence: 1),
        entry(3, op(3, "d"), client: "ben", sequence: 2),
      ]
      try rig.append("n", log[0], log[1], log[2])
      for first in 1...3 {
        let late = entry(first, op("x"), client: "late", sequence: 1)
        let append = StoreRequest.append(id: "n", epoch: StoreRig.epoch, entries: [late])
        try expect(rig.lostRace(rig.perform(append)[0]), Array(log[(first - 1)...]), "missed")
      }
      try expect(rig.load("n").recent, log, "the log")
      try expect(rig.load("n").marks["late"], nil, "the mark of who lost")
      try rig.append("n", entry(4, op(4, "x"), client: "late", sequence: 1))
      try expect(text: rig.load("n").text, "abcdx", "the text")
    },
    ConformanceCheck("a lost race leaves its batch alone") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("a")))
      let replies = try rig.perform(
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("b"), client: "ben")]),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(2, op(1, "c"), client: "ben")]))
      try expect(rig.lostRace(replies[0]), [entry(1, op("a"))], "missed")
      try rig.done(replies[1])
      try rig.restart()
      try expect(text: rig.load("n").text, "ac", "the text")
    },
    ConformanceCheck("each client's newest entry is marked") { rig in
      try rig.create("n")
      try rig.append(
        "n", entry(1, op("a"), client: "ann", sequence: 1),
        entry(2, op(1), client: "ben", sequence: 1))
      try rig.append("n", entry(3, op(1), client: "ann", sequence: 2))
      let expected = [
        "ann": ClientMark(sequence: 2, revision: 3, digest: entry(3, op(1)).digest),
        "ben": ClientMark(sequence: 1, revision: 2, digest: entry(2, op(1)).digest),
      ]
      try expect(rig.load("n").marks, expected, "the marks")
      try expect(rig.load("n", recentMax: 0).marks, expected, "the marks without entries")
    },
    ConformanceCheck("a snapshot changes nothing that can be seen") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("a")), entry(2, op(1, "b")), entry(3, op(2, "ç")))
      let before = try rig.load("n")
      for (revision, text) in [(3, "abç"), (2, "ab"), (0, ""), (3, "abç")] {
        let replies = try rig.perform(
          .snapshot(id: "n", epoch: StoreRig.epoch, revision: revision, text: text))
        try rig.done(replies[0])
        try expect(rig.load("n"), before)
      }
      try rig.append("n", entry(4, op(3, "d")))
      try rig.restart()
      try expect(text: rig.load("n").text, "abçd", "the text after another entry")
    },
    ConformanceCheck("a snapshot of another history is refused") { rig in
      try rig.create("n")
      try rig.append("n", entry(1, op("a")))
      for (epoch, revision, text) in [
        (Epoch("another"), 1, "a"), (StoreRig.epoch, 2, "a"), (StoreRig.epoch, 1, "ab"),
      ] {
        let error = try rig.error(
          .snapshot(id: "n", epoch: epoch, revision: revision, text: text))
        try expect(error, .notNext(headRevision: 1), "the error")
      }
      try expect(text: rig.load("n").text, "a", "the text")
    },
  ]

  private static let batches: [ConformanceCheck] = [
    ConformanceCheck("an empty batch has no replies") { rig in
      try expect(rig.perform().count, 0, "the replies")
    },
    ConformanceCheck("a batch is done in order, and reads see the writes before them") { rig in
      let replies = try rig.perform(
        .create(id: "n", epoch: StoreRig.epoch, title: "N", time: 1),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("a"))]),
        .entries(id: "n", after: 0, through: 9),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(2, op(1, "b"))]),
        .load(id: "n", recentMax: 9),
        .delete(id: "n"),
        .list)
      _ = try rig.note(replies[0])
      try rig.done(replies[1])
      guard case .entries(let entries) = replies[2] else { throw unexpected(replies[2], "entries") }
      try expect(entries, [entry(1, op("a"))], "the entries in between")
      guard case .document(let document) = replies[4]
      else { throw unexpected(replies[4], "a document") }
      try expect(text: document.text, "ab", "the text")
      guard case .notes(let notes) = replies[6] else { throw unexpected(replies[6], "notes") }
      try expect(notes, [], "the list at the end")
    },
    ConformanceCheck("notes and rooms whose names look alike are two in one batch, too") { rig in
      let (one, other): (DocumentID, DocumentID) = ("\u{e9}", "e\u{301}")
      try rig.create(one)
      try rig.create(other)
      func append(_ id: DocumentID, _ revision: Int, _ operation: TextOperation) -> StoreRequest {
        .append(id: id, epoch: StoreRig.epoch, entries: [entry(revision, operation)])
      }
      for reply in try rig.perform(append(one, 1, op("one")), append(other, 1, op("two"))) {
        try rig.done(reply)
      }
      try expect(text: rig.load(one).text, "one", "the one's text")
      try expect(text: rig.load(other).text, "two", "the other's text")
      for reply in try rig.perform(append(one, 2, op(3, "!")), .delete(id: other)) {
        try rig.done(reply)
      }
      try expect(text: rig.load(one).text, "one!", "the text of the one that stays")
      try expect(rig.error(.load(id: other, recentMax: 1)), .unknownDocument, "the deleted one")
      func publish(_ room: RoomName) -> StoreRequest {
        .room(
          .publish(
            room,
            PublicationDraft(key: nil, time: 1, personID: nil, data: JSONValue(trusted: [0x31])),
            retention: .standard, keyAge: 1_000))
      }
      let rooms = [RoomName(one.text), RoomName(other.text)]
      _ = try rig.perform(publish(rooms[0]), publish(rooms[1]))
      for room in rooms {
        try expect(rig.page(room, .newest).publications.map(\.offset), [1], "a room's publications")
      }
    },
    ConformanceCheck("a probe commits, and changes nothing") { rig in
      try rig.create("n")
      for _ in 1...2 { try rig.done(.probe) }
      try rig.restart()
      try expect(rig.list().count, 1, "the notes")
    },
    ConformanceCheck("a request that fails on its own leaves its batch alone") { rig in
      let replies = try rig.perform(
        .create(id: "n", epoch: StoreRig.epoch, title: "N", time: 1),
        .create(id: "n", epoch: StoreRig.epoch, title: "N", time: 1),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("a"))]),
        .append(
          id: "n", epoch: StoreRig.epoch, entries: [entry(2, op(1, "b")), entry(3, op(9))]),
        .delete(id: "x"),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(2, op(1, "c"), client: "ben")]))
      try expect(rig.error(replies[1]), .exists, "the second creation")
      try expect(rig.error(replies[3]), .notNext(headRevision: 1), "the half-wrong append")
      try expect(rig.error(replies[4]), .unknownDocument, "the deletion")
      try rig.done(replies[5])
      try rig.restart()
      try expect(text: rig.load("n").text, "ac", "the text")
      try expect(rig.load("n").marks.count, 2, "the marks")
    },
  ]

  private static let restarts: [ConformanceCheck] = [
    ConformanceCheck("everything is there after a restart") { rig in
      try rig.create("a", title: "First", time: 10)
      try rig.create("b", title: "Second", time: 20)
      try rig.create("c", title: "Third", time: 30)
      try rig.append("a", entry(1, op("one")), entry(2, op(3, " two")))
      try rig.append("b", entry(1, op("🐦"), client: "ben"))
      try rig.rename("b", title: "Renamed", time: 40)
      try rig.delete("c")
      let list = try rig.list()
      let before = try ["a", "b"].map { try rig.load($0) }
      try rig.restart()
      try expect(rig.list(), list, "the list")
      for (id, before) in zip(["a", "b"], before) {
        try expect(rig.load(DocumentID(id)), before)
      }
      try expect(rig.error(.load(id: "c", recentMax: 1)), .unknownDocument, "the deleted note")
      try rig.append("a", entry(3, op(7, "!")))
      try expect(text: rig.load("a").text, "one two!", "the text after one more")
    }
  ]
}
