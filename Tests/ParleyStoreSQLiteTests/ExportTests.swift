import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Export and import")
struct ExportTests {
  private static let text = "# Größe\n\"quoted\\ \u{0}\u{1f}\u{2028} 🐦👩‍👩‍👧\r\ne\u{301}\u{10ffff}"

  private func details(_ id: DocumentID, time: Timestamp = 9_000) -> NoteImport.Details {
    NoteImport.Details(id: id, epoch: "new", title: "Imported", author: "Eve", time: time)
  }

  private func makeStore() -> MemoryStore {
    let store = MemoryStore()
    store.create("n", title: "Ti\"tle")
    store.type("ab", in: "n", after: 0)
    var paste = TextOperation()
    paste.retain(1)
    paste.insert(Self.text)
    paste.delete(1)
    var third = entry(3, paste, client: "ben")
    third.author = ""
    third.digest = .max
    #expect(store.error(.append(id: "n", epoch: epoch, entries: [third])) == nil)
    #expect(store.error(.saveVersion(id: "n", epoch: epoch, version: version(1, "Old"))) == nil)
    #expect(store.error(.saveVersion(id: "n", epoch: epoch, version: version(3, "🐦"))) == nil)
    return store
  }

  private func export(_ id: DocumentID, _ store: MemoryStore, as format: ExportFormat) throws
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    try NoteExport(from: store).export(id, as: format) { bytes += $0 }
    return bytes
  }

  @Test("each format is imported with the same text", arguments: ExportFormat.imported)
  func roundTrip(format: ExportFormat) throws {
    let store = makeStore()
    let bytes = try export("n", store, as: format)
    let summary = try NoteImport(into: store).importNote(bytes, as: format, details("m"))
    let (old, new) = try (store.load("n"), store.load("m"))
    let plain = WholeText.shown(Array(old.text.utf8))
    #expect(plain != Array(old.text.utf8))
    // A whole text is imported with LF; a log is imported unchanged.
    #expect(Array(new.text.utf8) == (format == .operations ? Array(old.text.utf8) : plain))
    #expect(new.epoch == "new")
    #expect(summary == new.summary)
    switch format {
    case .markdown, .text:
      #expect(bytes == plain)
      #expect(new.summary.title == "Imported")
    case .json: #expect(new.summary.title == "Ti\"tle")
    case .html: break
    case .operations:
      #expect(new.summary.title == "Ti\"tle")
      #expect(new.recent == old.recent)
      #expect(new.marks == old.marks)
      #expect(store.versions("m") == store.versions("n"))
    }
  }

  @Test(
    "the formatting of a rich note is exported and imported",
    arguments: [ExportFormat.json, .operations])
  func formatting(format: ExportFormat) throws {
    let store = makeStore()
    var bold = entry(4, .identity(length: try store.load("n").content.text.scalarCount))
    bold.format = try ChangeFormat(
      json: Array(#"{"kind":"rich","sets":[{"bold":true}],"kept":[1,3,1]}"#.utf8),
      of: bold.operation)
    #expect(store.error(.append(id: "n", epoch: epoch, entries: [bold])) == nil)
    let bytes = try export("n", store, as: format)
    let summary = try NoteImport(into: store).importNote(bytes, as: format, details("m"))
    let (old, new) = try (store.load("n"), store.load("m"))
    #expect(summary.kind == .rich)
    #expect(new.content == old.content)
    guard format == .operations else { return }
    #expect(new.recent == old.recent)
    // Programs that know only plain notes reject it.
    #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"format":"parley.operations.2","#))
    #expect(store.error(.compact(id: "n", through: 4)) == nil)
    let compacted = try export("n", store, as: format)
    try NoteImport(into: store).importNote(compacted, as: format, details("k"))
    #expect(try store.load("k").content == old.content)
  }

  @Test func `a note is exported as HTML and Markdown`() throws {
    let store = makeStore()
    let text = try store.load("n").content.text
    var bold = entry(4, .identity(length: text.scalarCount))
    bold.format = try ChangeFormat(
      json: Array(#"{"kind":"rich","sets":[{"bold":true}],"kept":[0,1,1]}"#.utf8),
      of: bold.operation)
    let plain = String(decoding: try export("n", store, as: .markdown), as: UTF8.self)
    #expect(plain.hasPrefix(String(text.text.prefix(1))))
    let page = String(decoding: try export("n", store, as: .html), as: UTF8.self)
    #expect(page.contains("<title>Ti&quot;tle</title>"))
    #expect(!page.contains("<strong>"))
    #expect(store.error(.append(id: "n", epoch: epoch, entries: [bold])) == nil)
    let first = text.text.unicodeScalars.first.map(String.init) ?? ""
    let markdown = String(decoding: try export("n", store, as: .markdown), as: UTF8.self)
    #expect(markdown.hasPrefix("**\(first)**"))
    let rich = String(decoding: try export("n", store, as: .html), as: UTF8.self)
    #expect(rich.contains("<strong>\(first)</strong>"))
    #expect(String(decoding: try export("n", store, as: .text), as: UTF8.self).hasPrefix(first))
    #expect(throws: ExportError.malformed(line: 1, expected: "a file that is not HTML")) {
      try NoteImport(into: store).importNote(Array(rich.utf8), as: .html, details("m"))
    }
  }

  @Test("titles and names of versions come in as one line", arguments: ExportFormat.imported)
  func oneLine(format: ExportFormat) throws {
    let store = makeStore()
    _ = store.perform([.rename(id: "n", title: "a\nb\u{1b}", time: 2_000)])
    #expect(store.error(.saveVersion(id: "n", epoch: epoch, version: version(1, "v\r\nw"))) == nil)
    var details = details("m")
    details.title = "\u{0}a\nb"
    let bytes = try export("n", store, as: format)
    #expect(try NoteImport(into: store).importNote(bytes, as: format, details).title == "a b")
    guard case .operations = format else { return }
    // A carriage return with a line feed is one Character but two scalars.
    #expect(store.versions("m").map(\.name) == ["🐦", "v  w"])
  }

  @Test("a compacted log is exported with the text it begins from")
  func compacted() throws {
    let store = makeStore()
    #expect(store.error(.compact(id: "n", through: 2)) == nil)
    let bytes = try export("n", store, as: .operations)
    try NoteImport(into: store).importNote(bytes, as: .operations, details("m"))
    let (old, new) = try (store.load("n"), store.load("m"))
    #expect(new.text.utf8.elementsEqual(old.text.utf8))
    #expect(new.recent.map(\.client) == ["import", "ben"])
    #expect(new.recent.map(\.time) == [1_002, 1_003])
    #expect(store.versions("m").map(\.revision) == [2])
  }

  @Test("an empty note is imported", arguments: ExportFormat.imported)
  func empty(format: ExportFormat) throws {
    let store = MemoryStore()
    store.create("n")
    let bytes = try export("n", store, as: format)
    try NoteImport(into: store).importNote(bytes, as: format, details("m"))
    #expect(try store.load("m").text.isEmpty)
  }

  @Test("a long log is imported")
  func long() throws {
    let store = MemoryStore()
    store.create("n")
    var revision = 0
    for _ in 0..<25 {
      revision = store.type(String(repeating: "x", count: 101), in: "n", after: revision)
    }
    let bytes = try export("n", store, as: .operations)
    try NoteImport(into: store).importNote(bytes, as: .operations, details("m"))
    #expect(try store.load("m").summary.revision == 2_525)
    #expect(store.log(of: "m") == store.log(of: "n"))
  }

  @Test("an export that lacks its last entries is refused, not taken for a shorter note")
  func cut() throws {
    let store = makeStore()
    let bytes = try export("n", store, as: .operations)
    let lines = bytes.split(separator: 0x0a)
    for count in 1...3 {
      let part = Array(lines.prefix(count).joined(separator: [0x0a])) + [0x0a]
      #expect(
        throws: ExportError.malformed(
          line: count + 1, expected: "all 3 revisions that the first line names; the file seems cut"
        )
      ) {
        try NoteImport(into: store).importNote(part, as: .operations, details("m"))
      }
      #expect(store.error(.load(id: "m", recentMax: 0)) == .unknownDocument)
    }
  }

  @Test("a first line whose revisions cannot be is refused", arguments: [Int.min, -1, 4])
  func revisionsBeforeTheirBase(revision: Int) throws {
    let store = makeStore()
    let line =
      #"{"format":"parley.operations.1","title":"T","revision":\#(revision),"baseRevision":5,"#
      + #""baseTime":1,"baseText":"text"}"#
    #expect(
      throws: ExportError.malformed(
        line: 1, expected: "a revision that is not before the base revision, 5")
    ) {
      try NoteImport(into: store).importNote(
        Array(line.utf8), as: .operations, details("m"))
    }
    #expect(store.error(.load(id: "m", recentMax: 0)) == .unknownDocument)
  }

  @Test("a taken name is refused, and an unknown note")
  func names() throws {
    let store = makeStore()
    #expect(throws: ExportError.store(.exists)) {
      try NoteImport(into: store).importNote([], as: .text, details("n"))
    }
    #expect(throws: ExportError.store(.unknownDocument)) {
      try NoteExport(from: store).export("x", as: .text) { _ in }
    }
    #expect(try store.load("n").summary.revision == 3)
  }

  @Test("a full disk leaves no note behind")
  func fullDisk() throws {
    let store = makeStore()
    store.isDiskFull = true
    #expect(throws: ExportError.self) {
      try NoteImport(into: store).importNote([0x61], as: .text, details("m"))
    }
    store.isDiskFull = false
    #expect(store.error(.load(id: "m", recentMax: 0)) == .unknownDocument)
  }

  @Test("bytes that are no text are refused, with the line")
  func notText() {
    #expect(throws: ExportError.malformed(line: 3, expected: "UTF-8")) {
      try NoteImport(into: MemoryStore()).importNote(
        Array("one\ntwo\nthr".utf8) + [0xff, 0xfe], as: .markdown, details("m"))
    }
  }

  @Test("every cut and every changed byte of an export is refused or read, never a crash")
  func mangled() throws {
    let source = makeStore()
    for format in [ExportFormat.json, .operations] {
      let bytes = try export("n", source, as: format)
      for index in bytes.indices {
        let store = MemoryStore()
        _ = try? NoteImport(into: store).importNote(
          Array(bytes[..<index]), as: format, details("cut"))
        for byte in [0x00, 0x22, 0x5d, 0x7b, 0x5c, 0xff, 0x39] as [UInt8] {
          var mangled = bytes
          mangled[index] = byte
          do throws(ExportError) {
            try NoteImport(into: store).importNote(mangled, as: format, details("m"))
            #expect(store.error(.delete(id: "m")) == nil)
          } catch {
            #expect(store.error(.load(id: "m", recentMax: 0)) == .unknownDocument)
          }
        }
      }
    }
  }
}

extension MemoryStore {
  fileprivate func versions(_ id: DocumentID) -> [NamedVersion] {
    guard case .versions(let versions) = one(.versions(id: id)) else { return [] }
    return versions
  }
}
