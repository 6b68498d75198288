public import ParleyGatewayPorts
import ParleyLocks

/// The loops of one process that serve together: the first listens, and deals out connections among all.
///
/// A connection stays where it was dealt to until a request of it belongs elsewhere, such as one of
/// a session that polls: then it moves there, with that request, before the owner has seen the
/// request.
///
///     loop 0   accept ─▶ count ─▶ the loop with the fewest
///     loop i   request ─▶ home: it is loop j's ─▶ connection and request ─▶ loop j
public final class ConnectionBalancer: Sendable {
  private struct State {
    var mailboxes: [LoopMailbox?]
    /// Connections of each loop, those on their way to it included.
    var loads: [Int]
    /// The loop that was dealt a connection last.
    var last = 0
  }

  /// The number of loops.
  public let count: Int
  /// Says which loop a request or an upgrade belongs to; `nil` for any.
  let home: @Sendable (RequestHead) -> Int?
  /// Counts the connections of all loops.
  let counts: ConnectionCounts
  let backCounts: ConnectionCounts
  /// Counts the memory that clients of all loops have them hold.
  let accounts: ByteAccounts
  private let state: Locked<State>

  /// The most loops that there may be: their numbers are a part of connections' names.
  public static let countMax = 64

  /// Makes a crew without members; each transport of it joins as it is made.
  ///
  /// - Parameters:
  ///   - count: From 1 to ``countMax``.
  ///   - configuration: The limits of all together.
  ///   - home: Says which loop a request or an upgrade belongs to; `nil` for any.
  public init(
    count: Int, configuration: LibwebsocketsTransport.Configuration,
    home: @escaping @Sendable (RequestHead) -> Int?
  ) {
    precondition((1...Self.countMax).contains(count), "expected 1 to \(Self.countMax) loops")
    self.count = count
    self.home = home
    counts = ConnectionCounts(configuration)
    backCounts = ConnectionCounts(totalMax: configuration.backConnectionsMax)
    accounts = ByteAccounts(configuration)
    state = Locked(
      State(
        mailboxes: Array(repeating: nil, count: count), loads: Array(repeating: 0, count: count),
        last: count - 1))
  }

  /// The loop that has given a connection its name, or may have.
  public static func loop(of connection: ConnectionID) -> Int {
    Int(connection.rawValue >> Loop.placeShift & 0x7f)
  }

  func join(_ place: Int, _ mailbox: LoopMailbox) {
    state.withLock { $0.mailboxes[place] = mailbox }
  }

  /// Chooses the loop for a new connection, and counts it there: the one with the fewest, and of
  /// several the next.
  func deal() -> Int {
    state.withLock { state in
      var best = (state.last + 1) % count
      for step in 2..<(count + 1) {
        let place = (state.last + step) % count
        if state.loads[place] < state.loads[best] { best = place }
      }
      state.last = best
      state.loads[best] += 1
      return best
    }
  }

  /// Counts a connection that one loop has taken itself.
  func came(to place: Int) { state.withLock { $0.loads[place] += 1 } }

  /// A connection is gone.
  func left(_ place: Int) { state.withLock { $0.loads[place] -= 1 } }

  /// Sends a connection to another loop, which counts it already. Where that has ended, it is closed.
  func send(_ moved: MovedConnection, to place: Int) {
    let mailbox = state.withLock { $0.mailboxes[place] }
    if mailbox?.put(.arrival(moved)) != true { drop(moved, at: place) }
  }

  /// Closes a connection that no loop takes.
  func drop(_ moved: MovedConnection, at place: Int) {
    left(place)
    counts(of: moved.entrance).leave(moved.address)
    moved.stream.close()
  }

  func counts(of entrance: Entrance) -> ConnectionCounts {
    switch entrance {
    case .front: counts
    case .back: backCounts
    }
  }
}
