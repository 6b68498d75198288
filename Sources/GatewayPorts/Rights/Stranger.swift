package import ParleyModel

/// The party that a limit is counted against.
///
/// A client that has shown a valid token counts as its user, any other client as its address. Guests of one link share a
/// token, so each counts as the link together with its address.
package enum Stranger: Hashable, Sendable {
  /// A user, by the id in its token, session or API key.
  case user(ExactName)
  /// A client without a token: its IPv4 address, or the first 64 bits of its IPv6 address.
  case address(IPAddress)
  /// A guest of a link: the link's name, and the guest's address as above; `nil` for an address without limits.
  case guest(link: ExactName, IPAddress?)

  /// Returns the stranger of a client without a token; `nil` if its address has no limits.
  package init?(address: IPAddress?) {
    guard let address else { return nil }
    self = .address(address.subscriber)
  }
}
