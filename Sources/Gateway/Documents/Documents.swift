import ParleyGatewayPorts

/// The documents: their followers, their changes, and the commit and delivery of changes.
///
/// Only this folder uses its state. It acts through the switchboard, and notifies followers through
/// their dialects and its owner through ``DocumentsOwner``.
final class Documents: Part {
  let board: Switchboard
  /// Receives events that concern other parts.
  unowned var owner: (any DocumentsOwner)?
  /// Stores the answers to edits with their commits.
  unowned var answers: (any EditAnswers)?

  /// Documents in memory, or being loaded.
  let documents: DocumentTable
  let people: DocumentPeople
  let delivery: DocumentDelivery
  let followers: DocumentFollowers
  let pages: HistoryPages
  let refusals: DocumentRefusals
  /// The work left in this turn, and the documents that wait for the next one.
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
    followers = DocumentFollowers(board, people, delivery)
    pages = HistoryPages(board, documents)
    refusals = DocumentRefusals(board, pages)
    turn = TurnWork(most: board.settings.turnWorkMax)
  }

  // MARK: Numbers

  /// The number of documents in memory.
  var count: Int { documents.count }

  /// The number of followers of all documents.
  var subscriptionCount: Int { documents.values.reduce(0) { $0 + $1.subscriptions.count } }

  /// Whether a document is in memory.
  func isLoaded(_ id: DocumentID) -> Bool { documents[id]?.live != nil }

  /// Whether every accepted change is durable and answered.
  var isSettled: Bool { documents.values.allSatisfy(\.isSettled) }

  // MARK: Connections

  /// Ends all subscriptions of a connection that has ended or is about to.
  func leaveAll(_ connection: Connection) {
    delivery.forget(connection)
    pages.cancelAll(of: connection)
    for subscription in connection.subscriptions.values.map(\.self) {
      followers.leave(subscription)
    }
  }

  // MARK: Time

  /// Discards unused documents and unused encoded texts.
  func forgetUnused(now: Int64) {
    for document in documents.values {
      document.forgetSharedText(now: now)
      if document.isForgettable(now: now) { forget(document) }
    }
  }

  /// Discards a document. Later replies for it reach a newer room of that name, or no room.
  func forget(_ room: DocumentRoom) {
    documents.remove(room)
    leaveTopic(of: room)
  }
}
