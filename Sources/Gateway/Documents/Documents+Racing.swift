import ParleyGatewayPorts
import SocketMessages

/// Continuing when another writer of the store has appended to a document's log first.
///
/// A single node never sees that. Of several that share a store, one wins each race, and the others adopt
/// what it has appended and submit again what their clients had sent.
extension Documents {
  /// Takes back what was to be committed, adopts the others' entries, and submits again what its
  /// authors had sent.
  ///
  /// - Parameter chain: The chain at the last of the entries, if the log is shared.
  /// - Precondition: the entries follow the durable head.
  func overtaken(by entries: [LogEntry], chain: LogChain?, in room: DocumentRoom) {
    let withdrawn = withdraw(room)
    guard let adopted = room.live?.adopt(entries, chain: chain) else { return }
    metrics.entriesAdopted += adopted.count
    var found = EntriesWithoutNumbers(adopted, of: withdrawn)
    for change in withdrawn {
      if let revision = found.take(change) {
        answer(change, as: revision, in: room)
      } else {
        submit(change, again: room)
      }
    }
    people.nameAuthors(of: adopted, in: room)
    publish(adopted, in: room)
  }

  /// Takes back what was to be committed, and submits it again except what is dropped.
  func resubmit(
    in room: DocumentRoom, droppingThose isDropped: (LiveDocument.Submission) -> Bool
  ) {
    for change in withdraw(room) where !isDropped(change.submission) { submit(change, again: room) }
  }

  /// Other nodes have done some of a commit's edits, which had reached them, too: these are answered as
  /// they were there, and all else is submitted again.
  ///
  /// - Parameter places: The edits' places among the answers that the commit was to keep.
  /// - Returns: Whether there was one.
  func dropAnswered(
    _ places: [Int], of commit: UncommittedChanges.Commit, in room: DocumentRoom
  ) -> Bool {
    let answered = places.filter(commit.kept.indices.contains).map { commit.kept[$0] }
    var hasDropped = false
    for change in withdraw(room) {
      if let request = change.edit?.request, answered.contains(request) {
        hasDropped = true
        owner?.answerFromStore(request)
      } else {
        submit(change, again: room)
      }
    }
    return hasDropped
  }

  /// The log has a change already: its author is notified with that entry.
  private func answer(_ change: WithdrawnChange, as revision: Int, in room: DocumentRoom) {
    if let (subscription, messageID) = change.follower {
      subscription.messageIDs[revision] = messageID
    }
    room.changes.expect(change.edit, as: revision)
  }

  private func withdraw(_ room: DocumentRoom) -> [WithdrawnChange] {
    guard let sent = room.live?.withdraw() else { return [] }
    let changes = settleAll(in: room)
    precondition(changes.count == sent.count, "each tentative entry counts once")
    var followers: ExactDictionary<[Subscription]> = [:]
    for subscription in room.subscriptions where !subscription.messageIDs.isEmpty {
      followers[subscription.connection.client, default: []].append(subscription)
    }
    return zip(sent, changes).map { sent, taken in
      var change = WithdrawnChange(submission: sent.submission, arrival: taken.arrival)
      change.edit = room.changes.takeEdit(sent.revision)
      for subscription in followers[sent.submission.client] ?? [] {
        guard let messageID = subscription.messageIDs.removeValue(forKey: sent.revision) else {
          continue
        }
        change.follower = (subscription, messageID)
      }
      return change
    }
  }

  private func submit(_ change: WithdrawnChange, again room: DocumentRoom) {
    let submission = change.submission
    metrics.changesResubmitted += 1
    if let edit = change.edit, let expected = edit.expected, let live = room.live {
      // The head that it expected is no longer the newest.
      return respond(edit.request, .outdated(expected: expected, head: live.headRevision))
    }
    switch sequence(submission, in: room) {
    case .accepted(let revision):
      if let (subscription, messageID) = change.follower {
        subscription.messageIDs[revision] = messageID
      }
      room.changes.expect(change.edit, as: revision)
      took(submission.operation, of: submission.client, at: change.arrival, in: room)
    case .duplicate(let revision):
      // It has come to the log by way of another node, too, and is acknowledged with that entry.
      answer(change, as: revision, in: room)
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
      if let edit = change.edit { respond(edit.request, .baseGone) }
    }
  }
}
