import GatewayPorts
import OTWorkloads

/// Requirements on the folders of notes.
extension DocumentStoreConformance {
  private static let everything = FolderCounting(notes: [NamePattern("*")], folders: [])

  /// Rights to read and change the notes of one folder and of those below it.
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
    ConformanceCheck("a deleted note comes back to its folder") { rig in
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
        let place = NotePlace(time: Timestamp(times[index]), id: id)
        let rest = try rig.ids(in: "team", after: place, limit: 2)
        try expect(rest, Array(all[(index + 1)...].prefix(2)), "those after \(id)")
      }
    },
    ConformanceCheck("folders are counted by those notes that count") { rig in
      for (id, folder) in [
        ("a", ""), ("b", "team"), ("c", "team/x"), ("d", "team/x"), ("e", "teamster"), ("f", "z"),
      ] {
        try rig.create(id)
        try rig.move(id, to: folder)
      }
      func counts(_ counting: FolderCounting) throws -> [String] {
        var all: [String] = []
        var last: FolderPath?
        repeat {
          guard
            case .folders(let page, let next) = try rig.folders(
              .list(after: last, limit: 2, counting: counting))
          else { throw ConformanceFailure("expected folders") }
          all += page.map { "\($0.folder.text):\($0.notes)" }
          last = next
        } while last != nil
        return all
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
    ConformanceCheck("a folder moves with all below it, in portions, or not at all") { rig in
      for (index, folder) in ["a", "a/b", "a/b/c", "ab", "a/b", "a-"].enumerated() {
        try rig.create("n\(index)", time: Timestamp(index))
        try rig.move("n\(index)", to: folder)
      }
      let request = FolderRequest.moveAll(
        from: try FolderPath("a"), to: try FolderPath("x/y"), limit: 3)
      guard case .moved(let first, hasMore: true) = try rig.folders(request) else {
        throw ConformanceFailure("expected a first portion")
      }
      try expect(first.map(\.id), ["n0", "n1", "n4"], "the first portion")
      guard case .moved(let rest, hasMore: false) = try rig.folders(request) else {
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
        var hasMore = true
        while hasMore {
          let reply = try rig.folders(
            .moveAll(from: FolderPath(old), to: FolderPath(new), limit: limit))
          guard case .moved(let notes, let isCut) = reply
          else { throw unexpected(reply, "notes that were moved") }
          places += notes.map { "\($0.id):\($0.folder.text)" }
          hasMore = isCut && places.count < 9
        }
        return places.sorted()
      }
      try expect(
        move("a/b", "a", limit: 2), ["n0:a/b", "n1:a", "n2:a/b/b", "n3:a/c", "n4:a/z"],
        "the notes of the folder")
      try expect(
        move("a", "", limit: 9), ["n0:b", "n1:", "n2:b/b", "n3:c", "n4:z", "n5:bb"],
        "the notes of the one above")
      try rig.create("late")
      try rig.move("late", to: "b/b/x")
      try expect(
        rig.folders(.moveAll(from: FolderPath("b"), to: .none, limit: 1)), .tooManyWithin,
        "a move of more than come to places within the folder at once")
      try expect(rig.ids(in: "b") + rig.ids(in: "b/b"), ["n0", "n2"], "what was not moved")
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
