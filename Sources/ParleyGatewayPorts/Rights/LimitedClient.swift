package import ParleyModel

/// The party that a limit applies to.
///
/// With a valid token, a client counts as its user; otherwise as its address. Guests share the
/// token of a link, so each guest counts as the link together with an address.
package enum LimitedClient: Hashable, Sendable {
  /// A user, by the id in its token, session or API key.
  case user(ExactName)
  /// A client without a token: its IPv4 address, or the first 64 bits of its IPv6 address.
  case address(IPAddress)
  /// A guest of a link: the link's name, and the guest's address, shortened as above; `nil` if it
  /// has no limits.
  case guest(link: ExactName, IPAddress?)

  /// Creates the party of a client without a token; `nil` if its address has no limits.
  package init?(address: IPAddress?) {
    guard let address else { return nil }
    self = .address(address.subscriber)
  }
}

extension LimitedClient {
  /// Creates the party of a client with an identity; `nil` if the identity names no user and the
  /// address has no limits.
  package init?(_ identity: Identity, from address: IPAddress?) {
    if identity.isGuest {
      self = .guest(link: ExactName(identity.user), address?.subscriber)
    } else if identity.user.isEmpty {
      self.init(address: address)
    } else {
      self = .user(ExactName(identity.user))
    }
  }
}

/// The party that a transport's buffered bytes count against: a limited client, or a client to
/// which only the overall limit applies.
public struct Holder: Hashable, Sendable {
  package let limitedClient: LimitedClient?

  package init(_ limitedClient: LimitedClient?) { self.limitedClient = limitedClient }

  /// Creates the holder of a client without a token; with `nil`, only the overall limit applies.
  package init(address: IPAddress?) { self.init(LimitedClient(address: address)) }
}
