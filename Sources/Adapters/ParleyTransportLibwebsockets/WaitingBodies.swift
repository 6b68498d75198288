package import ParleyGatewayPorts

/// Bodies of responses that have not gone to their sockets yet: one copy of each text, and an account of all.
///
/// Slow readers of a long text would otherwise cost a copy each. Bodies are compared by their bytes,
/// so it does not matter who made them.
package struct WaitingBodies: ~Copyable {
  /// A body that is counted until it is given back.
  package struct Ticket: Sendable {
    fileprivate let mark: Mark?
    fileprivate let byteCount: Int
    fileprivate let stranger: Stranger?
  }

  /// Equal bodies have equal marks; the opposite hardly ever fails.
  fileprivate struct Mark: Hashable, Sendable {
    var byteCount: Int
    var probes: UInt64
  }

  private struct Shared {
    let body: [UInt8]
    /// The number of responses that wait with it, by stranger.
    var uses: [Stranger?: Int]
  }

  private let account: ResponseAccount
  private var shared: [Mark: Shared] = [:]

  /// Shorter bodies are counted, but not compared.
  package static let comparedBytesMin = 16 << 10

  /// Makes an empty collection.
  package init(_ account: ResponseAccount) { self.account = account }

  /// Takes a body in for a stranger, as the copy that is there already if there is one.
  ///
  /// - Returns: `nil` over a limit of the account.
  /// - Complexity: O(1), and O(*n*) if there may be an equal one.
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

  /// Takes in a body of which there is no copy.
  private mutating func takeAlone(
    _ body: [UInt8], mark: Mark?, for stranger: Stranger?
  ) -> (body: [UInt8], ticket: Ticket)? {
    guard account.take(body.count, for: stranger) else { return nil }
    if let mark { shared[mark] = Shared(body: body, uses: [stranger: 1]) }
    return (body, Ticket(mark: mark, byteCount: body.count, stranger: stranger))
  }

  /// Gives a body back. Once for each ticket.
  package mutating func give(_ ticket: Ticket) {
    let (byteCount, stranger) = (ticket.byteCount, ticket.stranger)
    guard let mark = ticket.mark else { return account.give(byteCount, of: stranger) }
    guard let uses = shared[mark]?.uses[stranger] else { return }
    shared[mark]?.uses[stranger] = uses > 1 ? uses - 1 : nil
    let isKept = shared[mark]?.uses.isEmpty == false
    account.give(byteCount, of: stranger, isKept: isKept, isOwed: uses > 1)
    if !isKept { shared[mark] = nil }
  }

  /// A hash of bytes at 64 places.
  private static func probes(of body: [UInt8]) -> UInt64 {
    let step = max(1, body.count / 64)
    return FNV1a(stride(from: step - 1, to: body.count, by: step).lazy.map { body[$0] }).value
  }
}
