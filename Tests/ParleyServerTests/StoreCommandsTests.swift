import ParleyGatewayPorts
import Glibc
import ParleyServer
import SocketMessages
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("What the program does with a store")
struct StoreCommandsTests {
  /// A folder that is removed after the test.
  private final class Folder {
    let path: String

    init() {
      var template = Array("/tmp/parley-commands-XXXXXX".utf8CString)
      path = template.withUnsafeMutableBufferPointer { buffer in
        guard let template = buffer.baseAddress, let made = mkdtemp(template) else {
          preconditionFailure("no folder for a test could be made")
        }
        return String(cString: made)
      }
    }

    deinit { try? remove(path) }

    private func remove(_ path: String) throws {
      guard let folder = opendir(path) else { return }
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
          String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
        }
        if name != ".", name != ".." { unlink(path + "/" + name) }
      }
      closedir(folder)
      rmdir(path)
    }

    func write(_ text: String, as name: String) -> String {
      let file = path + "/" + name
      let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
      let bytes = Array(text.utf8)
      _ = Glibc.write(descriptor, bytes, bytes.count)
      close(descriptor)
      return file
    }
  }

  private static func commands(
    in folder: Folder, _ change: (inout Configuration) -> Void = { _ in }
  ) -> StoreCommands {
    var configuration = Configuration()
    configuration.dataDirectory = folder.path
    change(&configuration)
    return StoreCommands(configuration)
  }

  @Test("a note that is exported and imported again is the same", arguments: ExportFormat.imported)
  func roundTrip(format: ExportFormat) throws {
    let folder = Folder()
    let commands = Self.commands(in: folder)
    let source = folder.write("# Ünï 🎉\r\n", as: "source.md")
    let first = try commands.importNote(from: source, as: .markdown, title: "One", author: "Ada")
    let file = folder.path + "/out." + format.rawValue
    try commands.export(first.id, as: format, to: file)
    let second = try commands.importNote(from: file, as: format, title: "Two", author: "Bo")
    let texts = try [first.id, second.id].map { id in
      guard
        case .text(let text) = try SQLiteStore(reading: commands.path).perform([
          .text(id: id, at: .revision(.max))
        ])[0]
      else { throw StoreError.unknownDocument }
      return Array(text.text.utf8)
    }
    #expect(texts[0] == texts[1])
    #expect(try commands.notes().count == 2)
  }

  @Test("what a note may not hold is not imported", arguments: ExportFormat.imported)
  func importLimits(format: ExportFormat) throws {
    let folder = Folder()
    let free = Self.commands(in: folder)
    let source = folder.write("ünï🎉!", as: "source.md")
    let first = try free.importNote(from: source, as: .markdown, title: "Übersicht", author: "Ada")
    let file = folder.path + "/out." + format.rawValue
    try free.export(first.id, as: format, to: file)
    func imported(titleBytesMax: Int, textScalarsMax: Int) throws {
      let commands = Self.commands(in: folder) {
        $0.limits.titleBytesMax = titleBytesMax
        $0.documentScalarsMax = textScalarsMax
      }
      _ = try commands.importNote(from: file, as: format, title: "Übersicht", author: "Bo")
    }
    #expect(throws: ExportError.titleTooLong(bytes: 10, max: 9)) {
      try imported(titleBytesMax: 9, textScalarsMax: 5)
    }
    #expect(throws: ExportError.textTooLong(characters: 5, max: 4)) {
      try imported(titleBytesMax: 10, textScalarsMax: 4)
    }
    #expect(try free.notes().count == 1)
    if format != .operations {
      // A file without an end.
      #expect(throws: FileError.self) {
        try free.importNote(from: "/dev/zero", as: format, title: "Zero", author: "Bo")
      }
    }
    try imported(titleBytesMax: 10, textScalarsMax: 5)
    #expect(try free.notes().count == 2)
  }

  @Test("an export never writes over a file")
  func exportKeepsFiles() throws {
    let folder = Folder()
    let commands = Self.commands(in: folder)
    let source = folder.write("text", as: "source.txt")
    let note = try commands.importNote(from: source, as: .text, title: "One", author: "Ada")
    #expect(throws: FileError.self) { try commands.export(note.id, as: .text, to: source) }
  }

  @Test("a backup is restored under new epochs, and only over what may be replaced")
  func restore() throws {
    let folder = Folder()
    let commands = Self.commands(in: folder)
    let source = folder.write("text", as: "source.txt")
    let note = try commands.importNote(from: source, as: .text, title: "One", author: "Ada")
    let before = try epoch(of: note.id, in: commands)
    let backup = folder.path + "/backup"
    #expect(try commands.backUp(to: backup, isVerified: true)?.problems.isEmpty == true)
    #expect(throws: StoreBackupError.exists(path: commands.path)) {
      try commands.restore(backup, isReplacing: false)
    }
    #expect(try commands.restore(backup, isReplacing: true).findings.notes == 1)
    #expect(try epoch(of: note.id, in: commands) != before)
  }

  /// Returns the notes of a store in the order of an export: by folder and title.
  private func listed(_ commands: StoreCommands) throws -> [String] {
    try commands.notes().map { "\($0.folder.text)/\($0.title)" }.sorted()
  }

  @Test("a folder is imported once, however often the command runs")
  func importTwice() throws {
    let (folder, files) = (Folder(), Folder())
    let commands = Self.commands(in: folder)
    _ = files.write("# One\r\n", as: "one.md")
    _ = files.write("# One\n", as: "same.markdown")
    _ = files.write("text", as: "e\u{301}.TXT")
    _ = files.write("GIF", as: "picture.gif")
    _ = files.write("\u{0}", as: "binary.txt")
    func run(_ commands: StoreCommands) throws -> (made: Int, found: Int, refused: Int) {
      var counts = (made: 0, found: 0, refused: 0)
      try commands.importAll(from: files.path, author: "Ada", folder: FolderPath("team")) {
        _, outcome in
        switch outcome {
        case .made: counts.made += 1
        case .found: counts.found += 1
        case .refused: counts.refused += 1
        }
      }
      return counts
    }
    #expect(try run(commands) == (3, 0, 1))
    let first = try listed(commands)
    #expect(first.count == 3 && first.contains("team/One"))
    #expect(try run(commands) == (0, 3, 1))
    _ = files.write("another", as: "two.md")
    #expect(try run(commands) == (1, 3, 1))
    #expect(try commands.check().problems.isEmpty)
  }

  @Test("many notes are committed together, and all are there")
  func importMany() throws {
    let (folder, files) = (Folder(), Folder())
    let commands = Self.commands(in: folder)
    for number in 0..<1_100 { _ = files.write("# \(number)\n", as: "\(number).md") }
    var made = 0
    var progress: [Int] = []
    try commands.importAll(
      from: files.path, author: "Ada", folder: .none, progress: { done, _ in progress.append(done) }
    ) { _, outcome in
      if case .made = outcome { made += 1 }
    }
    #expect(made == 1_100)
    #expect(try commands.notes().count == 1_100)
    #expect(progress.last == 1_100)
  }

  private func epoch(of id: DocumentID, in commands: StoreCommands) throws -> Epoch {
    guard
      case .document(let document) = try SQLiteStore(reading: commands.path).perform([
        .load(id: id, recentMax: 0)
      ])[0]
    else { throw StoreError.unknownDocument }
    return document.epoch
  }

  @Test("compacting requires a setting for what to keep")
  func compact() throws {
    let folder = Folder()
    let source = folder.write("text", as: "source.txt")
    _ = try Self.commands(in: folder).importNote(
      from: source, as: .text, title: "One", author: "Ada")
    #expect(throws: FileError.self) { try Self.commands(in: folder).compact() }
    let keeping = Self.commands(in: folder) { $0.historyChangesMin = 1 }
    #expect(try keeping.compact() == 0)
  }

  @Test("damage is found by a check")
  func check() throws {
    let folder = Folder()
    let commands = Self.commands(in: folder)
    let source = folder.write("some words", as: "source.txt")
    _ = try commands.importNote(from: source, as: .text, title: "One", author: "Ada")
    #expect(try commands.check().problems.isEmpty)
    let descriptor = open(commands.path, O_RDWR)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let words = Array("some words".utf8)
    let places = (0..<(count - words.count)).filter { place in
      bytes[place..<(place + words.count)].elementsEqual(words)
    }
    #expect(!places.isEmpty)
    for place in places { _ = pwrite(descriptor, "x", 1, place) }
    #expect(try !commands.check().problems.isEmpty)
  }
}
