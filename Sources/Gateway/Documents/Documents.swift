import GatewayPorts

/// The documents: who follows them, how they are changed, and how changes become durable and reach
/// their followers.
///
/// Nothing outside this folder touches its state. It reaches the world through the switchboard, its
/// followers through their dialects, and its owner through ``DocumentsOwner``.
final class Documents: Part {
  let board: Switchboard
  /// Receives what concerns other parts.
  unowned var owner: (any DocumentsOwner)?

  /// The documents in memory, or on their way there.
  var documents: ExactDictionary<DocumentRoom> = [:]
  /// The documents that were brought to memory since the start: each has a number of its own.
  var roomsMade = 0
  /// The work that this turn may still do, and what waits for the next.
  var turn: TurnWork
  /// Documents with changes that the end of a turn hands to the store.
  var uncommitted: [DocumentRoom] = []
  /// Documents whose last commit failed and may turn up after a crash, to be wiped with the next tick.
  var undecided: [DocumentRoom] = []
  /// Documents with a commit whose outcome is unknown, whose logs are read again with the next tick.
  var unsettled: [DocumentRoom] = []
  /// Whether a document came from a log that several nodes share.
  var sharesLogs = false
  /// The documents whose heads are still to be asked for.
  var lookedAt = NameRotation()
  /// Documents of which changes were delivered in this turn.
  var delivered: [DocumentRoom] = []
  /// Connections that are behind, and are given more when they have drained.
  var lagging: Set<ConnectionID> = []
  /// The arrival times of changes that are on their way to their followers, in microseconds.
  var broadcasting: [Int64] = []
  /// Documents whose followers learn with the end of the turn who has come, acted or gone.
  var gathering: [DocumentRoom] = []
  /// Documents whose followers learn with the next tick how many are here.
  var counting: [DocumentRoom] = []

  /// Exchanges the people in notes with other nodes; `nil` without other nodes.
  var exchange: PeopleExchange?

  init(_ board: Switchboard) {
    self.board = board
    turn = TurnWork(most: board.settings.turnWorkMax)
    if board.settings.sharesStore {
      exchange = PeopleExchange(node: board.surroundings.names.next(), carets: self)
    }
  }

  // MARK: Numbers

  /// The number of documents in memory.
  var count: Int { documents.count }

  /// The number of followers of all documents.
  var subscriptionCount: Int { documents.values.reduce(0) { $0 + $1.subscriptions.count } }

  /// The number of connections that are behind.
  var laggingCount: Int { lagging.count }

  /// Whether every change that was taken has been written and answered.
  var isSettled: Bool { documents.values.allSatisfy(\.isSettled) }

  /// Whether a connection is behind.
  func isLagging(_ id: ConnectionID) -> Bool { lagging.contains(id) }

  /// The frames for all followers who keep up have been handed out.
  func countBroadcasts() {
    guard !broadcasting.isEmpty else { return }
    let now = surroundings.clock.microseconds
    for arrival in broadcasting { metrics.broadcast.record(now - arrival) }
    broadcasting.removeAll(keepingCapacity: true)
  }

  // MARK: Connections

  /// All that was queued for a connection has gone out.
  func drained(_ connection: Connection) {
    if lagging.contains(connection.id) { catchUp(connection) }
  }

  /// A connection has ended, or is about to: it follows nothing from now on.
  func leaveAll(_ connection: Connection) {
    lagging.remove(connection.id)
    forgetPages(of: connection)
    for subscription in connection.subscriptions.values.map(\.self) { leave(subscription) }
  }

  // MARK: Time

  /// Continues connections that were behind and have drained.
  func catchUpDrained() {
    for id in lagging.sorted() where surroundings.queuedBytes(id) == 0 {
      if let connection = connections[id] { catchUp(connection) }
    }
  }

  /// Forgets documents without followers, and texts that are not asked for.
  func forgetUnused(now: Int64) {
    for (id, document) in documents {
      document.forgetSharedText(now: now)
      if document.isForgettable(now: now) {
        documents[id] = nil
        leaveTopic(of: document)
      }
    }
  }
}
