import GatewayPorts
@preconcurrency import Glibc
import ParleyServer

/// The `parley` program: picks the command and turns errors into exit codes.
enum Program {
  /// The exit codes of the program.
  enum ExitCode {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2
    /// `parley note` ended before the server had confirmed all edits.
    static let unconfirmed: Int32 = 3
  }

  /// The configuration of a command that works by it. A variable that is no setting is passed over with a word, as
  /// `serve` does: it may be another program's. Such a line of the file ends the command.
  static func configuration(
    _ settings: some Sequence<String>
  ) throws(ConfigurationError) -> ConfigurationLoader.Result {
    let loaded = try ConfigurationLoader(environment: environment).load(settings)
    for unknown in loaded.unknown {
      guard case .unknownSetting(_, .environment, _) = unknown else { throw unknown }
      Terminal.error("parley: ignored: \(unknown)\n")
    }
    return loaded
  }

  /// Runs the command that the arguments name; returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    // A peer that went away is an error of `write`, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    guard let command = arguments.dropFirst().first else {
      Terminal.error(Help.program)
      return ExitCode.usage
    }
    let rest = Array(arguments.dropFirst(2))
    let wantsHelp = rest.contains("--help") || rest.contains("-h")
    switch command {
    case "setup":
      if wantsHelp { return show(Help.setup) }
      return SetupCommand.run(rest, executable: executable(arguments))
    case "serve":
      if rest.contains("--help-all") { return show(Help.serveAll) }
      if wantsHelp { return show(Help.serve) }
      return ServeCommand.run(rest, executable: executable(arguments))
    case "check":
      if wantsHelp { return show(Help.check) }
      return CheckCommand.run(rest, executable: executable(arguments))
    case "doctor":
      if wantsHelp { return show(Help.doctor) }
      return DoctorCommand.run(rest, executable: executable(arguments))
    case "health":
      if wantsHelp { return show(Help.health) }
      return HealthCommand.run(rest)
    case "token":
      if wantsHelp { return show(Help.token) }
      return TokenCommand.run(rest)
    case "revoke":
      if wantsHelp { return show(Help.revoke) }
      return RevokeCommand.run(rest)
    case "user":
      if wantsHelp { return show(Help.user) }
      return UserCommand.run(rest)
    case "group":
      if wantsHelp { return show(Help.group) }
      return GroupCommand.run(rest)
    case "invite":
      if wantsHelp { return show(Help.invite) }
      return InviteCommand.run(rest)
    case "apikey":
      if wantsHelp { return show(Help.apiKey) }
      return APIKeyCommand.run(rest)
    case "note":
      if wantsHelp { return show(Help.note) }
      return NoteCommand.run(rest)
    case "share":
      if wantsHelp { return show(Help.share) }
      return ShareCommand.run(rest)
    case let name where StoreCommand.names.contains(name):
      if wantsHelp { return show(Help.store) }
      return StoreCommand.run(name, rest)
    case "help", "--help", "-h":
      switch rest.first {
      case "setup": return show(Help.setup)
      case "serve": return show(Help.serve)
      case "check": return show(Help.check)
      case "doctor": return show(Help.doctor)
      case "health": return show(Help.health)
      case "token": return show(Help.token)
      case "revoke": return show(Help.revoke)
      case "user": return show(Help.user)
      case "group": return show(Help.group)
      case "invite": return show(Help.invite)
      case "apikey": return show(Help.apiKey)
      case "note": return show(Help.note)
      case "share": return show(Help.share)
      case let name? where StoreCommand.names.contains(name): return show(Help.store)
      default: return show(Help.program)
      }
    case "--version", "-V", "version":
      return show("parley \(Version.current)\n")
    default:
      Terminal.error("parley: expected a command, got “\(command)”; parley --help lists them\n")
      return ExitCode.usage
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
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(time.tv_sec) * 1_000 + Timestamp(time.tv_nsec) / 1_000_000
  }

  private static func executable(_ arguments: [String]) -> String {
    // What the shell was given may be found through PATH; the kernel knows the file.
    guard let path = realpath("/proc/self/exe", nil) else { return arguments.first ?? "parley" }
    defer { free(path) }
    return String(cString: path)
  }

  private static func show(_ text: String) -> Int32 {
    Terminal.output(text)
    return ExitCode.success
  }
}

/// Standard output and error, unbuffered: who reads them through a pipe sees a line at once.
enum Terminal {
  /// Writes to standard output.
  static func output(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Writes to standard error.
  static func error(_ text: String) { write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to file: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR {
        return
      }
    }
  }
}
