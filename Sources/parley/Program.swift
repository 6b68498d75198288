import GatewayPorts
@preconcurrency import Glibc
import ParleyServer

/// The `parley` program: picks the command and turns errors into exit codes.
enum Program {
  /// The exit codes of the program. A command throws one when it has said why.
  enum ExitCode: Int32, Error {
    case success = 0
    case failure = 1
    case usage = 2
    /// `parley note` ended before the server had confirmed all edits.
    case unconfirmed = 3
  }

  /// The configuration of a command that works by it. A variable that is no setting is passed over with a word, as
  /// `serve` does: it may be another program's. Such a line of the file ends the command.
  static func configuration(
    _ settings: some Sequence<String>
  ) throws(ConfigurationError) -> ConfigurationLoader.Result {
    let loaded = try ConfigurationLoader(environment: environment).load(settings)
    warn(of: loaded.injected)
    for unknown in loaded.unknown {
      guard case .unknownSetting(_, .environment, _) = unknown else { throw unknown }
      Terminal.error("parley: ignored: \(unknown)\n")
    }
    return loaded
  }

  /// Prints which variables of a container platform were ignored, if there are any.
  static func warn(of injected: InjectedVariables?) {
    if let injected { Terminal.error("parley: warning: \(injected)\n") }
  }

  /// Runs the command that the arguments name; returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    // A peer that went away is an error of `write`, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    guard let name = arguments.dropFirst().first else {
      Terminal.error(Help.program)
      return ExitCode.usage.rawValue
    }
    let rest = Array(arguments.dropFirst(2))
    switch name {
    case "help", "--help", "-h":
      return show(rest.first.flatMap { commands[$0] }?.help ?? Help.program)
    case "--version", "-V", "version": return show("parley \(Version.current)\n")
    default: break
    }
    guard let command = commands[name] else {
      let hint =
        Spelling.nearest(to: name, among: commands.keys).map { "; did you mean \($0)?" }
        ?? "; parley --help lists them"
      Terminal.error("parley: expected a command, got “\(LineText.visible(name))”\(hint)\n")
      return ExitCode.usage.rawValue
    }
    if name == "serve", rest.contains("--help-all") { return show(Help.serveAll) }
    if rest.contains("--help") || rest.contains("-h") { return show(command.help) }
    return perform(name) { try command.run(rest) }
  }

  private typealias Command = (help: String, run: ([String]) throws -> Void)

  /// Each command's help, and its work with the words behind it.
  private static var commands: [String: Command] {
    let own: [String: Command] = [
      "setup": (Help.setup, SetupCommand.run),
      "serve": (Help.serve, ServeCommand.run),
      "check": (Help.check, CheckCommand.run),
      "doctor": (Help.doctor, DoctorCommand.run),
      "health": (Help.health, HealthCommand.run),
      "token": (Help.token, TokenCommand.run),
      "revoke": (Help.revoke, RevokeCommand.run),
      "user": (Help.user, UserCommand.run),
      "group": (Help.group, GroupCommand.run),
      "invite": (Help.invite, InviteCommand.run),
      "apikey": (Help.apiKey, APIKeyCommand.run),
      "note": (Help.note, NoteCommand.run),
      "share": (Help.share, ShareCommand.run),
    ]
    return own.merging(StoreCommand.commands.mapValues { (Help.store, $0) }) { own, _ in own }
  }

  /// Does a command's work, and says why it failed; returns the exit code.
  private static func perform(_ name: String, _ work: () throws -> Void) -> Int32 {
    do {
      try work()
      return ExitCode.success.rawValue
    } catch let code as ExitCode {
      return code.rawValue
    } catch is Prompt.Interrupted {
      return Prompt.Interrupted.exitCode
    } catch let error as ConfigurationError {
      Terminal.error("parley: \(error)\n")
      return ExitCode.usage.rawValue
    } catch let error where error is UsageError || error is GrantTextError {
      Terminal.error("parley \(name): \(error); parley \(name) --help says more\n")
      return ExitCode.usage.rawValue
    } catch {
      Terminal.error("parley \(name): \(error)\n")
      return ((error as? CommandFailure)?.code ?? .failure).rawValue
    }
  }

  /// The variables of this process.
  static var environment: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return variables
  }

  /// Milliseconds since 1970.
  static var now: Timestamp { SystemClock().now }

  /// The file of this program.
  static var executable: String {
    // What the shell was given may be found through PATH; the kernel knows the file.
    guard let path = realpath("/proc/self/exe", nil) else {
      return CommandLine.arguments.first ?? "parley"
    }
    defer { free(path) }
    return String(cString: path)
  }

  private static func show(_ text: String) -> Int32 {
    Terminal.output(text)
    return ExitCode.success.rawValue
  }
}

/// The reason why a command cannot continue.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  let code: Program.ExitCode

  init(_ description: String, code: Program.ExitCode = .failure) {
    self.description = description
    self.code = code
  }
}

/// Standard output and error, unbuffered: who reads them through a pipe sees a line at once.
enum Terminal {
  /// Writes to standard output.
  static func output(_ text: String) { Files.write(Array(text.utf8), to: STDOUT_FILENO) }

  /// Writes one line of columns to standard output. Text of users ends no line and controls no terminal.
  static func line(_ columns: String...) {
    output(columns.map(LineText.visible).joined(separator: "  ") + "\n")
  }

  /// Writes to standard error.
  static func error(_ text: String) { Files.write(Array(text.utf8), to: STDERR_FILENO) }
}
