/// The reason why a sign-in with the identity provider failed.
struct ProviderFailure: Error, Sendable, Equatable {
  /// The kinds of failure. The page's address contains the raw value, and the page explains it.
  enum Kind: String, Sendable, CaseIterable {
    /// Too many sign-ins are in progress.
    case busy
    /// The provider does not respond, or responds with an error status.
    case unreachable
    /// The provider violates the protocol, or does not accept this server as a client.
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
  /// The details for the log, without secrets and the user's data.
  let reason: String

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
