/// Settings of the mail that the server sends.
public struct MailConfiguration: Sendable, Equatable {
  /// The rule for encrypting a connection by STARTTLS.
  public enum StartTLS: String, Sendable, CaseIterable {
    /// Required, unless the mail server is on this machine.
    case auto
    /// Required.
    case required
    /// Messages are sent without encryption.
    case none
  }

  /// The address of the mail server, with user and password; `nil` for no mail.
  public var url: String?
  /// The sender, such as `Parley <parley@example.org>`.
  public var from: String?
  /// The rule for STARTTLS with `smtp://`.
  public var startTLS = StartTLS.auto
  /// A PEM file with certificates that are trusted instead of the system's.
  public var certificatesFile: String?
  /// The time limit for handing one message to the mail server.
  public var timeout = Duration.seconds(60)
  /// The pause after the first attempt that failed; each further one doubles it.
  public var retryMin = Duration.seconds(30)
  /// The maximum pause.
  public var retryMax = Duration.seconds(3_600)
  /// The age at which a message is given up.
  public var giveUpAge = Duration.seconds(172_800)
  /// Maximum waiting messages.
  public var queueMax = 1_000
  /// Maximum waiting messages of one recipient.
  public var recipientMax = 10

  /// Creates the default settings, without mail.
  public init() {}
}
