import GatewayPorts
import ParleyServer
import StoreRecords
import StoreSQLite

/// `parley backup`, `restore`, `export`, `import`, `compact`, `notes` and `webhooks`.
enum StoreCommand {
  /// Words of a command that are not settings: flags of its own, and what it works on.
  private struct Words {
    var operands: [String] = []
    var options: [String: String] = [:]
    var switches: Set<String> = []
    /// Left for the configuration.
    var settings: [String] = []

    init(_ arguments: [String], options known: [String], switches: [String]) throws(UsageError) {
      var rest = arguments[...]
      while let word = rest.popFirst() {
        guard word.hasPrefix("--") else {
          operands.append(word)
          continue
        }
        let name = String(word.dropFirst(2))
        if switches.contains(name) {
          self.switches.insert(name)
        } else if known.contains(name) {
          guard let value = rest.popFirst() else { throw UsageError("--\(name) needs a value") }
          options[name] = value
        } else {
          settings.append(word)
          // A setting's value goes with it, unless it came with “=” or the setting is a flag.
          if !word.contains("="), Configuration.takesValue(name), let value = rest.popFirst() {
            settings.append(value)
          }
        }
      }
    }

    func operand(_ what: String) throws(UsageError) -> String {
      guard operands.count == 1, let operand = operands.first else {
        throw UsageError("expected \(what), got \(operands.count) of them")
      }
      return operand
    }
  }

  private struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// The commands by name.
  static let names: Set<String> = [
    "backup", "restore", "export", "import", "compact", "notes", "webhooks",
  ]

  /// Runs one of them; returns the exit code.
  static func run(_ name: String, _ arguments: [String]) -> Int32 {
    do {
      switch name {
      case "backup": return try backUp(arguments)
      case "restore": return try restore(arguments)
      case "export": return try export(arguments)
      case "import": return try importNote(arguments)
      case "compact": return try compact(arguments)
      case "webhooks": return try deadLetters(arguments)
      default: return try list(arguments)
      }
    } catch let error as UsageError {
      Terminal.error("parley \(name): \(error); parley \(name) --help says more\n")
      return Program.ExitCode.usage
    } catch let error as ConfigurationError {
      Terminal.error("parley: \(error)\n")
      return Program.ExitCode.usage
    } catch {
      Terminal.error("parley \(name): \(error)\n")
      return Program.ExitCode.failure
    }
  }

  private static func commands(_ words: Words) throws -> StoreCommands {
    let loaded = try ConfigurationLoader(environment: Program.environment).load(words.settings)
    if let unknown = loaded.unknown.first { throw unknown }
    return StoreCommands(loaded.configuration)
  }

  private static func backUp(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: [], switches: ["no-verify"])
    let destination = try words.operand("one file to write the backup to")
    let findings = try commands(words).backUp(
      to: destination, isVerified: !words.switches.contains("no-verify"))
    Terminal.output("\(destination): written\(findings.map { ", \(summary($0))" } ?? "")\n")
    return Program.ExitCode.success
  }

  private static func restore(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: [], switches: ["verify", "replace"])
    let backup = try words.operand("one backup")
    let commands = try commands(words)
    if words.switches.contains("verify") {
      let findings = try commands.verify(backup)
      for problem in findings.problems { Terminal.error("parley: \(backup): \(problem)\n") }
      guard findings.problems.isEmpty else { return Program.ExitCode.failure }
      Terminal.output("\(backup): \(summary(findings)); nothing was restored\n")
      return Program.ExitCode.success
    }
    let restored = try commands.restore(
      backup, isReplacing: words.switches.contains("replace"))
    if let replaced = restored.replaced {
      Terminal.output("\(replaced): the store that was there before\n")
    }
    Terminal.output("\(commands.path): restored, \(summary(restored.findings))\n")
    Terminal.output("every note continues under a new epoch; returning clients are notified\n")
    return Program.ExitCode.success
  }

  private static func export(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: ["format", "output"], switches: [])
    let id = try words.operand("the id of one note (parley notes lists them)")
    try commands(words).export(
      id, as: format(words.options["format"] ?? "md"), to: words.options["output"])
    return Program.ExitCode.success
  }

  private static func importNote(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: ["format", "title", "author"], switches: [])
    let file = try words.operand("one file")
    let note = try commands(words).importNote(
      from: file, as: words.options["format"].map(format) ?? formatOfEnding(file),
      title: words.options["title"] ?? file, author: words.options["author"] ?? "import")
    Terminal.output("\(note.id)\n")
    return Program.ExitCode.success
  }

  private static func compact(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: [], switches: [])
    let count = try commands(words).compact()
    Terminal.output("\(count) logs became shorter\n")
    return Program.ExitCode.success
  }

  private static func list(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: [], switches: [])
    for note in try commands(words).notes() {
      Terminal.output("\(note.id)  \(note.revision)  \(note.title)\n")
    }
    return Program.ExitCode.success
  }

  private static func deadLetters(_ arguments: [String]) throws -> Int32 {
    let words = try Words(arguments, options: [], switches: [])
    for line in try commands(words).deadLetters() { Terminal.output("\(line)\n") }
    return Program.ExitCode.success
  }

  private static func format(_ word: String) throws(UsageError) -> ExportFormat {
    guard let format = ExportFormat(rawValue: word) else {
      let known = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("expected --format to be one of \(known), got “\(word)”")
    }
    return format
  }

  /// The format that a file's ending stands for.
  private static func formatOfEnding(_ file: String) throws(UsageError) -> ExportFormat {
    let name = file.split(separator: "/").last ?? ""
    let ending = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) }
    if let format = ending.flatMap(ExportFormat.init(rawValue:)) { return format }
    let known = ExportFormat.allCases.map(\.rawValue)
    throw UsageError(
      (ending.map { "the ending “.\($0)” of the file's name says no format" }
        ?? "the file's name has no ending that says its format")
        + "; give --format, one of \(known.joined(separator: ", "))")
  }

  private static func summary(_ findings: StoreFindings) -> String {
    "sound, \(findings.notes) notes with \(findings.entries) changes"
  }
}
