/// The reason why a sign-in at the identity provider ends without a user.
struct ProviderFailure: Error, Sendable, Equatable {
  /// The kinds that the page explains to the user, by these words in its address.
  enum Kind: String, Sendable, CaseIterable {
    /// Too many sign-ins are under way.
    case busy
    /// The provider does not answer, or answers that it cannot.
    case unreachable
    /// The provider answers otherwise than it has to, or does not know this server.
    case misbehaves
    /// The sign-in began in another browser, or too long ago.
    case expired
    /// The provider does not take the code, which was used before or has ended.
    case used
    /// The person, or the provider, has said no.
    case denied
    /// The provider knows the person, but nothing here is open to them.
    case notAllowed
  }

  let kind: Kind
  /// The details, for the log; nothing that came from the person or is secret.
  let reason: String

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
