import GatewayPorts
import OTCore

/// Counting what waits for the store, change by change.
extension Documents {
  /// A change has been taken.
  func took(_ operation: TextOperation, of author: String, in room: DocumentRoom) {
    room.pace.wrote(author)
    let weight = 64 + operation.insertedBytes + 8 * operation.componentCount
    room.weights.append(weight)
    backlog.add(bytes: weight)
  }

  /// The oldest changes of a document have been written, or given up.
  func settled(_ count: Int, in room: DocumentRoom) {
    let weights = room.weights.prefix(count)
    backlog.remove(weights.count, bytes: weights.reduce(0, +))
    room.weights.removeFirst(weights.count)
  }

  /// All changes of a document that were not written are given up.
  func settledAll(in room: DocumentRoom) { settled(room.weights.count, in: room) }

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
