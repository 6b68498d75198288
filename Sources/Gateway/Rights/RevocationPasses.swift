import ParleyGatewayPorts

/// Passes over all connections, in turns, that apply the revocations made before the pass.
///
/// A pass visits connections in the order in which they were opened, from a list that is always in
/// this order. A revocation during a pass waits for the next pass, which begins with the oldest
/// connection again. So a revocation needs at most two passes.
struct RevocationPasses {
  /// A caller that waits for the end of a pass. It receives the number of closed connections.
  typealias Waiting = (_ closed: Int) -> Void

  /// Maximum work of a turn; visiting a connection counts as 1.
  private static let turnWork = 4_096
  /// The work of applying a connection's rights again.
  private static let rightsWork = 8
  /// The work of closing a connection.
  private static let closeWork = 64

  /// The connections that the pass has not visited, oldest first, with gaps.
  private var left: ArraySlice<ConnectionID> = []
  /// The number of connections that the pass has closed.
  private var closed = 0
  private var waiting: [Waiting] = []
  private var waitingForNext: [Waiting] = []
  private var workLeft = turnWork

  /// Whether a pass is in progress, with connections left.
  var isUnderWay: Bool { !left.isEmpty }

  /// Whether a caller waits for the next pass.
  var isWanted: Bool { !waitingForNext.isEmpty }

  /// Queues a caller for the next pass.
  mutating func wait(_ caller: @escaping Waiting) { waitingForNext.append(caller) }

  /// Begins a pass after the previous one has ended.
  ///
  /// - Parameter connections: The connections in the order of the pass, with gaps.
  /// - Complexity: O(1).
  mutating func begin(_ connections: [ConnectionID]) {
    left = connections[...]
    closed = 0
    waiting = waitingForNext
    waitingForNext = []
  }

  /// Returns the next connection; `nil` at the end of the pass, or of this turn's work.
  mutating func next() -> ConnectionID? {
    while workLeft > 0, let id = left.popFirst() {
      workLeft -= 1
      if let id = id.element { return id }
    }
    return nil
  }

  /// Counts the work on a connection that may have lost rights.
  mutating func noteLoss(isClosed: Bool) {
    workLeft -= isClosed ? Self.closeWork : Self.rightsWork
    if isClosed { closed += 1 }
  }

  /// Ends a pass. Removes and returns its waiting callers, and the number of connections that it
  /// has closed.
  mutating func end() -> (waiting: [Waiting], closed: Int) {
    defer { waiting = [] }
    return (waiting, closed)
  }

  /// Resets the work for a new turn.
  mutating func beginTurn() { workLeft = Self.turnWork }
}
