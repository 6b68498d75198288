import ParleyGatewayPorts

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
  let documents: DocumentTable
  let people: DocumentPeople
  let delivery: DocumentDelivery
  /// The work that this turn may still do, and what waits for the next.
  var turn: TurnWork
  /// Documents with changes for the store.
  var commits = CommitQueue()
  /// The logs that several nodes share.
  var logs = SharedLogs()

  init(_ board: Switchboard) {
    self.board = board
    documents = DocumentTable()
    people = DocumentPeople(board, documents)
    delivery = DocumentDelivery(board, people)
    turn = TurnWork(most: board.settings.turnWorkMax)
  }

  // MARK: Numbers

  /// The number of documents in memory.
  var count: Int { documents.count }

  /// The number of followers of all documents.
  var subscriptionCount: Int { documents.values.reduce(0) { $0 + $1.subscriptions.count } }

  /// Whether every change that was taken has been written and answered.
  var isSettled: Bool { documents.values.allSatisfy(\.isSettled) }

  // MARK: Connections

  /// A connection has ended, or is about to: it follows nothing from now on.
  func leaveAll(_ connection: Connection) {
    delivery.forget(connection)
    forgetPages(of: connection)
    for subscription in connection.subscriptions.values.map(\.self) { leave(subscription) }
  }

  // MARK: Time

  /// Forgets documents without followers, and texts that are not asked for.
  func forgetUnused(now: Int64) {
    for document in documents.values {
      document.forgetSharedText(now: now)
      if document.isForgettable(now: now) { forget(document) }
    }
  }

  /// Forgets a document. What is under way for it finds another or none.
  func forget(_ room: DocumentRoom) {
    documents.remove(room)
    leaveTopic(of: room)
  }
}
