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
  /// - Parameter chain: The chain at the last of the entries, if the log is shared.
  /// - Precondition: the entries follow the durable head.
  func overtaken(by entries: [LogEntry], chain: LogChain?, in room: DocumentRoom) {
    let withdrawn = withdraw(room)
    guard let adopted = room.live?.adopt(entries, chain: chain) else { return }
    metrics.entriesAdopted += adopted.count
    var found = found(adopted, of: withdrawn)
    for change in withdrawn {
      if let revision = take(change, from: &found) {
        answer(change, as: revision, in: room)
      } else {
        submit(change, again: room)
      }
    }
    nameAuthors(of: adopted, in: room)
    publish(adopted, in: room)
  }

  /// Takes back what was to be committed, and submits it again but for what is dropped.
  func resubmit(
    in room: DocumentRoom, droppingThose isDropped: (LiveDocument.Submission) -> Bool
  ) {
    for change in withdraw(room) where !isDropped(change.submission) { submit(change, again: room) }
  }

  /// Other nodes have done some of the edits of a commit, which had come to them, too: these are answered
  /// as they were there, and all else is submitted again.
  ///
  /// - Parameter places: The edits' places among the answers that the commit was to keep.
  /// - Returns: Whether there was one.
  func dropAnswered(_ places: [Int], in room: DocumentRoom) -> Bool {
    let answered = places.filter(room.keptRequests.indices.contains).map { room.keptRequests[$0] }
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

  /// The entries of those clients whose changes have no numbers, the newest first, by client.
  ///
  /// Only this node knows these clients' ids, and an append is done as a whole: so if the log has some of
  /// a client's changes that wait, they are the first, in order.
  private func found(
    _ adopted: ArraySlice<LogEntry>, of withdrawn: [Withdrawn]
  ) -> ExactDictionary<[LogEntry]> {
    var found: ExactDictionary<[LogEntry]> = [:]
    for change in withdrawn where !change.submission.isResendable {
      found[change.submission.client] = []
    }
    guard !found.isEmpty else { return found }
    for entry in adopted.reversed() where found[entry.client] != nil {
      found[entry.client]?.append(entry)
    }
    return found
  }

  /// The revision of a change without a number that the log has already. Before it may stand one that was
  /// refused when nobody could tell what had become of it.
  private func take(
    _ change: Withdrawn, from found: inout ExactDictionary<[LogEntry]>
  ) -> Int? {
    guard !change.submission.isResendable else { return nil }
    let digest = LiveDocument.digest(of: change.submission)
    while let entry = found[change.submission.client]?.popLast() {
      if entry.digest == digest { return entry.revision }
    }
    return nil
  }

  /// The log has a change already: its author is told with that entry.
  private func answer(_ change: Withdrawn, as revision: Int, in room: DocumentRoom) {
    if let (subscription, messageID) = change.follower {
      subscription.messageIDs[revision] = messageID
    }
    room.pendingEdits[revision] = change.edit
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
    metrics.changesResubmitted += 1
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
      if let edit = change.edit { refuseForWantOfHistory(edit.request) }
    }
  }
}
