import ParleyGatewayPorts
import SocketMessages

/// Recovering when another writer of the store has appended to a document's log first.
///
/// A single node never loses a race. Among nodes that share a store, one wins each race; the others
/// adopt its entries and resubmit their clients' changes.
extension Documents {
  /// Withdraws the tentative changes, adopts the other writers' entries, and resubmits the
  /// withdrawn changes.
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

  /// Withdraws the tentative changes, and resubmits them except those that `isDropped` matches.
  func resubmit(
    in room: DocumentRoom, droppingThose isDropped: (LiveDocument.Submission) -> Bool
  ) {
    for change in withdraw(room) where !isDropped(change.submission) { submit(change, again: room) }
  }

  /// Handles a commit with edits that other nodes have received and committed, too. These edits are
  /// answered from the store; all other changes are resubmitted.
  ///
  /// - Parameter places: Indices of the edits among the answers that the commit was to store.
  /// - Returns: Whether an edit was found.
  func dropAnswered(
    _ places: [Int], of commit: UncommittedChanges.Commit, in room: DocumentRoom
  ) -> Bool {
    let answered = places.filter(commit.kept.indices.contains).map { commit.kept[$0] }
    var hasDropped = false
    for change in withdraw(room) {
      if let request = change.edit?.request, answered.contains(request) {
        hasDropped = true
        answers?.answerFromStore(request)
      } else {
        submit(change, again: room)
      }
    }
    return hasDropped
  }

  /// Registers a change that the log already contains: its entry answers the author.
  private func answer(_ change: WithdrawnChange, as revision: Int, in room: DocumentRoom) {
    if let (subscription, messageID) = change.follower {
      subscription.messageIDs[revision] = messageID
    }
    room.changes.expect(change.edit, as: revision)
  }

  private func withdraw(_ room: DocumentRoom) -> [WithdrawnChange] {
    guard let sent = room.live?.withdraw() else { return [] }
    let changes = room.changes.takeAll(from: &backlog)
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
      // The expected head is no longer the newest revision.
      return respond(edit.request, .outdated(expected: expected, head: live.headRevision))
    }
    switch sequence(submission, in: room) {
    case .accepted(let revision):
      if let (subscription, messageID) = change.follower {
        subscription.messageIDs[revision] = messageID
      }
      room.changes.expect(change.edit, as: revision)
      room.changes.add(submission, at: change.arrival, to: &backlog)
    case .duplicate(let revision):
      // The change reached the log through another node, too; its entry acknowledges it.
      answer(change, as: revision, in: room)
    case .duplicatePending, nil: break
    case .refused(let refusal):
      if let (subscription, messageID) = change.follower {
        refusals.refuse(submission, refusal, messageID: messageID, subscription)
      }
      if let edit = change.edit { refusals.respond(edit.request, refusal) }
    case .undecided:
      preconditionFailure("an exact change is the first of those that were withdrawn")
    case .tooMuchHistory, .needsHistory:
      if let (subscription, messageID) = change.follower {
        refusals.refuseHistoryGone(submission, messageID: messageID, subscription)
      }
      if let edit = change.edit { respond(edit.request, .baseGone) }
    }
  }
}
