import ParleyGatewayPorts
import ParleyOTWorkloads

/// Requirements for folders of notes.
extension DocumentStoreConformance {
  private static let everything = FolderCounting(notes: [NamePattern("*")], folders: [])

  /// Returns rights to read and change the notes in a folder and its subfolders.
  private static func rights(in folder: String) throws -> FolderRights {
    let identity = Identity(
      user: "ann", grants: [try Grant(.folders, text: folder + "/*=read,write")])
    guard case .inFolders(let rights) = identity.right(to: [.read, .write], ofNote: "n") else {
      throw ConformanceFailure("expected rights that depend on the folder")
    }
    return rights
  }

  private static func within(_ folder: String, _ work: StoreRequest) throws -> StoreRequest {
    .within(FolderCondition(id: "n", rights: try rights(in: folder)), work)
  }

  static let folders: [ConformanceCheck] = [
    ConformanceCheck(
      "a note is in the folder that it was made in or moved to, whatever else changes"
    ) {
      rig in
      _ = try rig.perform(
        .create(
          id: "n", epoch: StoreRig.epoch, title: "N", time: 7, folder: FolderPath("team/Größe 🐦")))
      try rig.create("m", time: 8)
      try rig.append("n", entry(1, op("text")))
      let note = try rig.rename("n", title: "M", time: 9)
      try expect(note.folder.text, "team/Größe 🐦", "the folder it was made in")
      try rig.restart()
      rig.maintain()
      try expect(rig.load("n").summary.folder, note.folder, "the folder after a restart")
      try expect(rig.ids(in: "team/Größe 🐦"), ["n"], "its notes")
      try expect(rig.ids(in: "team"), [], "the notes of the folder above")
      try expect(rig.ids(in: ""), ["m"], "the notes in none")
      let moved = try rig.move("n", to: "archive")
      var expected = note
      expected.folder = try FolderPath("archive")
      expected.revision = 1
      expected.updatedAt = moved.updatedAt
      try expect(moved, expected, "the note that was moved")
      try expect(rig.load("n").summary, moved, "the note as it is loaded")
      try expect(rig.list().first { $0.id == "n" }, moved, "the note in the list")
      try expect(rig.move("n", to: "", title: "O", time: 5_000).title, "O", "the title with a move")
      try rig.append("n", entry(2, op(4, "!")))
      try rig.restart()
      try expect(rig.ids(in: ""), ["m", "n"], "all notes")
      try expect(
        rig.error(.folders(.move(id: "x", to: .none, time: 9))), .unknownDocument, "no note")
    },
    ConformanceCheck("a deleted note is restored to its folder") { rig in
      try rig.create("n")
      try rig.move("n", to: "team")
      try rig.delete("n", at: 9)
      try expect(rig.ids(in: "team"), [], "the folder without it")
      try expect(rig.deleted().map(\.note.folder.text), ["team"], "the folder that it was in")
      try rig.restart()
      try expect(rig.bringBack("n").folder.text, "team", "the folder that it is in")
      try expect(rig.ids(in: "team"), ["n"], "the folder with it")
    },
    ConformanceCheck("notes of a folder are listed from any place, the newest first") { rig in
      for (index, time) in [5, 3, 9, 3, 7].enumerated() {
        try rig.create("n\(index)", time: Timestamp(time))
        try rig.move("n\(index)", to: "team")
        try rig.create("other\(index)", time: Timestamp(time))
      }
      let all = try rig.ids(in: "team")
      try expect(all, ["n2", "n4", "n0", "n3", "n1"], "all of them")
      let times = [9, 7, 5, 3, 3]
      for (index, id) in all.enumerated() {
        let place = NoteSortKey(time: Timestamp(times[index]), id: id)
        let rest = try rig.ids(in: "team", after: place, limit: 2)
        try expect(rest, Array(all[(index + 1)...].prefix(2)), "those after \(id)")
      }
    },
    ConformanceCheck("folders are counted by those notes that count") { rig in
      for (id, folder) in [
        ("a", ""), ("b", "team"), ("c", "team/x"), ("d", "team/x"), ("e", "teamster"), ("f", "z"),
      ] {
        try rig.create(DocumentID(id))
        try rig.move(DocumentID(id), to: folder)
      }
      func counts(_ counting: FolderCounting) throws -> [String] {
        try rig.counts(counting, limit: 2, work: 100_000)
      }
      try expect(
        counts(everything), [":1", "team:1", "team/x:2", "teamster:1", "z:1"], "all notes")
      let below = FolderCounting(
        notes: [NamePattern("e"), NamePattern("d")], folders: [NamePattern("team/x")])
      try expect(counts(below), ["team/x:2", "teamster:1"], "some notes and one folder")
      try expect(counts(FolderCounting(notes: [], folders: [])), [], "none")
      try rig.create("late", time: 2_000)
      let names = ["late", "d", "a", "d", "x", "f", "c"].map { NamePattern(exactly: $0) }
      try expect(
        counts(FolderCounting(notes: names, folders: [])), [":2", "team/x:2", "z:1"],
        "notes by their names")
      try expect(
        counts(FolderCounting(notes: names, folders: [], madeUntil: 1_500)),
        [":1", "team/x:2", "z:1"], "those that were made by then")
      try expect(
        counts(
          FolderCounting(
            notes: [NamePattern("l*")], folders: [NamePattern("z")], madeUntil: 1_500)),
        ["z:1"], "those of a pattern that were made by then")
      try expect(
        rig.folders(.of(["d", "x", "a"])), .of([FolderPath("team/x"), nil, FolderPath.none]),
        "the folders of some")
    },
    ConformanceCheck("folders are counted in steps of bounded work, with the same result") { rig in
      var expected: [String: Int] = [:]
      for index in 0..<40 {
        let folder = ["", "a", "a/b", "b", "c/d/e"][index * index % 5]
        // Several notes have the same time, and are ordered by id.
        try rig.create("n\(index)", time: Timestamp(index / 7))
        try rig.move("n\(index)", to: folder)
        if index % 3 == 0 { expected[folder, default: 0] += 1 }
      }
      let third = (0..<40).filter { $0 % 3 == 0 }.map { NamePattern(exactly: "n\($0)") }
      // With a pattern besides the names, every note is examined.
      let countings = [
        everything, FolderCounting(notes: third + [NamePattern("x*")], folders: []),
        FolderCounting(notes: [], folders: [NamePattern("a/*"), NamePattern("c/d/e")]),
        FolderCounting(notes: [NamePattern("n1*")], folders: [NamePattern("b")]),
      ]
      for counting in countings {
        let all = try rig.counts(counting, limit: 100, work: 100_000)
        for (limit, work) in [(100, 1), (1, 3), (2, 8), (100, 17), (3, 40)] {
          let counts = try rig.counts(counting, limit: limit, work: work)
          try expect(counts, all, "steps of \(work) notes and \(limit) folders")
        }
      }
      try expect(
        rig.counts(countings[1], limit: 9, work: 5),
        expected.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }, "every third note")
      guard
        case .folders(let found, .some) = try rig.folders(
          .list(after: nil, limit: 100, counting: countings[1], work: 8))
      else { throw ConformanceFailure("expected a step that ends before the list does") }
      try expect(found.count < expected.count, true, "a step's folders are few")
    },
    ConformanceCheck("a folder moves with all below it, in portions, or not at all") { rig in
      for (index, folder) in ["a", "a/b", "a/b/c", "ab", "a/b", "a-"].enumerated() {
        try rig.create("n\(index)", time: Timestamp(index))
        try rig.move("n\(index)", to: folder)
      }
      let request = FolderRequest.moveAll(
        from: try FolderPath("a"), to: try FolderPath("x/y"), limit: 3)
      guard case .moved(let first, hasMore: true, rest: nil) = try rig.folders(request) else {
        throw ConformanceFailure("expected a first portion")
      }
      try expect(first.map(\.id), ["n0", "n1", "n4"], "the first portion")
      guard case .moved(let rest, hasMore: false, rest: nil) = try rig.folders(request) else {
        throw ConformanceFailure("expected the rest")
      }
      try expect(rest.map(\.folder.text), ["x/y/b/c"], "the rest")
      try expect(rig.ids(in: "x/y/b"), ["n4", "n1"], "what was below")
      try expect(rig.ids(in: "ab") + rig.ids(in: "a-"), ["n3", "n5"], "what only begins alike")
      let deep = try FolderPath("1/2/3/4/5/6")
      let unfit = try rig.folders(.moveAll(from: FolderPath("x"), to: deep, limit: 9))
      try expect(unfit, .unfit(.tooDeep(depth: 9)), "a path too deep")
      try rig.restart()
      try expect(rig.ids(in: "x/y"), ["n0"], "what was not moved")
    },
    ConformanceCheck("a folder that moves to the one above moves each note once, in portions") {
      rig in
      for (index, folder) in ["a/b/b", "a/b", "a/b/b/b", "a/b/c", "a/b/z", "a/bb"].enumerated() {
        try rig.create("n\(index)", time: Timestamp(index))
        try rig.move("n\(index)", to: folder)
      }
      func move(_ old: String, _ new: String, limit: Int) throws -> [String] {
        var places: [String] = []
        var next: FolderMove? = FolderMove(from: try FolderPath(old), to: try FolderPath(new))
        while let move = next, places.count < 9 {
          let reply = try rig.folders(.moveAll(from: move.old, to: move.new, limit: limit))
          guard case .moved(let notes, let hasMore, let rest) = reply, notes.count <= limit
          else { throw unexpected(reply, "notes that were moved") }
          places += notes.map { "\($0.id):\($0.folder.text)" }
          next = hasMore ? move : rest
        }
        return places.sorted()
      }
      try expect(
        move("a/b", "a", limit: 2), ["n0:a/b", "n1:a", "n2:a/b/b", "n3:a/c", "n4:a/z"],
        "the notes of the folder")
      try expect(
        move("a", "", limit: 9), ["n0:b", "n1:", "n2:b/b", "n3:c", "n4:z", "n5:bb"],
        "the notes of the one above")
      // Two of them move into the folder itself, and one into its subfolder.
      for (id, folder) in [("late", "b/b/x"), ("last", "b/b/b"), ("other", "b/b!x"), ("z", "b/a")] {
        try rig.create(DocumentID(id))
        try rig.move(DocumentID(id), to: folder)
      }
      try expect(
        move("b", "", limit: 1),
        ["late:b/x", "last:b/b", "n0:", "n2:b", "other:b!x", "z:a"].sorted(),
        "more notes of the folder below than move at once")
      for id: DocumentID in ["two", "three"] {
        try rig.create(id)
        try rig.move(id, to: "q/q")
      }
      try expect(
        rig.folders(.moveAll(from: FolderPath("q"), to: .none, limit: 1)),
        .moved([], hasMore: false, rest: FolderMove(from: FolderPath("q/q"), to: FolderPath("q"))),
        "the move that is due next")
    },
    ConformanceCheck("a folder whose name is a sign elsewhere has its own notes, and no others") {
      rig in
      let folders = HostileNames.plain.compactMap { try? FolderPath($0) }
      let creations = folders.enumerated().map { index, folder in
        StoreRequest.create(
          id: "n\(index)", epoch: StoreRig.epoch, title: folder.text, time: Timestamp(index),
          folder: folder)
      }
      _ = try rig.perform(creations)
      for (index, folder) in folders.enumerated() {
        try expect(
          rig.ids(in: folder.text), ["n\(index)"], "the notes of \(folder.text.debugDescription)")
      }
    },
    ConformanceCheck(
      "work under a condition is done in those folders alone, in the order of the batch"
    ) {
      rig in
      try rig.create("n")
      try rig.move("n", to: "team/a")
      let write = try within("team", .rename(id: "n", title: "Mine", time: 9))
      let replies = try rig.perform(
        write,
        .folders(.move(id: "n", to: FolderPath("other"), time: 9)),
        within("team", .rename(id: "n", title: "Stolen", time: 10)),
        within("team", .append(id: "n", epoch: StoreRig.epoch, entries: [entry(1, op("a"))])),
        within("team", .note(id: "n")), within("other", .note(id: "n")))
      _ = try rig.note(replies[0])
      for reply in replies[2...4] { try expect(rig.error(reply), .outOfReach, "work elsewhere") }
      try expect(rig.note(replies[5]).title, "Mine", "what was done")
      try rig.delete("n", at: 20)
      try expect(rig.error(within("other", .note(id: "n"))), .outOfReach, "a note that is gone")
      let back = StoreRequest.deleted(.bringBack(id: "n"))
      for (folder, isHeld) in [("team", false), ("other", true)] {
        let condition = FolderCondition(id: "n", rights: try rights(in: folder), isOfDeleted: true)
        let reply = try rig.perform([.within(condition, back)])[0]
        try expect(reply.isDone, isHeld, "a return from \(folder)")
      }
    },
  ]
}
