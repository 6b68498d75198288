/// Documents with changes for the store, each once, and documents whose last commit is undecided.
struct CommitQueue {
  /// Documents whose changes are handed to the store at the end of a turn.
  private var waiting: [DocumentRoom] = []
  /// Documents with changes that were delivered in this turn.
  private var delivered: [DocumentRoom] = []
  /// Documents whose failed commit may reappear after a crash, until the store has wiped it at the
  /// next tick.
  private var undecided: [DocumentRoom] = []

  /// Adds a document with changes for the store.
  mutating func add(_ room: DocumentRoom) {
    guard !room.awaitsCommit else { return }
    room.awaitsCommit = true
    waiting.append(room)
  }

  /// Records a delivery of changes in this turn. The document's next commit waits for another turn.
  mutating func delivered(_ room: DocumentRoom) {
    guard !room.hasDelivered else { return }
    room.hasDelivered = true
    delivered.append(room)
  }

  /// Removes and returns the documents that may commit now, and ends the turn.
  ///
  /// - Returns: The documents, and the milliseconds after which the first of the remaining
  ///   documents may commit; `nil` if none remains.
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

  /// Adds a document whose failed commit could not be wiped.
  mutating func addUndecided(_ room: DocumentRoom) { undecided.append(room) }

  /// Removes and returns the documents whose failed commits have to be wiped.
  mutating func takeUndecided() -> [DocumentRoom] {
    defer { undecided = [] }
    return undecided
  }
}
