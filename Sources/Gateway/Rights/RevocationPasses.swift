import ParleyGatewayPorts

/// Passes over all connections, some of them in each turn, which apply the revocations that came before the pass began.
///
/// A pass takes the connections in the order in which they were opened, as a list that is kept and not sorted for it. A
/// revocation that comes while a pass is under way waits for the next one, which begins with the oldest connection
/// again: for two passes at most.
struct RevocationPasses {
  /// A caller that waits for the end of a pass, called with the number of connections that it has closed.
  typealias Waiting = (_ closed: Int) -> Void

  /// Work of a turn, in connections that are looked at.
  private static let turnWork = 4_096
  /// The work of a connection whose rights are applied again.
  private static let rightsWork = 8
  /// The work of a connection that is closed.
  private static let closeWork = 64

  /// The connections that the pass has not come to, the oldest first, with gaps.
  private var left: ArraySlice<ConnectionID> = []
  /// The number of connections that the pass has closed.
  private var closed = 0
  private var waiting: [Waiting] = []
  private var waitingForNext: [Waiting] = []
  private var workLeft = turnWork

  /// Whether a pass is under way, and not at its end.
  var isUnderWay: Bool { !left.isEmpty }

  /// Whether a caller waits for a pass that has not begun.
  var isWanted: Bool { !waitingForNext.isEmpty }

  /// Has a caller wait for a pass that begins from here on.
  mutating func wait(_ caller: @escaping Waiting) { waitingForNext.append(caller) }

  /// Begins a pass, once there is none.
  ///
  /// - Parameter connections: The connections in the order of the pass, with gaps.
  /// - Complexity: O(1).
  mutating func begin(_ connections: [ConnectionID]) {
    left = connections[...]
    closed = 0
    waiting = waitingForNext
    waitingForNext = []
  }

  /// The next connection to be looked at; `nil` at the end of the pass, and once this turn's work is done.
  mutating func next() -> ConnectionID? {
    while workLeft > 0, let id = left.popFirst() {
      workLeft -= 1
      if let id = id.element { return id }
    }
    return nil
  }

  /// Takes note that a connection may have lost rights.
  mutating func noteLoss(isClosed: Bool) {
    workLeft -= isClosed ? Self.closeWork : Self.rightsWork
    if isClosed { closed += 1 }
  }

  /// Ends a pass: removes and returns its waiting callers, and the number of connections that it has
  /// closed.
  mutating func end() -> (waiting: [Waiting], closed: Int) {
    defer { waiting = [] }
    return (waiting, closed)
  }

  /// Begins the work of another turn.
  mutating func beginTurn() { workLeft = Self.turnWork }
}
