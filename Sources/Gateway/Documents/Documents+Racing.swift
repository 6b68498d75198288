import GatewayPorts
import SocketMessages

/// Going on when another writer of the store has appended to a document's log first.
///
/// One node by itself never sees that. Of several that share a store, one wins each race, and the
/// others adopt what it has appended and submit again what their clients had sent.
extension Documents {
  /// A change that waited for its commit, and who is answered.
  private struct Withdrawn {
    let submission: LiveDocument.Submission
    /// The time of its arrival, in microseconds; `nil` if nobody measures it.
    let arrival: Int64?
    var follower: (subscription: Subscription, messageID: String)?
    var edit: DocumentRoom.PendingEdit?
  }

  /// Takes back what was to be committed, adopts the others' entries, and submits again what its
  /// authors had sent.
  ///
  /// - Precondition: the entries follow the durable head.
  func overtaken(by entries: [LogEntry], in room: DocumentRoom) {
    let withdrawn = withdraw(room)
    guard let adopted = room.live?.adopt(entries) else { return }
    for change in withdrawn { submit(change, again: room) }
    publish(adopted, in: room)
  }

  private func withdraw(_ room: DocumentRoom) -> [Withdrawn] {
    guard let sent = room.live?.withdraw() else { return [] }
    settledAll(in: room)
    let arrivals = room.arrivals
    room.arrivals = []
    return sent.enumerated().map { index, sent in
      var change = Withdrawn(
        submission: sent.submission, arrival: index < arrivals.count ? arrivals[index] : nil)
      change.edit = room.pendingEdits.removeValue(forKey: sent.revision)
      for subscription in room.subscriptions
      where subscription.connection.client.utf8.elementsEqual(sent.submission.client.utf8) {
        guard let messageID = subscription.messageIDs.removeValue(forKey: sent.revision) else {
          continue
        }
        change.follower = (subscription, messageID)
      }
      return change
    }
  }

  private func submit(_ change: Withdrawn, again room: DocumentRoom) {
    let submission = change.submission
    if let edit = change.edit, let expected = edit.expected, let live = room.live {
      // The head that it expected is not the newest any more.
      respondOutdated(edit.request, expected: expected, head: live.headRevision)
      return
    }
    switch sequence(submission, in: room) {
    case .accepted(let revision):
      if let (subscription, messageID) = change.follower {
        subscription.messageIDs[revision] = messageID
      }
      room.pendingEdits[revision] = change.edit
      room.arrivals.append(change.arrival ?? surroundings.clock.microseconds)
      took(submission.operation, in: room)
    case .duplicate(let revision):
      // It has come to the log by way of another node, too, and is acknowledged with that entry.
      if let (subscription, messageID) = change.follower {
        subscription.messageIDs[revision] = messageID
      }
    case .duplicatePending, nil: break
    case .refused(let refusal):
      if let (subscription, messageID) = change.follower {
        refuse(submission, refusal, messageID: messageID, subscription)
      }
      if let edit = change.edit { respond(edit.request, refusal) }
    case .tooMuchHistory, .needsHistory:
      if let (subscription, messageID) = change.follower {
        refuseForWantOfHistory(submission, messageID: messageID, subscription)
      }
      if let edit = change.edit { refuseForWantOfHistory(edit.request) }
    }
  }
}
