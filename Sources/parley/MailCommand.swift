import ParleyCryptoOpenSSL
import ParleyMail
import ParleyServer

/// The command `parley mail test`, which tries the settings of mail.
enum MailCommand {
  /// Runs the subcommand that the first argument names.
  static func run(_ arguments: [String]) throws {
    guard arguments.first == "test" else {
      throw UsageError.unknown(arguments.first, among: ["test"])
    }
    let words = try CommandWords(arguments.dropFirst(), options: ["language"], switches: [])
    let recipient = try address(words.operand("one mail address"))
    let language = try language(words.options["language"])
    try send(.test, to: recipient, in: language, by: server(words))
    Terminal.output("The mail server took the message.\n")
  }

  /// Sends a message at once.
  static func send(
    _ text: MailText, to recipient: MailAddress, in language: MailLanguage, by server: MailServer
  ) throws {
    let message = text.message(
      from: server.from, to: recipient, in: language, id: RandomNames().next(),
      milliseconds: Program.now)
    if let problem = try server.send(message) { throw CommandFailure(problem) }
  }

  /// Returns the mail server of the settings.
  static func server(_ words: CommandWords) throws -> MailServer {
    guard let server = try words.configuration().mailServer else {
      throw UsageError("expected settings with smtp-url and mail-from, such as --config FILE")
    }
    return server
  }

  /// Parses a recipient's address.
  static func address(_ text: String) throws(UsageError) -> MailAddress {
    do throws(MailError) { return try MailAddress(text) } catch { throw UsageError("\(error)") }
  }

  /// Parses the language of a message.
  static func language(_ text: String?) throws(UsageError) -> MailLanguage {
    guard let text else { return .english }
    guard let language = MailLanguage(rawValue: text) else {
      let known = MailLanguage.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("--language expects one of \(known)")
    }
    return language
  }
}
