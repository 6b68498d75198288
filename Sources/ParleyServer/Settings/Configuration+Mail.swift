import ParleyMail

extension Setting.TextKind {
  /// The address of a mail server, whose password is never shown.
  static let smtp = Setting.TextKind(
    expected: "an address such as smtps://user:password@mail.example.org, with %40 for @ in the "
      + "password", isSecret: true, isValid: { SMTPAddress($0) != nil },
    shown: { SMTPAddress($0)?.description ?? "an address" })
  /// A mailbox.
  static let mailbox = Setting.TextKind(
    expected: "a mail address such as parley@example.org or Parley <parley@example.org>",
    isValid: { (try? MailAddress(parsing: $0)) != nil })
}

extension Configuration {
  /// The settings of mail.
  static let mailSettingList: [Setting] = [
    .text(
      "smtp-url", \.mail.url, .mail, "URL", .smtp,
      help:
        "Mail server that takes the messages of this server. smtp:// uses STARTTLS and port 587, "
        + "smtps:// TLS and port 465. Without it, no mail is sent."),
    .text(
      "mail-from", \.mail.from, .mail, "ADDRESS", .mailbox,
      help: "Sender of all messages, as an address or NAME <ADDRESS>."),
    .choice(
      "smtp-starttls", \.mail.startTLS, .mail, "RULE",
      of: MailConfiguration.StartTLS.allCases.map { ($0.rawValue, $0) },
      help:
        "STARTTLS with smtp://: auto requires it except for a mail server on this machine; "
        + "required; or none, which sends messages unencrypted.", word: \.rawValue),
    .text(
      "smtp-ca-file", \.mail.certificatesFile, .mail, "FILE",
      help: "PEM file with the certificates that are trusted for smtp-url, instead of the system's."
    ),
    .duration(
      "smtp-timeout", \.mail.timeout, .mail, in: .seconds(1)...(.seconds(600)),
      help: "Timeout for handing one message to the mail server."),
    .duration(
      "mail-retry-min", \.mail.retryMin, .mail, in: .milliseconds(10)...(.seconds(3_600)),
      help: "Delay before the first retry of a message; it doubles with each further retry."),
    .duration(
      "mail-retry-max", \.mail.retryMax, .mail, in: .milliseconds(10)...(.seconds(86_400)),
      help: "Maximum delay before a retry of a message."),
    .duration(
      "mail-give-up-age", \.mail.giveUpAge, .mail, in: .zero...(.seconds(31 * 86_400)),
      help: "Age beyond which a message that the mail server does not take is given up."),
    .number(
      "mail-queue-max", \.mail.queueMax, .mail, in: 1...100_000,
      help: "Maximum number of messages that wait; further ones are not sent."),
    .number(
      "mail-recipient-max", \.mail.recipientMax, .mail, in: 1...10_000,
      help: "Maximum number of messages that wait for one recipient; further ones are not sent."),
  ]

  /// The mail server and the sender; `nil` if no mail is sent.
  package var mailServer: MailServer? {
    guard let address = mail.url.flatMap(SMTPAddress.init),
      let from = mail.from.flatMap({ try? MailAddress(parsing: $0) })
    else { return nil }
    let isSealed =
      switch mail.startTLS {
      case .auto: !address.isLocal
      case .required: true
      case .none: false
      }
    return MailServer(
      address: address, from: from, requiresSTARTTLS: isSealed,
      certificatesFile: mail.certificatesFile, timeoutMilliseconds: mail.timeout.milliseconds)
  }

  func validateMail() throws(ConfigurationError) {
    guard (mail.url == nil) == (mail.from == nil) else {
      throw .conflict("smtp-url and mail-from belong together; give both, or neither for no mail")
    }
    guard mail.retryMin <= mail.retryMax else {
      throw .conflict(
        "mail-retry-max (\(ValueText.text(mail.retryMax))) must be at least mail-retry-min "
          + "(\(ValueText.text(mail.retryMin)))")
    }
    guard let address = mail.url.flatMap(SMTPAddress.init) else { return }
    guard mail.startTLS != .none || address.user == nil || address.isLocal else {
      throw .conflict(
        "smtp-url has a password, which smtp-starttls = none would send unencrypted; remove one of "
          + "the two")
    }
  }
}
