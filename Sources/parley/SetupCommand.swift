import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import Glibc
import ParleyServer

/// The command `parley setup`, which writes a configuration from five answers.
struct SetupCommand {
  private let words: CommandWords
  private let path: String

  private static let options: Set<String> = [
    "config", "host-name", "reach", "tls-certificate", "tls-key", "port", "access", "auth-key",
    "user", "name", "data-dir",
  ]

  /// Asks the questions, checks the answers, and writes the files.
  static func run(_ arguments: [String]) throws {
    do {
      let words = try CommandWords(
        arguments, options: options, switches: ["non-interactive", "replace"])
      guard words.operands.isEmpty, words.settings.isEmpty else {
        throw UsageError("no flag is called \((words.settings + words.operands)[0])")
      }
      try SetupCommand(words: words).run()
    } catch let error as UsageError {
      throw UsageError("\(error); nothing was written")
    } catch let error as Prompt.Interrupted {
      Terminal.error("\nNothing was written.\n")
      throw error
    } catch {
      throw CommandFailure("\(error); nothing was written")
    }
  }

  private init(words: CommandWords) {
    self.words = words
    let isInstalled = geteuid() == 0 && Files.isFolder("/etc/parley")
    path = Files.absolute(
      words.options["config"] ?? Program.environment["PARLEY_CONFIG"]
        ?? (isInstalled ? "/etc/parley/parley.conf" : "parley.conf"))
  }

  private var isAsking: Bool { !words.switches.contains("non-interactive") && Prompt.isTerminal }

  private func run() throws {
    let isReplacing = try mayReplace()
    let setup = Setup(
      hostName: try hostName(), reach: try reach(), access: try access(), port: try port(),
      dataDirectory: "")
    let (firstUser, whole) = try completed(setup)
    try whole.check()
    // Writing takes milliseconds. Block signals, so that Ctrl-C does not interrupt it.
    _ = StopSignals()
    try whole.write(to: path, firstUser: firstUser, isReplacing: isReplacing)
    report(whole, firstUser)
  }

  /// Asks for the first user and the data folder, which contains the file of users.
  private func completed(_ setup: Setup) throws -> (UserLine?, Setup) {
    var setup = setup
    guard case .users = setup.access else {
      if words.options["user"] != nil { throw UsageError("--user goes with --access users") }
      setup.dataDirectory = try dataDirectory()
      return (nil, setup)
    }
    let (id, name) = try firstUser()
    var password: PasswordHash?
    if isAsking { password = PasswordHash(password: try Prompt.newPassword()) }
    setup.dataDirectory = try dataDirectory()
    if try setup.hasUser(id) {
      Terminal.error("the user \(id) exists already; its password does not change.\n")
      return (nil, setup)
    }
    let line = try Self.line(
      id, name, password ?? PasswordHash(password: try Prompt.newPassword()))
    return (line, setup)
  }

  private static func line(
    _ id: String, _ name: String?, _ password: PasswordHash
  ) throws(UsageError) -> UserLine {
    do throws(FileError) {
      return try UserLine(
        id: id, name: name, password: password, rights: Setup.ownersRights, since: Program.now)
    } catch { throw UsageError("\(error)") }
  }

  // MARK: Questions

  private func mayReplace() throws -> Bool {
    guard Files.isThere(path) else { return false }
    if words.switches.contains("replace") { return true }
    guard isAsking else {
      throw UsageError(
        "\(path) exists already; --replace renames it to \(path).old and writes a new one")
    }
    let mayReplace = try ask(
      "\(path) is there already. Keep it as \(path).old and write a new one? yes or no", "no"
    ) { ["yes": true, "y": true, "no": false, "n": false][$0.lowercased()] }
    guard mayReplace else { throw UsageError("\(path) stays as it is") }
    return true
  }

  private func hostName() throws -> String {
    try answer(
      "host-name", "1/5  Host name in the browser, such as notes.example.org", "localhost",
      expected: "a host name such as notes.example.org", Setup.hostName)
  }

  private func reach() throws -> Setup.Reach {
    let kind = try answer(
      "reach",
      "2/5  Encryption: tls (certificate files), proxy (such as Caddy on this machine)\n"
        + "     or local (none; only this machine connects)", "local",
      expected: "tls, proxy or local"
    ) { ["tls", "proxy", "local"].contains($0) ? $0 : nil }
    guard kind == "tls" else {
      for flag in ["tls-certificate", "tls-key"] where words.options[flag] != nil {
        throw UsageError("--\(flag) goes with --reach tls")
      }
      return kind == "proxy" ? .proxy : .local
    }
    return .tls(
      certificate: try file("tls-certificate", "     File of the certificate, its chain behind it"),
      key: try file("tls-key", "     File of its private key"))
  }

  private func access() throws -> Setup.Access {
    let kind = try answer(
      "access",
      "3/5  Who may sign in: users (with passwords), tokens (of another system)\n"
        + "     or anyone (who can connect)", "users", expected: "users, tokens or anyone"
    ) { ["users", "tokens", "anyone"].contains($0) ? $0 : nil }
    if kind != "tokens", words.options["auth-key"] != nil {
      throw UsageError("--auth-key goes with --access tokens")
    }
    switch kind {
    case "tokens":
      return .tokens(key: try file("auth-key", "     File of the public key that checks them"))
    case "anyone": return .anyone
    default: return .users
    }
  }

  private func firstUser() throws -> (id: String, name: String?) {
    let name = words.options["name"]
    if let name { _ = try Self.line("user", name, .ofNobody) }
    let id = try answer(
      "user", "4/5  First user, with all rights, such as ada@example.org", nil,
      expected: "a name without spaces"
    ) { id in (try? Self.line(id, name, .ofNobody)) == nil ? nil : id }
    return (id, name)
  }

  private func dataDirectory() throws -> String {
    let isInstalled = geteuid() == 0 && Files.isFolder("/var/lib/parley")
    return try answer(
      "data-dir", "5/5  Folder for notes and users", isInstalled ? "/var/lib/parley" : "data",
      expected: "a folder"
    ) { $0.isEmpty ? nil : Files.absolute($0) }
  }

  private func port() throws -> Int? {
    guard let text = words.options["port"] else { return nil }
    guard let port = Int(text), (1...65_535).contains(port) else {
      throw UsageError("--port expects a number from 1 to 65535, got “\(text)”")
    }
    return port
  }

  private func file(_ flag: String, _ question: String) throws -> String {
    try answer(flag, question, nil, expected: "a file that is there") {
      Files.isFile($0) ? Files.absolute($0) : nil
    }
  }

  /// Returns the answer from a flag, else from the terminal, else the default.
  private func answer<Value>(
    _ flag: String, _ question: String, _ standard: String?, expected: String,
    _ read: (String) -> Value?
  ) throws -> Value {
    if let text = words.options[flag] {
      guard let value = read(text) else {
        throw UsageError("--\(flag) expects \(expected), got “\(text)”")
      }
      return value
    }
    if isAsking { return try ask(question, standard, expected: expected, read) }
    guard let standard, let value = read(standard) else {
      throw UsageError("--\(flag) is missing: expected \(expected)")
    }
    return value
  }

  /// Repeats a question until the answer is valid.
  private func ask<Value>(
    _ question: String, _ standard: String?, expected: String = "yes or no",
    _ read: (String) -> Value?
  ) throws -> Value {
    let offer = standard.map { " [\($0)]" } ?? ""
    while true {
      guard let line = try Prompt.line("\(question)\(offer): ") else {
        throw UsageError("the input ended before all questions were answered")
      }
      let text = line.split(separator: " ").joined(separator: " ")
      if let value = read(text.isEmpty ? standard ?? "" : text) { return value }
      Terminal.error("     Expected \(expected).\n")
    }
  }

  // MARK: The report

  private func report(_ setup: Setup, _ firstUser: UserLine?) {
    var lines = ["Written", "  \(path)"]
    if let file = setup.usersFile {
      lines.append("  \(file)" + (firstUser.map { ", with \($0.user.id)" } ?? ""))
    }
    lines.append("")
    let check = CheckCommand.report(on: ["--config", path])
    CheckCommand.showProblems(check)
    lines.append(
      CheckCommand.exitCode(of: check) == .success
        ? "Checked: no problems." : "Checked: see the problems above."
    )
    lines += ["", "Next"]
    var steps: [String] = []
    steps.append(
      path == "/etc/parley/parley.conf" && Files.isFolder("/run/systemd/system")
        ? "Start it:\n       systemctl enable parley && systemctl restart parley"
        : "Start it:\n       parley serve --config \(path)")
    if case .proxy = setup.reach {
      steps.append(
        "Proxy \(setup.pageAddress) to http://127.0.0.1:\(setup.port ?? 8080), such as\n"
          + "       caddy reverse-proxy --from \(setup.hostName) --to 127.0.0.1:\(setup.port ?? 8080)"
      )
    }
    switch setup.access {
    case .users:
      steps.append("Open \(setup.pageAddress) and sign in.")
      steps.append(
        "Add the others, each with a password of their own:\n"
          + "       parley user add NAME '\(Setup.membersRights)' --config \(path)")
    case .tokens: steps.append("Open \(setup.pageAddress) with a token behind it: #token=…")
    case .anyone: steps.append("Open \(setup.pageAddress).")
    }
    steps.append("Check the machine:\n       parley doctor --config \(path)")
    for (number, step) in steps.enumerated() { lines.append("  \(number + 1). \(step)") }
    Terminal.output(lines.joined(separator: "\n") + "\n")
  }
}
