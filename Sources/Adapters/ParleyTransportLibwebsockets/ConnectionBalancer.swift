public import ParleyGatewayPorts
import ParleyLocks

/// The loops of a process that share its connections: the first listens and assigns them.
///
/// A connection remains on its loop until one of its requests belongs to another, for example a
/// poll of a session. Then it moves there with this request, before the owner has received the
/// request.
///
///     loop 0   accept ─▶ count ─▶ the loop with the fewest
///     loop i   request ─▶ home: it is loop j's ─▶ connection and request ─▶ loop j
public final class ConnectionBalancer: Sendable {
  private struct State {
    var mailboxes: [LoopMailbox?]
    /// The connections of each loop, including those being moved to it.
    var loads: [Int]
    /// The loop that was assigned the last connection.
    var last = 0
  }

  /// The number of loops.
  public let count: Int
  /// Returns the loop that a request or an upgrade belongs to; `nil` for any.
  let home: @Sendable (RequestHead) -> Int?
  /// The counts of the connections of all loops.
  let counts: ConnectionCounts
  let backCounts: ConnectionCounts
  /// The accounts of memory of all loops.
  let accounts: ByteAccounts
  private let state: Locked<State>

  /// Maximum loops: their numbers are part of connections' ids.
  public static let countMax = 64

  /// Creates a group; each of its transports joins when it is created.
  ///
  /// - Parameters:
  ///   - count: The number of loops, from 1 to ``countMax``.
  ///   - configuration: The limits of all loops together.
  ///   - home: Returns the loop that a request or an upgrade belongs to; `nil` for any.
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

  /// Returns the number of the loop that is encoded in a connection's id.
  public static func loop(of connection: ConnectionID) -> Int {
    Int(connection.rawValue >> Loop.placeShift & 0x7f)
  }

  func join(_ place: Int, _ mailbox: LoopMailbox) {
    state.withLock { $0.mailboxes[place] = mailbox }
  }

  /// Chooses the loop with the fewest connections for a new one, and counts it there; of several
  /// such loops, the next one.
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

  /// Counts a connection that is moved to a loop.
  func came(to place: Int) { state.withLock { $0.loads[place] += 1 } }

  /// Removes a connection from a loop's count.
  func left(_ place: Int) { state.withLock { $0.loads[place] -= 1 } }

  /// Moves a connection to another loop, in which it is already counted. If that loop has ended,
  /// the connection is closed.
  func send(_ moved: MovedConnection, to place: Int) {
    let mailbox = state.withLock { $0.mailboxes[place] }
    if mailbox?.put(.arrival(moved)) != true { drop(moved, at: place) }
  }

  /// Closes a connection that no loop takes over.
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
