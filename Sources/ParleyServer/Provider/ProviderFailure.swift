/// The reason why a sign-in at the identity provider ends without a user.
struct ProviderFailure: Error, Sendable, Equatable {
  /// The kinds that the page explains to the user, by these words in its address.
  enum Kind: String, Sendable, CaseIterable {
    /// Too many sign-ins are under way.
    case busy
    /// The provider does not answer, or answers that it cannot.
    case unreachable
    /// The provider violates the protocol, or does not know this server.
    case misbehaves
    /// The sign-in began in another browser, or too long ago.
    case expired
    /// The provider rejects the code, which was used before or has expired.
    case used
    /// The user has cancelled, or the provider has denied the sign-in.
    case denied
    /// The provider knows the user, but this server gives them no rights.
    case notAllowed
  }

  let kind: Kind
  /// The details, for the log, without secrets or the user's data.
  let reason: String

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
