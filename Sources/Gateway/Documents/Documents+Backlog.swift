import ParleyGatewayPorts
import OTCore

/// Accounting of changes that wait for the store.
extension Documents {
  /// Adds an accepted change to the backlog.
  ///
  /// - Parameter arrival: The arrival time, in microseconds; `nil` means now.
  func took(
    _ operation: TextOperation, of author: String, at arrival: Int64? = nil, in room: DocumentRoom
  ) {
    let weight = 64 + operation.insertedBytes + 8 * operation.componentCount
    let arrival = arrival ?? dependencies.clock.microseconds
    room.changes.add(.init(arrival: arrival, weight: weight), of: author)
    backlog.add(bytes: weight)
  }

  /// Removes a document's oldest changes, which are durable, from the backlog; returns them.
  func settle(_ count: Int, in room: DocumentRoom) -> ArraySlice<UncommittedChanges.Change> {
    let changes = room.changes.take(count)
    backlog.remove(changes.count, bytes: changes.reduce(0) { $0 + $1.weight })
    return changes
  }

  /// Removes all uncommitted changes of a document from the backlog; returns them.
  @discardableResult
  func settleAll(in room: DocumentRoom) -> [UncommittedChanges.Change] {
    let changes = room.changes.takeAll()
    backlog.remove(changes.count, bytes: changes.reduce(0) { $0 + $1.weight })
    return changes
  }

  /// Whether the backlog has capacity for a client's change. A repeated change always passes.
  func hasRoom(for submission: LiveDocument.Submission, in room: DocumentRoom) -> Bool {
    guard backlog.isFull else { return true }
    guard submission.isResendable, let live = room.live else { return false }
    return submission.sequence < live.nextSequence(of: submission.client)
  }

  /// Refuses a change because the backlog is full; the client resends it later.
  func refuseForBacklog(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    countRefusalByBacklog()
    subscription.connection.dialect.putOff(
      submission.sequence, of: subscription.room.id, ref: messageID,
      to: subscription.connection)
  }
}
