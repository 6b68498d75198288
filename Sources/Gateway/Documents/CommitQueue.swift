/// The documents with changes for the store, each once, and those whose last commit is undecided.
struct CommitQueue {
  /// Documents with changes that the end of a turn hands to the store.
  private var waiting: [DocumentRoom] = []
  /// Documents of which changes were delivered in this turn.
  private var delivered: [DocumentRoom] = []
  /// Documents whose last commit failed and may turn up after a crash, to be wiped with the next tick.
  private var undecided: [DocumentRoom] = []

  /// A document has changes for the store.
  mutating func add(_ room: DocumentRoom) {
    guard !room.awaitsCommit else { return }
    room.awaitsCommit = true
    waiting.append(room)
  }

  /// Changes of a document were delivered in this turn: its next commit waits for another one.
  mutating func delivered(_ room: DocumentRoom) {
    guard !room.hasDelivered else { return }
    room.hasDelivered = true
    delivered.append(room)
  }

  /// Removes and returns the documents that may commit now, and ends the turn.
  ///
  /// - Returns: The documents, and the milliseconds after which the first of the others may; `nil` if there are
  ///   no others.
  mutating func endTurn(
    at now: Int64, followersPerMillisecond: Int
  ) -> (ready: [DocumentRoom], pause: Int?) {
    var ready: [DocumentRoom] = []
    var first: Int?
    waiting = waiting.filter { room in
      let pause =
        room.hasDelivered
        ? 0
        : room.changes.pace.pause(
          at: now, followers: room.subscriptions.count,
          perMillisecond: followersPerMillisecond)
      if let pause {
        first = min(first ?? pause, pause)
      } else {
        room.awaitsCommit = false
        ready.append(room)
      }
      return pause != nil
    }
    for room in delivered { room.hasDelivered = false }
    delivered.removeAll(keepingCapacity: true)
    return (ready, first)
  }

  /// The failed commit of a document could not be wiped.
  mutating func addUndecided(_ room: DocumentRoom) { undecided.append(room) }

  /// Removes and returns the documents whose failed commits are to be wiped.
  mutating func takeUndecided() -> [DocumentRoom] {
    defer { undecided = [] }
    return undecided
  }
}
