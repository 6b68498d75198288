import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyServer

/// The commands `parley user add`, `set`, `list`, `passwd`, `reset`, `sessions` and `remove`.
enum UserCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    let rest = arguments.dropFirst()
    switch arguments.first {
    case "add": try add(rest)
    case "set": try set(rest)
    case "list": try list(rest)
    case "passwd": try setPassword(rest)
    case "reset": try reset(rest)
    case "sessions": try listSessions(rest)
    case "remove": try remove(rest)
    default:
      throw UsageError.unknown(
        arguments.first, among: ["add", "set", "list", "passwd", "reset", "sessions", "remove"])
    }
  }

  private static func add(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["name", "mail", "file"], switches: [])
    guard let id = words.operands.first else {
      throw UsageError("expected the user's name or address")
    }
    let rights = Array(words.operands.dropFirst())
    func line(_ password: PasswordHash) throws(UsageError) -> UserLine {
      do throws(FileError) {
        return try UserLine(
          id: id, name: words.options["name"], password: password, rights: rights,
          since: Program.now, mail: words.options["mail"])
      } catch { throw UsageError("\(error)") }
    }
    // Check the arguments before the user types a password.
    _ = try line(.ofNobody)
    let file = try fileIfAny(words)
    if let file {
      try UserEditing(path: file).refuse(id)
      for group in try line(.ofNobody).groups { try UserEditing(path: file).requireGroup(group) }
    }
    let made = try line(PasswordHash(password: Prompt.newPassword()))
    if let file {
      try UserEditing(path: file).add(made)
    } else {
      Terminal.output(made.text + "\n")
    }
    report(made)
  }

  /// Changes a user's display name or rights.
  private static func set(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["name", "mail", "file"], switches: [])
    guard let user = words.operands.first else {
      throw UsageError("expected one user (parley user list lists them)")
    }
    let rights = Array(words.operands.dropFirst())
    let (name, mail) = (words.options["name"], words.options["mail"])
    guard name != nil || mail != nil || !rights.isEmpty else {
      throw UsageError(
        "expected --name NAME, --mail ADDRESS, or the rights that replace those of \(user)")
    }
    if let mail, !mail.isEmpty { _ = try MailCommand.address(mail) }
    let tried: UserLine
    do throws(FileError) {
      tried = try UserLine(
        id: user, name: name, password: .ofNobody, rights: rights, since: Program.now)
    } catch { throw UsageError("\(error)") }
    let editing = UserEditing(path: try file(words))
    for group in tried.groups { try editing.requireGroup(group) }
    try editing.set(name: name, rights: rights.isEmpty ? nil : rights, mail: mail, of: user)
    if !rights.isEmpty { report(tried) }
  }

  /// Prints the user's rights, so that the operator notices unintended ones.
  private static func report(_ line: UserLine) {
    let id = LineText.visible(line.user.id)
    guard !line.rights.isEmpty else {
      return Terminal.error(
        "parley user: \(id) may do nothing yet; give rights such as "
          + "document:*=read,write,presence\n")
    }
    Terminal.error("parley user: \(id) has \(line.rights.joined(separator: " "))\n")
  }

  private static func list(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: ["json"])
    guard words.operands.isEmpty else { throw UsageError("list expects no names") }
    let lines = try UserLine.lines(ofFileAt: file(words))
    if words.switches.contains("json") {
      return Terminal.output(JSONReport.users(lines))
    }
    for line in lines {
      Terminal.output(
        ([line.user.id, line.user.name] + line.rights).joined(separator: "  ") + "\n")
    }
  }

  private static func setPassword(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: [])
    let user = try words.operand("one user (parley user list lists them)")
    let editing = UserEditing(path: try file(words))
    try editing.require(user)
    let password = PasswordHash(password: try Prompt.newPassword())
    try editing.setPassword(of: user, to: password, since: Program.now)
  }

  /// Prints a link with which a user chooses a new password, or sends it.
  private static func reset(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["page", "language"], switches: ["mail"])
    let user = try words.operand("one user (parley user list lists them)")
    let configuration = try words.configuration()
    guard let file = configuration.usersFile else {
      throw UsageError("expected settings with a users-file, such as --config FILE")
    }
    let page = words.options["page"] ?? configuration.publicURL
    let editing = UserEditing(path: file)
    try editing.require(user)
    guard let line = try editing.line(of: user) else { return }
    let isMailed = words.switches.contains("mail")
    guard !isMailed || line.mail != nil else {
      throw UsageError("the user has no mail address; parley user set USER --mail ADDRESS sets one")
    }
    guard !isMailed || page != nil else {
      throw UsageError("--mail needs the page's address: --page URL, or the setting public-url")
    }
    let language = try MailCommand.language(words.options["language"])
    let token = try StoreCommands(configuration).resetToken(for: line, now: Program.now)
    let link = "\(try InviteCommand.page(page))#reset=\(token)"
    guard isMailed, let mail = line.mail else {
      Terminal.output(link + "\n")
      Terminal.error("parley user: the link is valid for an hour, and once\n")
      return
    }
    try MailCommand.send(
      .reset(link: link), to: MailCommand.address(mail), in: language, by: MailCommand.server(words)
    )
    Terminal.error("parley user: the mail server took the message\n")
  }

  private static func listSessions(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: [], switches: ["json"])
    let user = try words.operand("one user, by the name they sign in with")
    let configuration = try words.configuration()
    // The user may be an account in the file, or a user of the identity provider.
    let account = try configuration.usersFile.flatMap { try UserEditing(path: $0).id(of: user) }
    let sessions = try StoreCommands(configuration).sessions(of: account ?? user, now: Program.now)
    if words.switches.contains("json") {
      return Terminal.output(JSONReport.sessions(sessions))
    }
    for session in sessions {
      let device = [session.device.browser, session.device.system].filter { !$0.isEmpty }
      Terminal.output(
        [
          session.id, "used \(UTCDate.text(seconds: session.renewedAt / 1_000))",
          "begun \(UTCDate.text(seconds: session.begunAt / 1_000))",
          device.isEmpty ? "unknown device" : device.joined(separator: ", "),
        ].joined(separator: "  ") + "\n")
    }
  }

  private static func remove(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: ["file"], switches: [])
    let user = try words.operand("one user (parley user list lists them)")
    try UserEditing(path: file(words)).remove(user)
  }

  static func file(_ words: CommandWords) throws -> String {
    guard let file = try fileIfAny(words) else {
      throw UsageError("expected --file FILE, or --config FILE with a users-file in it")
    }
    return file
  }

  /// Returns the file of users in `--file`, else in the configuration; `nil` if missing.
  private static func fileIfAny(_ words: CommandWords) throws -> String? {
    guard let file = words.options["file"] else { return try words.configuration().usersFile }
    guard words.settings.isEmpty else {
      throw UsageError("expected --file FILE or settings, got both")
    }
    return file
  }
}
