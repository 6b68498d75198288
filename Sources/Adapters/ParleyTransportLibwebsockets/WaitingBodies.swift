package import ParleyGatewayPorts

/// The bodies of unsent responses: one copy of each text, counted in an account.
///
/// Without it, each slow reader of a long text would need a copy. Bodies are compared by their
/// bytes, independently of their origin.
package struct WaitingBodies: ~Copyable {
  /// A body that counts until it is released.
  package struct Ticket: Sendable {
    fileprivate let mark: Mark?
    fileprivate let byteCount: Int
    fileprivate let limitedClient: LimitedClient?
  }

  /// A fingerprint: equal bodies have equal marks, and different bodies rarely do.
  fileprivate struct Mark: Hashable, Sendable {
    var byteCount: Int
    var probes: UInt64
  }

  private struct Shared {
    let body: [UInt8]
    /// The number of waiting responses with the body, by party.
    var uses: [LimitedClient?: Int]
  }

  private let account: ResponseAccount
  private var shared: [Mark: Shared] = [:]

  /// Minimum bytes of a body that is compared; shorter ones are only counted.
  package static let comparedBytesMin = 16 << 10

  /// Creates an empty collection.
  package init(_ account: ResponseAccount) { self.account = account }

  /// Adds a body for a party, and returns the stored copy if there is an equal one.
  ///
  /// - Returns: `nil` if a limit of the account is exceeded.
  /// - Complexity: O(1), or O(*n*) if a body with the same mark is stored.
  package mutating func take(
    _ body: [UInt8], for limitedClient: LimitedClient?
  ) -> (body: [UInt8], ticket: Ticket)? {
    guard body.count >= Self.comparedBytesMin else {
      return takeAlone(body, mark: nil, for: limitedClient)
    }
    let mark = Mark(byteCount: body.count, probes: Self.probes(of: body))
    guard let kept = shared[mark] else { return takeAlone(body, mark: mark, for: limitedClient) }
    guard kept.body == body else { return takeAlone(body, mark: nil, for: limitedClient) }
    let uses = kept.uses[limitedClient] ?? 0
    guard account.take(body.count, for: limitedClient, isKept: true, isAlreadyOwed: uses > 0) else {
      return nil
    }
    shared[mark]?.uses[limitedClient] = uses + 1
    return (kept.body, Ticket(mark: mark, byteCount: body.count, limitedClient: limitedClient))
  }

  /// Adds a body without a stored copy.
  private mutating func takeAlone(
    _ body: [UInt8], mark: Mark?, for limitedClient: LimitedClient?
  ) -> (body: [UInt8], ticket: Ticket)? {
    guard account.take(body.count, for: limitedClient) else { return nil }
    if let mark { shared[mark] = Shared(body: body, uses: [limitedClient: 1]) }
    return (body, Ticket(mark: mark, byteCount: body.count, limitedClient: limitedClient))
  }

  /// Releases a body; call it once for each ticket.
  package mutating func give(_ ticket: Ticket) {
    let (byteCount, limitedClient) = (ticket.byteCount, ticket.limitedClient)
    guard let mark = ticket.mark else { return account.give(byteCount, of: limitedClient) }
    guard let uses = shared[mark]?.uses[limitedClient] else { return }
    shared[mark]?.uses[limitedClient] = uses > 1 ? uses - 1 : nil
    let isKept = shared[mark]?.uses.isEmpty == false
    account.give(byteCount, of: limitedClient, isKept: isKept, isAlreadyOwed: uses > 1)
    if !isKept { shared[mark] = nil }
  }

  /// Returns a hash of 64 sampled bytes.
  private static func probes(of body: [UInt8]) -> UInt64 {
    let step = max(1, body.count / 64)
    return FNV1a(stride(from: step - 1, to: body.count, by: step).lazy.map { body[$0] }).value
  }
}
