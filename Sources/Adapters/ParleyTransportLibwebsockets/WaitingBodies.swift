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
    fileprivate let stranger: Stranger?
  }

  /// A fingerprint: equal bodies have equal marks, and different bodies rarely do.
  fileprivate struct Mark: Hashable, Sendable {
    var byteCount: Int
    var probes: UInt64
  }

  private struct Shared {
    let body: [UInt8]
    /// The number of waiting responses with the body, by party.
    var uses: [Stranger?: Int]
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
    _ body: [UInt8], for stranger: Stranger?
  ) -> (body: [UInt8], ticket: Ticket)? {
    guard body.count >= Self.comparedBytesMin else {
      return takeAlone(body, mark: nil, for: stranger)
    }
    let mark = Mark(byteCount: body.count, probes: Self.probes(of: body))
    guard let kept = shared[mark] else { return takeAlone(body, mark: mark, for: stranger) }
    guard kept.body == body else { return takeAlone(body, mark: nil, for: stranger) }
    let uses = kept.uses[stranger] ?? 0
    guard account.take(body.count, for: stranger, isKept: true, isOwed: uses > 0) else {
      return nil
    }
    shared[mark]?.uses[stranger] = uses + 1
    return (kept.body, Ticket(mark: mark, byteCount: body.count, stranger: stranger))
  }

  /// Adds a body without a stored copy.
  private mutating func takeAlone(
    _ body: [UInt8], mark: Mark?, for stranger: Stranger?
  ) -> (body: [UInt8], ticket: Ticket)? {
    guard account.take(body.count, for: stranger) else { return nil }
    if let mark { shared[mark] = Shared(body: body, uses: [stranger: 1]) }
    return (body, Ticket(mark: mark, byteCount: body.count, stranger: stranger))
  }

  /// Releases a body; call it once for each ticket.
  package mutating func give(_ ticket: Ticket) {
    let (byteCount, stranger) = (ticket.byteCount, ticket.stranger)
    guard let mark = ticket.mark else { return account.give(byteCount, of: stranger) }
    guard let uses = shared[mark]?.uses[stranger] else { return }
    shared[mark]?.uses[stranger] = uses > 1 ? uses - 1 : nil
    let isKept = shared[mark]?.uses.isEmpty == false
    account.give(byteCount, of: stranger, isKept: isKept, isOwed: uses > 1)
    if !isKept { shared[mark] = nil }
  }

  /// Returns a hash of 64 sampled bytes.
  private static func probes(of body: [UInt8]) -> UInt64 {
    let step = max(1, body.count / 64)
    return FNV1a(stride(from: step - 1, to: body.count, by: step).lazy.map { body[$0] }).value
  }
}
