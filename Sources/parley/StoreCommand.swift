import ParleyGatewayPorts
import ParleyServer
import ParleyStoreRecords
import ParleyStoreSQLite

/// The commands `parley backup`, `restore`, `export`, `import`, `compact`, `notes`, `names`,
/// `search`, `reindex`, `undelete`, `webhooks` and `migrate`.
enum StoreCommand {
  /// The functions of the commands, by name.
  static var commands: [String: ([String]) throws -> Void] {
    [
      "backup": backUp,
      "restore": restore,
      "export": export,
      "import": importNote,
      "compact": compact,
      "notes": list,
      "names": listNames,
      "search": search,
      "reindex": reindex,
      "undelete": undelete,
      "webhooks": deadLetters,
      "migrate": MigrateCommand.run,
    ]
  }

  private static func store(_ words: CommandWords) throws -> StoreCommands {
    StoreCommands(try words.configuration())
  }

  private static func backUp(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: ["no-verify"])
    let destination = try words.operand("one file to write the backup to")
    var progress = ProgressLines()
    let findings = try store(words).backUp(
      to: destination, isVerified: !words.switches.contains("no-verify")
    ) { step in
      switch step {
      case .copying(let pages, let total): progress.show("copying", pages, of: total, "pages")
      case .checking(let notes, let total): progress.show("verifying", notes, of: total, "notes")
      }
    }
    Terminal.output("\(destination): written\(findings.map { ", \(summary($0))" } ?? "")\n")
  }

  private static func restore(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: ["verify", "replace"])
    let backup = try words.operand("one backup")
    let commands = try store(words)
    if words.switches.contains("verify") {
      var progress = ProgressLines()
      let findings = try commands.verify(backup) {
        progress.show("verifying", $0, of: $1, "notes")
      }
      for problem in findings.problems { Terminal.error("parley: \(backup): \(problem)\n") }
      guard findings.problems.isEmpty else { throw Program.ExitCode.failure }
      Terminal.output("\(backup): \(summary(findings)); nothing was restored\n")
      return
    }
    let restored = try commands.restore(
      backup, isReplacing: words.switches.contains("replace"))
    if let replaced = restored.replaced {
      Terminal.output("\(replaced): the store that was there before\n")
    }
    Terminal.output("\(commands.path): restored, \(summary(restored.findings))\n")
    Terminal.output("every note continues under a new epoch; returning clients are notified\n")
  }

  private static func export(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: ["format", "output"], switches: ["all"])
    if words.switches.contains("all") { return try exportAll(words) }
    let id = try words.operand("the id of one note (parley notes lists them)")
    try store(words).export(
      DocumentID(id), as: format(words.options["format"] ?? "md"), to: words.options["output"])
  }

  private static func exportAll(_ words: CommandWords) throws {
    guard let folder = words.options["output"], words.operands.isEmpty else {
      throw UsageError("expected --all --output FOLDER, and no note's id")
    }
    var isWhole = true
    let count = try store(words).exportAll(
      as: format(words.options["format"] ?? "md"), to: folder
    ) { note, error in
      isWhole = false
      Terminal.error("parley export: \(note.id): \(error)\n")
    }
    Terminal.output("\(folder): \(count) notes\n")
    if !isWhole { throw Program.ExitCode.failure }
  }

  private static func importNote(_ arguments: [String]) throws {
    let words = try CommandWords(
      arguments, options: ["format", "title", "author", "folder"], switches: [])
    let file = try words.operand("one file or folder")
    let folder: FolderPath
    do throws(FolderPathError) {
      folder = try FolderPath(words.options["folder"] ?? "")
    } catch { throw UsageError("--folder: \(error)") }
    let format = try words.options["format"].map { (word) throws(UsageError) -> ExportFormat in
      let format = try Self.format(word)
      guard ExportFormat.imported.contains(format) else {
        throw UsageError("HTML is not imported here; import it on the page, or give another file")
      }
      return format
    }
    guard let title = words.options["title"] ?? format.map({ _ in file }) else {
      return try importAll(file, into: folder, words)
    }
    guard !Files.isFolder(file) else {
      throw UsageError("files of a folder have their titles and formats from their names")
    }
    let note = try store(words).importNote(
      from: file, as: try format ?? formatOfEnding(file), title: title,
      author: words.options["author"] ?? "import", folder: folder)
    Terminal.output("\(note.id)\n")
  }

  private static func importAll(
    _ root: String, into folder: FolderPath, _ words: CommandWords
  ) throws {
    // A file with a single note is imported even if the store contains this note.
    let isSingle = !Files.isFolder(root) && !holdsSeveral(root)
    if isSingle { _ = try formatOfEnding(root) }
    var progress = ProgressLines()
    var (found, refused) = (0, 0)
    try store(words).importAll(
      from: root, author: words.options["author"] ?? "import", folder: folder,
      isRepeatable: !isSingle,
      progress: { progress.show("importing", $0, of: $1, "files") }
    ) { path, outcome in
      switch outcome {
      case .made(let note): Terminal.output(isSingle ? "\(note.id)\n" : "\(note.id)  \(path)\n")
      case .found: found += 1
      case .refused(let error):
        refused += 1
        Terminal.error("parley import: \(path): \(error)\n")
      }
    }
    if found > 0 { Terminal.error("parley import: \(found) notes were there already\n") }
    if refused > 0 { throw Program.ExitCode.failure }
  }

  /// Whether a file has an ending of a format with several notes.
  private static func holdsSeveral(_ file: String) -> Bool {
    let name = file.lowercased()
    return name.hasSuffix(".zip") || name.hasSuffix(".etherpad")
  }

  private static func compact(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: [])
    let count = try store(words).compact()
    Terminal.output("\(count) logs became shorter\n")
  }

  private static func list(_ arguments: [String]) throws {
    if arguments.first == "search" { return try search(Array(arguments.dropFirst())) }
    let words = try CommandWords(arguments, options: [], switches: ["deleted", "json"])
    let commands = try store(words)
    let isJSON = words.switches.contains("json")
    switch words.switches.contains("deleted") {
    case true where isJSON: Terminal.output(JSONReport.notes(deleted: try commands.deletedNotes()))
    case false where isJSON: Terminal.output(JSONReport.notes(try commands.notes()))
    case true:
      for deleted in try commands.deletedNotes() {
        let date = UTCDate.text(seconds: deleted.deletion.time / 1_000)
        Terminal.line(deleted.note.id.text, date, deleted.note.title)
      }
    case false:
      for note in try commands.notes() {
        let path = note.folder.isNone ? "" : note.folder.text + "/"
        Terminal.line(note.id.text, "\(note.revision)", path + note.title)
      }
    }
  }

  private static func listNames(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: ["json"])
    guard words.operands.isEmpty else { throw UsageError("expected settings alone") }
    let names = try store(words).names()
    if words.switches.contains("json") { return Terminal.output(JSONReport.names(names)) }
    for published in names {
      Terminal.line(published.name.text, published.note.text, published.maker)
    }
  }

  private static func search(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: ["limit"], switches: ["json"])
    guard !words.operands.isEmpty else { throw UsageError("expected the words to look for") }
    let limit = words.options["limit"].map { Int($0) ?? 0 } ?? 20
    guard (1...1_000).contains(limit) else { throw UsageError("expected --limit from 1 to 1000") }
    let hits = try store(words).search(words.operands.joined(separator: " "), limit: limit)
    if words.switches.contains("json") {
      return Terminal.output(JSONReport.hits(hits))
    }
    for hit in hits {
      Terminal.line(hit.note.id.text, hit.note.title)
      Terminal.line("  ", hit.place.text)
    }
  }

  private static func reindex(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: [])
    guard words.operands.isEmpty else { throw UsageError("expected settings alone") }
    Terminal.output("\(try store(words).reindex()) notes can be searched\n")
  }

  private static func undelete(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: [])
    let id = try words.operand("the id of one note (parley notes --deleted lists them)")
    let note = try store(words).undelete(DocumentID(id))
    Terminal.line(note.id.text, "\(note.revision)", note.title)
  }

  private static func deadLetters(_ arguments: [String]) throws {
    let words = try CommandWords(arguments, options: [], switches: [])
    for line in try store(words).deadLetters() { Terminal.output("\(line)\n") }
  }

  private static func format(_ word: String) throws(UsageError) -> ExportFormat {
    guard let format = ExportFormat(rawValue: word) else {
      let known = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("expected --format to be one of \(known), got “\(word)”")
    }
    return format
  }

  /// Returns the format for a file's ending.
  private static func formatOfEnding(_ file: String) throws(UsageError) -> ExportFormat {
    let name = file.split(separator: "/").last ?? ""
    let ending = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) }
    switch ending?.lowercased() {
    case "markdown": return .markdown
    case "text": return .text
    case let small?:
      if let format = ExportFormat(rawValue: small), ExportFormat.imported.contains(format) {
        return format
      }
    case nil: break
    }
    let known = ExportFormat.imported.map(\.rawValue)
    throw UsageError(
      (ending.map { "the ending “.\($0)” of the file's name says no format" }
        ?? "the file's name has no ending that says its format")
        + "; give --format, one of \(known.joined(separator: ", "))")
  }

  private static func summary(_ findings: StoreFindings) -> String {
    "sound, \(findings.notes) notes with \(findings.entries) changes"
  }
}
