import ParleyCryptoOpenSSL
import ParleyGatewayPorts
import ParleyMail
import ParleyServer

/// The commands `parley invite make`, `list` and `remove`.
enum InviteCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    let rest = arguments.dropFirst()
    switch arguments.first {
    case "make": try make(rest)
    case "list": try list(rest)
    case "remove": try remove(rest)
    default: throw UsageError.unknown(arguments.first, among: ["make", "list", "remove"])
    }
  }

  private static func make(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(
      arguments, options: ["uses", "expires-in", "page", "mail", "language"], switches: [])
    let uses = try uses(words.options["uses"] ?? "1")
    let time = words.options["expires-in"] ?? "168h"
    guard let milliseconds = Configuration.milliseconds(time), milliseconds > 0 else {
      throw UsageError("--expires-in expects a time such as 24h, got “\(time)”")
    }
    let rights = words.operands.isEmpty ? [Setup.membersRights] : words.operands
    let guest = try user(with: rights)
    let mail = try mail(words)
    let page = try page(words.options["page"] ?? mail?.page)
    guard mail == nil || uses == 1 else {
      throw UsageError("--mail sends an invitation to one person, so --uses must be 1")
    }
    let token = Invitation.newToken()
    let invitation = Invitation(
      token: token, id: String(RandomNames().next().prefix(8)), uses: uses,
      until: Program.now + Timestamp(milliseconds), rights: rights)
    let file = try file(words)
    let users = try UserEditing(path: usersFile(words))
    for group in guest.groups { try users.requireGroup(group) }
    try file.add(invitation, now: Program.now)
    Terminal.output("\(page)#invite=\(token)\n")
    let advice =
      words.operands.isEmpty
      ? ": all notes in all folders; name rights or group:GROUP to grant less" : ""
    Terminal.error(
      "parley invite: new users have \(rights.joined(separator: " "))\(advice)\n")
    guard let mail else { return }
    do {
      try MailCommand.send(
        .invitation(link: "\(page)#invite=\(token)"), to: mail.recipient, in: mail.language,
        by: mail.server)
    } catch let failure as CommandFailure {
      throw CommandFailure("\(failure); the invitation is valid, so pass the link on yourself")
    }
    Terminal.error("parley invite: the mail server took the message\n")
  }

  /// The message that `--mail` asks for.
  private struct Mail {
    let recipient: MailAddress
    let language: MailLanguage
    let server: MailServer
    /// The address of the page for the link, unless `--page` names one.
    let page: String
  }

  /// Returns the message that is to be sent; `nil` without `--mail`.
  private static func mail(_ words: CommandWords) throws -> Mail? {
    guard let recipient = words.options["mail"] else {
      guard words.options["language"] == nil else { throw UsageError("--language needs --mail") }
      return nil
    }
    guard let page = try words.options["page"] ?? words.configuration().publicURL else {
      throw UsageError("--mail needs the page's address: --page URL, or the setting public-url")
    }
    return Mail(
      recipient: try MailCommand.address(recipient),
      language: try MailCommand.language(words.options["language"]),
      server: try MailCommand.server(words), page: page)
  }

  private static func uses(_ text: String) throws(UsageError) -> Int {
    guard let uses = Int(text), (1...Invitation.usesMax).contains(uses) else {
      throw UsageError(
        "--uses expects a number of people from 1 to \(Invitation.usesMax), got “\(text)”")
    }
    return uses
  }

  /// Creates a user with the rights, so that invalid rights are rejected before anyone joins.
  private static func user(with rights: [String]) throws(UsageError) -> UserLine {
    do throws(FileError) {
      return try UserLine(
        id: "guest", name: nil, password: .ofNobody, rights: rights, since: Program.now)
    } catch { throw UsageError("\(error)") }
  }

  static func page(_ address: String?) throws(UsageError) -> String {
    guard let address else { return "" }
    guard Configuration.isPageAddress(address) else {
      throw UsageError(
        "--page expects the page's address, such as https://notes.example.org, in ASCII and without "
          + "blanks, user, ? and #")
    }
    return address.hasSuffix("/") ? address : address + "/"
  }

  private static func list(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: [], switches: ["json"])
    guard words.operands.isEmpty else { throw UsageError("list expects no ids") }
    let invitations = try file(words).list(now: Program.now)
    if words.switches.contains("json") {
      return Terminal.output(JSONReport.invitations(invitations))
    }
    for invitation in invitations {
      let until = UTCDate.text(seconds: invitation.until / 1_000)
      let line = [invitation.id, "\(invitation.uses)", until] + invitation.rights
      Terminal.output(line.joined(separator: "  ") + "\n")
    }
  }

  private static func remove(_ arguments: ArraySlice<String>) throws {
    let words = try CommandWords(arguments, options: [], switches: [])
    let id = try words.operand("the id of one invitation (parley invite list lists them)")
    try file(words).remove(id, now: Program.now)
  }

  /// Returns the file of invitations of the configuration, which must have a file of users.
  private static func file(_ words: CommandWords) throws -> InvitationFile {
    _ = try usersFile(words)
    let configuration = try words.configuration()
    try Files.makeDirectory(configuration.dataDirectory)
    return InvitationFile(path: configuration.invitationsPath)
  }

  private static func usersFile(_ words: CommandWords) throws -> String {
    guard let path = try words.configuration().usersFile else {
      throw UsageError("expected settings with a users-file, such as --config FILE")
    }
    return path
  }
}
