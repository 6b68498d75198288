import ParleyGatewayPorts
import OTCore

/// Requirements for rich notes.
extension DocumentStoreConformance {
  static let formats: [ConformanceCheck] = [
    ConformanceCheck("formatting is read as it was written, and folds into the attributes") { rig in
      try rig.create("n")
      var contents = [NoteContent()]
      var entries: [LogEntry] = []
      func append(_ operation: TextOperation, _ format: String? = nil) throws {
        let entry = try formatted(entries.count + 1, operation, format)
        try rig.append("n", entry)
        entries.append(entry)
        var content = contents[contents.count - 1]
        try content.apply(operation, entry.format)
        contents.append(content)
      }
      func check(_ what: String) throws {
        let document = try rig.load("n")
        try expect(document.recent, entries, "the newest entries \(what)")
        try expect(document.content, contents[entries.count], "the content \(what)")
        try expect(document.summary.kind, .rich, "the kind \(what)")
        try expect(rig.list().map(\.kind), [.rich], "the kind in the list \(what)")
        for revision in 0...entries.count {
          try expect(
            rig.text("n", at: .revision(revision)).content, contents[revision],
            "the content of revision \(revision) \(what)")
        }
      }
      try append(op("He said \"[a]\" \\"))
      try expect(rig.load("n").summary.kind, .plain, "the kind at first")
      try append(
        .identity(length: 15),
        #"{"kind":"rich","sets":[{"bold":true},{"link":"a\"]}"}],"kept":[0,2,1,6,5,2]}"#)
      try append(op(15, "]}\u{fffc}"), #"{"sets":[{"embed":{"rule":true}}],"put":[2,0,1,1]}"#)
      try append(op(-3, 15), #"{"sets":[{"bold":true,"link":null}],"kept":[6,9,1]}"#)
      try append(op(15, "!"))
      try check("at once")
      try rig.rename("n", title: "Renamed", time: 3_000)
      try rig.restart()
      rig.maintain()
      try check("after a restart")
      try rig.delete("n", at: 4_000)
      rig.maintain()
      try rig.bringBack("n")
      try check("after a restoration")
      try rig.compact("n", through: 3)
      rig.maintain()
      try rig.restart()
      try expect(rig.load("n").content, contents[5], "the content after compaction")
      try expect(
        rig.text("n", at: .revision(3)).content, contents[3], "the content of the base")
      try expect(rig.entries("n", after: 3, through: 5), Array(entries[3...]), "the entries left")
    },
    ConformanceCheck("a note that becomes rich without any attribute is a rich one") { rig in
      try rig.create("n")
      try rig.append("n", formatted(1, op("a"), #"{"kind":"rich"}"#))
      try rig.append("n", entry(2, op(1, "b")))
      try rig.restart()
      try expect(rig.load("n").summary.kind, .rich, "the kind")
      try expect(rig.load("n").content, NoteContent("ab"), "the content")
      let reply = try rig.perform(
        .create(id: "m", epoch: StoreRig.epoch, title: "M", time: 1, kind: .rich))[0]
      try expect(rig.note(reply).kind, .rich, "the kind of a new note")
      try rig.restart()
      try expect(rig.load("m").summary.kind, .rich, "the kind after a restart")
      try rig.delete("m")
      try rig.create("m")
      try expect(rig.load("m").summary.kind, .plain, "the kind of the next note of this id")
    },
    ConformanceCheck("a merged change has more sets of attributes than a client may send") { rig in
      let count = Format.setsMax + 1
      var builder = RichOperationBuilder()
      for number in 0..<count {
        builder.insert("x", with: try AttributeSet(json: "{\"size\":\(number)}"))
      }
      let operation = builder.finished()
      var merged = entry(1, operation.text)
      merged.format = ChangeFormat(operation.format, makesRich: true)
      try rig.create("n")
      try rig.append("n", merged)
      try rig.restart()
      try expect(rig.load("n").recent, [merged], "the entry")
    },
    ConformanceCheck("a file that an attribute names is in use") { rig in
      try rig.create("n")
      let shown = try rig.put("shown", [1], in: "n", at: 10).file
      let removed = try rig.put("removed", [2], in: "n", at: 10).file
      let unused = try rig.put("unused", [3], in: "n", at: 10).file
      func image(_ hash: FileHash) -> String {
        #"{"kind":"rich","sets":[{"embed":{"image":"\#(hash)/a.png"}}],"put":[1,1]}"#
      }
      try rig.append("n", formatted(1, op("\u{fffc}"), image(shown.hash)))
      try rig.append("n", formatted(2, op(1, "\u{fffc}"), image(removed.hash)))
      try rig.append("n", entry(3, op(1, -1)))
      let uses = try rig.uses("n", before: 20)
      try expect(uses.newest[shown.hash], 3, "the image that is shown")
      try expect(uses.newest[removed.hash], 2, "the image that was removed")
      try expect(uses.newest[unused.hash], .some(nil), "the file that nothing names")
      try expect(rig.settle(uses, of: "n", before: 20), 1, "the number of those removed")
      try rig.compact("n", through: 3)
      rig.maintain()
      let later = try rig.uses("n", before: 20)
      try expect(later.newest[removed.hash], .some(nil), "the removed image after compaction")
    },
  ]
}

/// Creates an entry with formatting, given as JSON.
func formatted(
  _ revision: Int, _ operation: TextOperation, _ format: String?
) throws -> LogEntry {
  var entry = entry(revision, operation)
  entry.format = try format.flatMap { try ChangeFormat(json: Array($0.utf8), of: operation) }
  return entry
}
