import ParleyGatewayPorts
import OTCore

/// Counting what waits for the store, change by change.
extension Documents {
  /// A change has been taken.
  ///
  /// - Parameter arrival: The time of its arrival, in microseconds; now if `nil`.
  func took(
    _ operation: TextOperation, of author: String, at arrival: Int64? = nil, in room: DocumentRoom
  ) {
    let weight = 64 + operation.insertedBytes + 8 * operation.componentCount
    let arrival = arrival ?? dependencies.clock.microseconds
    room.changes.add(.init(arrival: arrival, weight: weight), of: author)
    backlog.add(bytes: weight)
  }

  /// The oldest changes of a document have been written.
  func settle(_ count: Int, in room: DocumentRoom) -> ArraySlice<UncommittedChanges.Change> {
    let changes = room.changes.take(count)
    backlog.remove(changes.count, bytes: changes.reduce(0) { $0 + $1.weight })
    return changes
  }

  /// All changes of a document that were not written are given up.
  @discardableResult
  func settleAll(in room: DocumentRoom) -> [UncommittedChanges.Change] {
    let changes = room.changes.takeAll()
    backlog.remove(changes.count, bytes: changes.reduce(0) { $0 + $1.weight })
    return changes
  }

  /// Whether the client's change may be taken. One that is here already is answered in any case.
  func hasRoom(for submission: LiveDocument.Submission, in room: DocumentRoom) -> Bool {
    guard backlog.isFull else { return true }
    guard submission.isResendable, let live = room.live else { return false }
    return submission.sequence < live.nextSequence(of: submission.client)
  }

  /// Refuses a change, to be sent again later.
  func refuseForBacklog(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    countRefusalByBacklog()
    subscription.connection.dialect.putOff(
      submission.sequence, of: subscription.room.id, ref: messageID,
      to: subscription.connection)
  }
}
