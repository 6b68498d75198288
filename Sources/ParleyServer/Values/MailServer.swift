package import ParleyMail

/// The mail server that takes messages, and their sender.
package struct MailServer: Sendable, Equatable {
  let address: SMTPAddress
  /// The sender of all messages.
  package let from: MailAddress
  /// Whether `smtp://` requires STARTTLS.
  let requiresSTARTTLS: Bool
  /// A PEM file with certificates that are trusted instead of the system's.
  let certificatesFile: String?
  let timeoutMilliseconds: Int
}
