import ParleyGatewayPorts
@preconcurrency import Glibc
import ParleyServer

/// The `parley` program: selects the command, and turns errors into exit codes.
enum Program {
  /// The exit codes of the program. A command throws one after it has printed the error.
  enum ExitCode: Int32, Error {
    case success = 0
    case failure = 1
    case usage = 2
    /// `parley note` has ended before the server confirmed all edits.
    case unconfirmed = 3
  }

  /// Loads the configuration for a command. An unknown variable is reported and ignored, since it
  /// may belong to another program; an unknown setting in the file is an error.
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

  /// Prints a warning about ignored variables of a container platform, if there are any.
  static func warn(of injected: InjectedVariables?) {
    if let injected { Terminal.error("parley: warning: \(injected)\n") }
  }

  /// Runs the command that the arguments name, and returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    // Makes a closed pipe or connection an error of `write`, instead of ending the process.
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

  /// The help text and the function of each command.
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
      "mail": (Help.mail, MailCommand.run),
      "apikey": (Help.apiKey, APIKeyCommand.run),
      "audit": (Help.audit, AuditCommand.run),
      "note": (Help.note, NoteCommand.run),
      "share": (Help.share, ShareCommand.run),
    ]
    return own.merging(StoreCommand.commands.mapValues { (Help.store, $0) }) { own, _ in own }
  }

  /// Runs a command, prints its error if it fails, and returns the exit code.
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

  /// The environment variables of this process.
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

  /// The current time, in milliseconds since 1970.
  static var now: Timestamp { SystemClock().now }

  /// The path of this program's file.
  static var executable: String {
    // The first argument may be a name found through PATH; the kernel knows the path.
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

/// The reason why a command has failed, with its exit code.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
  let code: Program.ExitCode

  init(_ description: String, code: Program.ExitCode = .failure) {
    self.description = description
    self.code = code
  }
}

/// Standard output and standard error, unbuffered, so that a pipe's reader gets each line at once.
enum Terminal {
  /// Writes to standard output.
  static func output(_ text: String) { Files.write(Array(text.utf8), to: STDOUT_FILENO) }

  /// Writes a line of columns to standard output. Escapes line breaks and control characters.
  static func line(_ columns: String...) {
    output(columns.map(LineText.visible).joined(separator: "  ") + "\n")
  }

  /// Writes to standard error.
  static func error(_ text: String) { Files.write(Array(text.utf8), to: STDERR_FILENO) }
}
