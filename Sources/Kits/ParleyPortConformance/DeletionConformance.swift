import ParleyGatewayPorts

/// Requirements for deleted notes that can be restored.
extension DocumentStoreConformance {
  static let deletions: [ConformanceCheck] = [
    ConformanceCheck("a deleted note that is kept is out of sight, and listed among the deleted") {
      rig in
      let made = try rig.create("n", title: "Größe 🐦", time: 7)
      try rig.append("n", entry(1, op("kept")))
      let before = try rig.list()
      try rig.delete("n", at: 9, by: "Ann Ä. 🐦")
      try expect(rig.list(), [], "the list")
      for request: StoreRequest in [
        .note(id: "n"), .load(id: "n", recentMax: 9), .entries(id: "n", after: 0, through: 9),
        .rename(id: "n", title: "N", time: 9), .text(id: "n", at: .revision(1)),
        .history(id: "n", after: 0, limit: 9, pause: 1), .versions(id: "n"), .delete(id: "n"),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(2, op(4, "!"))]),
      ] {
        try expect(rig.error(request), .unknownDocument, "a request for it")
      }
      let expected = DeletedNote(
        note: before[0], deletion: Deletion(time: 9, author: "Ann Ä. 🐦"))
      try expect(expected.note.id, made.id, "its name")
      try expect(rig.deleted(), [expected], "the deleted notes")
      try rig.restart()
      rig.maintain()
      try expect(rig.deleted(), [expected], "the deleted notes after a restart")
    },
    ConformanceCheck("a restored note is as it was, and can be changed") { rig in
      try rig.create("n", title: "Title", time: 7)
      try rig.append("n", entry(1, op("on")), entry(2, op(2, "e"), client: "ben", sequence: 1))
      try rig.save(
        NamedVersion(revision: 1, name: "First", author: "Ann", time: 8), in: "n")
      let list = try rig.list()
      let (before, versions) = (try rig.load("n"), try rig.versions("n"))
      try rig.delete("n", at: 3_000)
      try rig.restart()
      rig.maintain()
      try expect(rig.bringBack("n"), list[0], "the reply")
      try expect(rig.list(), list, "the list")
      try expect(rig.deleted(), [], "the deleted notes")
      try expect(rig.load("n"), before)
      try expect(rig.versions("n"), versions, "the versions")
      try rig.append("n", entry(3, op(3, "!")))
      try rig.restart()
      try expect(text: rig.load("n").text, "one!", "the text after one more")
      try expect(rig.error(.deleted(.bringBack(id: "n"))), .unknownDocument, "a second return")
    },
    ConformanceCheck("deletions are committed with their batch or not at all, in order") { rig in
      try rig.create("n")
      let replies = try rig.perform(
        .delete(id: "n", keeping: Deletion(time: 9, author: "Ann")),
        .deleted(.bringBack(id: "n")),
        .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("a"))]),
        .delete(id: "n", keeping: Deletion(time: 10, author: "Ben")),
        .deleted(.list(after: nil, limit: 9)),
        .deleted(.remove(id: "x")))
      for reply in [replies[0], replies[2], replies[3]] { try rig.done(reply) }
      _ = try rig.note(replies[1])
      guard case .deletedNotes(let notes) = replies[4]
      else { throw unexpected(replies[4], "deleted notes") }
      try expect(notes.map(\.note.revision), [1], "the revision of the deleted note")
      try expect(notes.map(\.deletion.author), ["Ben"], "who deleted it")
      try expect(rig.error(replies[5]), .unknownDocument, "another")
    },
    ConformanceCheck("the name of a deleted note is free, and the newest deletion is meant") {
      rig in
      try rig.create("n", title: "First")
      try rig.delete("n", at: 10)
      try rig.create("n", title: "Second")
      try expect(rig.error(.deleted(.bringBack(id: "n"))), .exists, "a return to a taken name")
      try expect(rig.deleted().map(\.note.title), ["First"], "what is deleted")
      try rig.delete("n", at: 20)
      try expect(rig.deleted().map(\.note.title), ["Second", "First"], "both")
      try expect(rig.bringBack("n").title, "Second", "the first to return")
      try rig.delete("n")
      try expect(rig.bringBack("n").title, "First", "the next")
    },
    ConformanceCheck("names that look equal to a person are deleted and return apart") { rig in
      try rig.create("\u{e9}", title: "One")
      try rig.create("e\u{301}", title: "Two")
      try rig.delete("\u{e9}", at: 1)
      try rig.delete("e\u{301}", at: 2)
      try expect(rig.bringBack("\u{e9}").title, "One", "the one")
      try expect(rig.deleted().map(\.note.title), ["Two"], "the other")
    },
    ConformanceCheck("deleted notes are listed from any place, the newest deletion first") { rig in
      for (index, time) in [5, 3, 9, 3, 7].enumerated() {
        try rig.create("n\(index)")
        try rig.delete("n\(index)", at: Timestamp(time))
      }
      let all = try rig.deleted()
      try expect(all.map(\.note.id), ["n2", "n4", "n0", "n3", "n1"], "all of them")
      for (index, note) in all.enumerated() {
        let rest = try rig.deleted(after: NoteSortKey(note), limit: 2)
        try expect(rest, Array(all[(index + 1)...].prefix(2)), "those after one")
      }
      try expect(rig.deleted(limit: 0), [], "none of them")
    },
    ConformanceCheck("a note removed for good, or deleted long ago, cannot be restored") {
      rig in
      for (index, id) in (["a", "b", "c", "d"] as [DocumentID]).enumerated() {
        try rig.create(id)
        try rig.append(id, entry(1, op("text")))
        try rig.delete(id, at: Timestamp(10 * (index + 1)))
      }
      try rig.done(.deleted(.remove(id: "d")))
      try rig.done(.deleted(.removeOlder(than: 30, limit: 1)))
      try expect(rig.deleted().map(\.note.id), ["c", "b"], "after one")
      try rig.done(.deleted(.removeOlder(than: 30, limit: 9)))
      try expect(rig.deleted().map(\.note.id), ["c"], "after all that are older")
      rig.maintain()
      try rig.restart()
      rig.maintain()
      for id: DocumentID in ["a", "b", "d"] {
        try expect(rig.error(.deleted(.bringBack(id: id))), .unknownDocument, "the removed")
      }
      try rig.bringBack("c")
      try expect(text: rig.load("c").text, "text", "the text of the one that is left")
      // Their logs are deleted with them.
      try rig.create("a")
      try expect(text: rig.load("a").text, "", "the text of a new note of an old name")
    },
    ConformanceCheck("a note under an id of its maker's is restored to its maker") { rig in
      let draft = NoteDraft(id: "n", title: "Mine", owner: "ann", time: 5)
      func create() throws -> OnceReply {
        let reply = try rig.perform(.once(.create(draft, epoch: "e", restMax: 1_000)))[0]
        guard case .once(let once) = reply else { throw unexpected(reply, "the note") }
        return once
      }
      guard case .created = try create() else { throw ConformanceFailure("expected a new note") }
      try rig.delete("n", at: 6)
      try expect(create(), .deleted, "asked for again while it is deleted")
      let note = try rig.bringBack("n")
      try expect(create(), .found(note), "asked for again when it is back")
    },
  ]
}
