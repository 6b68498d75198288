import ParleyGatewayPorts

/// Requirements for files of notes.
extension DocumentStoreConformance {
  static let files: [ConformanceCheck] = [
    ConformanceCheck("a file that was kept is there after a restart, for its note alone") { rig in
      try rig.create("n")
      try rig.create("m")
      let bytes = [UInt8](0...255)
      let kept = try rig.put("Gr\u{f6}\u{df}e \u{1f426}.png", bytes, in: "n", at: 7)
      try expect(kept.isNew, true, "whether it is new")
      try expect(kept.file.byteCount, 256, "its size")
      try expect(kept.file.time, 7, "its time")
      try rig.restart()
      rig.maintain()
      try expect(rig.files("n"), [kept.file], "the note's files")
      try expect(rig.files("m"), [], "the other note's")
      try expect(
        rig.file(.read(id: "n", kept.file.hash, withBytes: true)), .file(kept.file, bytes),
        "the file")
      try expect(
        rig.file(.read(id: "n", kept.file.hash, withBytes: false)), .file(kept.file, nil),
        "the file without its bytes")
      try expect(
        rig.file(.read(id: "m", kept.file.hash, withBytes: true)), .unknownFile,
        "the file by another note")
      try expect(
        rig.error(.files(.read(id: "x", kept.file.hash, withBytes: true))), .unknownDocument,
        "the file by a note that is not there")
    },
    ConformanceCheck("a content that two notes have is each one's own, under its own name") { rig in
      try rig.create("n")
      try rig.create("m")
      let first = try rig.put("a.bin", [1, 2, 3], in: "n", at: 1).file
      let second = try rig.put("b.bin", [1, 2, 3], in: "m", at: 2)
      try expect(second.file.hash, first.hash, "the hash")
      try expect(second.isNew, true, "whether it is new to the second note")
      try expect(second.file.name, "b.bin", "the second name")
      try expect(rig.put("c.bin", [1, 2, 3], in: "n", at: 5).isNew, false, "a repetition")
      var again = first
      again.time = 5
      try expect(rig.files("n"), [again], "the first note's files")
      try rig.delete("n")
      rig.maintain()
      try rig.restart()
      rig.maintain()
      try expect(
        rig.file(.read(id: "m", first.hash, withBytes: true)), .file(second.file, [1, 2, 3]),
        "the second note's file without the first note")
    },
    ConformanceCheck("a note's files are listed with the newest first, and have a bound") { rig in
      try rig.create("n")
      let old = try rig.put("old", [1], in: "n", at: 1).file
      let new = try rig.put("new", [2, 2], in: "n", at: 2).file
      try expect(rig.files("n"), [new, old], "the files")
      func put(
        _ bytes: [UInt8], bytesMax: Int = .max, filesMax: Int = NoteFile.countMax
      ) throws -> FileReply {
        let draft = FileDraft(name: "more", bytes: bytes, time: 3)
        let limits = FileLimits(noteBytesMax: bytesMax, diskReserveBytes: 0, noteFilesMax: filesMax)
        return try rig.file(.put(id: "n", draft, limits))
      }
      try expect(put([3, 3], bytesMax: 4), .noteFull(byteCount: 3), "one too many")
      guard case .kept = try put([3, 3], bytesMax: 5)
      else { throw ConformanceFailure("expected the bound itself to be allowed") }
      guard case .kept(_, isNew: false) = try put([2, 2], bytesMax: 0)
      else { throw ConformanceFailure("expected a file that is there to cost nothing") }
      try expect(put([4], filesMax: 3), .tooManyFiles(count: 3), "one file too many")
      guard case .kept = try put([4], filesMax: 4)
      else { throw ConformanceFailure("expected the bound itself to be allowed") }
      guard case .kept(_, isNew: false) = try put([4], filesMax: 1)
      else { throw ConformanceFailure("expected a file that is there not to count again") }
    },
    ConformanceCheck("files are committed with their batch or not at all") { rig in
      try rig.create("n")
      let draft = FileDraft(name: "a", bytes: [9], time: 1)
      let replies = try rig.perform(
        .files(.put(id: "n", draft, .unbounded)), .files(.put(id: "x", draft, .unbounded)),
        .files(.list(id: "n")))
      try expect(rig.error(replies[1]), .unknownDocument, "a note that is not there")
      guard case .files(.files(let files)) = replies[2]
      else { throw unexpected(replies[2], "files") }
      try expect(files.map(\.name), ["a"], "the files")
    },
    ConformanceCheck("a restored note has the files that it had when it was deleted") {
      rig in
      try rig.create("n")
      let file = try rig.put("a", [9], in: "n", at: 1).file
      try rig.delete("n", at: 5)
      try expect(rig.unsettled(before: 1_000), [], "notes whose files are looked for")
      rig.maintain()
      try rig.restart()
      rig.maintain()
      try rig.bringBack("n")
      try expect(rig.file(.read(id: "n", file.hash, withBytes: true)), .file(file, [9]), "the file")
      try expect(rig.unsettled(before: 1_000), ["n"], "notes whose files are looked for")
    },
    ConformanceCheck("a file that no revision names is removed when it is old, and no other") {
      rig in
      try rig.create("n")
      let named = try rig.put("named", [1], in: "n", at: 10).file
      let typed = try rig.put("typed", [2], in: "n", at: 10).file
      let erased = try rig.put("erased", [3], in: "n", at: 10).file
      let unused = try rig.put("unused", [4], in: "n", at: 10).file
      let young = try rig.put("young", [5], in: "n", at: 20).file
      // One is pasted, one is typed in two parts, and one is pasted and deleted.
      try rig.append("n", entry(1, op(.text("[a](files/\(named.hash)/a) "))))
      let length = 10 + 64 + 4
      let digits = typed.hash.description
      try rig.append("n", entry(2, op(.number(length), .text(String(digits.prefix(30))))))
      try rig.append("n", entry(3, op(.number(length + 30), .text(String(digits.suffix(34))))))
      try rig.append("n", entry(4, op(.text("\(erased.hash)"), .number(length + 64))))
      try rig.append("n", entry(5, op(-64, .number(length + 64))))
      try expect(rig.unsettled(before: 20), ["n"], "notes whose files are looked for")
      try expect(rig.unsettled(before: 20, after: "n"), [], "those behind it")
      let uses = try rig.uses("n", before: 20)
      try expect(
        uses,
        FileUses(
          head: 5,
          newest: [named.hash: 5, typed.hash: 5, erased.hash: 4, unused.hash: nil as Int?]),
        "the uses")
      try expect(rig.settle(uses, of: "n", before: 20), 1, "the number of those removed")
      try rig.restart()
      try expect(
        Set(rig.files("n").map(\.name)), ["named", "typed", "erased", "young"], "those left")
      try expect(
        rig.file(.read(id: "n", unused.hash, withBytes: true)), .unknownFile, "the one removed")
      try expect(rig.unsettled(before: 20), [], "notes whose files are looked for again")
      // The compacted log no longer contains the file's hash, but the version's text does.
      try rig.save(NamedVersion(revision: 4, name: "V", author: "Ann", time: 5), in: "n")
      try rig.compact("n", through: 5)
      rig.maintain()
      let after = try rig.uses("n", before: 20)
      try expect(after.newest, [erased.hash: 5], "the uses after compaction")
      try rig.done(.deleteVersion(id: "n", revision: 4))
      rig.maintain()
      let last = try rig.uses("n", before: 20)
      try expect(last.newest, [erased.hash: nil as Int?], "the uses without the version")
      try expect(rig.settle(last, of: "n", before: 20), 1, "the number of those removed then")
      try expect(rig.files("n").contains { $0.hash == young.hash }, true, "the young one")
    },
    ConformanceCheck("a file is not removed whose note has changed since it was looked for") {
      rig in
      try rig.create("n")
      let file = try rig.put("a", [1], in: "n", at: 10).file
      let uses = try rig.uses("n", before: 20)
      try rig.append("n", entry(1, op(.text("\(file.hash)"))))
      try expect(rig.settle(uses, of: "n", before: 20), 0, "the number of those removed")
      let later = try rig.uses("n", before: 20)
      try expect(rig.settle(later, of: "n", before: 20), 0, "the number of those removed later")
      try rig.create("m")
      let again = try rig.put("a", [2], in: "m", at: 10).file
      let unused = try rig.uses("m", before: 20)
      _ = try rig.put("a", [2], in: "m", at: 30)
      try expect(rig.settle(unused, of: "m", before: 20), 0, "one that was put there again")
      try expect(rig.files("m").map(\.hash), [again.hash], "the file")
    },
  ]
}

extension StoreRig {
  func file(_ request: FileRequest) throws -> FileReply {
    let reply = try perform(.files(request))[0]
    guard case .files(let files) = reply else { throw unexpected(reply, "a reply about files") }
    return files
  }

  func put(
    _ name: String, _ bytes: [UInt8], in id: DocumentID, at time: Timestamp
  ) throws -> (file: NoteFile, isNew: Bool) {
    let reply = try file(.put(id: id, FileDraft(name: name, bytes: bytes, time: time), .unbounded))
    guard case .kept(let file, let isNew) = reply
    else { throw unexpected(reply, "a file that is kept") }
    return (file, isNew)
  }

  func files(_ id: DocumentID) throws -> [NoteFile] {
    let reply = try file(.list(id: id))
    guard case .files(let files) = reply else { throw unexpected(reply, "files") }
    return files
  }

  func unsettled(before time: Timestamp, after id: DocumentID? = nil) throws -> [DocumentID] {
    let reply = try file(.unsettled(before: time, after: id, limit: 100))
    guard case .notes(let notes) = reply else { throw unexpected(reply, "notes") }
    return notes
  }

  func uses(_ id: DocumentID, before time: Timestamp) throws -> FileUses {
    let reply = try file(.search(id: id, before: time))
    guard case .uses(let uses) = reply else { throw unexpected(reply, "uses of files") }
    return uses
  }

  func settle(_ uses: FileUses, of id: DocumentID, before time: Timestamp) throws -> Int {
    let reply = try file(.settle(id: id, uses, before: time))
    guard case .settled(let removed) = reply else { throw unexpected(reply, "a number of files") }
    return removed
  }
}
