import ParleyGatewayPorts
import SocketMessages

/// Making changes durable, and reporting the outcome.
///
/// One commit of a document is under way at a time; what is taken meanwhile goes with the next.
/// Since a commit costs a sync, and each follower a write for it, the fewer they are the better:
/// all that one turn of the loop brings for a document goes in one commit, and what a turn has
/// delivered is written to the sockets before more is committed, so that the authors' next changes
/// go together.
extension Documents {
  /// The entries of a shared log that are kept for changes that lose their races, beyond the window.
  private static let basesMax = 10_000

  /// Sends the tentative entries to the store with this turn's end; with a later one's if changes were
  /// delivered in this turn, or a crowd is notified in rounds; and not before a commit under way is over.
  func commit(_ room: DocumentRoom) {
    if let live = room.live, !live.isSettled { commits.add(room) }
  }

  /// Ends a turn of the loop: larger deferred work continues, followers and other nodes learn who has come
  /// and gone in it, and the changes that it brought go to the store.
  ///
  /// - Complexity: O(*n*) documents and changes of this turn or the one before.
  /// - Returns: the milliseconds after which the next turn should end; `nil` if nothing is left for it.
  func endTurn() -> Int? {
    while let room = turn.next() {
      if documents.holds(room) { admitWaiting(room) }
    }
    turn.begin()
    people.endTurn()
    let (ready, pause) = commits.endTurn(
      at: dependencies.clock.microseconds,
      followersPerMillisecond: settings.followersPerMillisecond)
    for room in ready { handOver(room) }
    return turn.isLeft ? 0 : pause
  }

  /// Hands the tentative entries to the store, unless a commit is under way.
  private func handOver(_ room: DocumentRoom) {
    guard documents.holds(room), room.mayCommit, let entries = room.live?.takeCommit(),
      let live = room.live
    else { return }
    let append = StoreRequest.append(
      id: room.id, epoch: live.epoch, entries: entries, condition: live.commitCondition)
    let (work, kept) = keepingAnswers(of: append, entries, in: room)
    let ticket = store(work, under: .housekeeping, then: .commit(room.id))
    room.changes.begin(.init(ticket: ticket, kept: kept), at: dependencies.clock.microseconds)
  }

  /// The commit of a document's entries, with the answers to the edits among them.
  private func keepingAnswers(
    of append: StoreRequest, _ entries: [LogEntry], in room: DocumentRoom
  ) -> (work: StoreRequest, kept: [RequestID]) {
    guard !room.changes.edits.isEmpty, let owner else { return (append, []) }
    let edits = entries.compactMap { entry in
      room.changes.edits[entry.revision].map { (request: $0.request, revision: entry.revision) }
    }
    return owner.keepingAnswers(of: append, to: edits)
  }

  /// A commit is over.
  func committed(_ id: DocumentID, _ outcome: StoreOutcome<Appending>, _ ticket: StoreTicket) {
    // There is nothing to answer if the note was deleted, even if its name was joined again since.
    guard let room = documents[id], let commit = room.changes.endCommit(ticket) else { return }
    switch outcome {
    case .success(.appended(let chain)):
      storeFailure = nil
      guard let entries = room.live?.commitSucceeded(chain: chain) else { return }
      measure(entries.count, in: room)
      publish(entries, in: room)
      hint(of: room)
      proceed(room)
    case .success(.lostRace(let entries, let chain)):
      metrics.racesLost += 1
      guard room.live?.isFollowed(by: entries) ?? false else {
        return fail(.damaged("the log has another history"), in: room)
      }
      storeFailure = nil
      overtaken(by: entries, chain: chain, in: room)
      proceed(room)
    case .success(.undecided(let error)):
      dependencies.log.write(
        .error, "commit failed, and may turn up after a crash", [("error", error.logName)])
      storeFailure = error
      wipeFailedCommit(of: room)
    case .failure(.fenced(let clients)):
      guard drop(clients, in: room) else {
        return fail(.damaged("the log refuses clients that are not among the changes"), in: room)
      }
      proceed(room)
    case .failure(.answeredElsewhere(let places)):
      guard dropAnswered(places, of: commit, in: room) else {
        return fail(
          .damaged("the store has answers to edits that are not among the changes"), in: room)
      }
      proceed(room)
    case .failure(.unknownOutcome(let words)) where room.live?.isShared ?? false:
      unsettle(.unknownOutcome(words), in: room)
    case .failure(let error): fail(error, in: room)
    }
  }

  /// Has the store make sure that a document's commit has not happened. Until then the outcome of its
  /// changes is reported to no client: a client that hears that the log does not hold a change sends it
  /// again as another, and the log would have both.
  private func wipeFailedCommit(of room: DocumentRoom) {
    store(.wipeFailedCommits, under: .housekeeping, then: .wiping(room.id))
  }

  /// Tries again for documents whose failed commits could not be wiped.
  func wipeFailedCommits() {
    for room in commits.takeUndecided() where documents.holds(room) { wipeFailedCommit(of: room) }
  }

  /// A document's failed commit is wiped, or could not be.
  func wiped(_ id: DocumentID, _ outcome: StoreOutcome<Void>) {
    guard let room = documents[id], room.live != nil else { return }
    switch outcome {
    case .success: fail(storeFailure ?? .unavailable("the commit failed"), in: room)
    case .failure: commits.addUndecided(room)
    }
  }

  /// Brings durable entries to followers, and answers the edits among them.
  func publish(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    room.sharedText = nil
    // Its carets are of the revision before.
    room.people.named = nil
    delivery.deliver(entries, in: room)
    room.changes.sent(entries)
    commits.delivered(room)
    answerEdits(entries, in: room)
  }

  /// Continues with the work that waited for a commit to end.
  func proceed(_ room: DocumentRoom) {
    let window = settings.windowEntries(forFollowers: room.subscriptions.count)
    room.live?.trim(keeping: window, forBases: Self.basesMax)
    endLeaving(room)
    admitWaiting(room)
    commit(room)
    storeEpoch(of: room)
    readNews(of: room)
  }

  /// A commit has failed: all that was not durable is refused.
  ///
  /// If the outcome is unknown and the log has one owner, followers are not notified that the log lacks their
  /// changes: they join again, and learn from the log which of them it has.
  func fail(_ error: StoreError, in room: DocumentRoom) {
    dependencies.log.write(.error, "commit failed", [("error", error.logName)])
    failed(error)
    let isUnknown = error.isUnknownOutcome && !(room.live?.isShared ?? false)
    guard let fallen = room.live?.commitFailed() else { return }
    settleAll(in: room)
    refuseFallen(fallen, in: room, tellsFollowers: !isUnknown)
    endLeaving(room)
    guard isUnknown || !error.isRetryable else {
      admitWaiting(room)
      storeEpoch(of: room)
      // Some may have asked for a read of the log meanwhile.
      return readNews(of: room)
    }
    // The log is not what this process thinks it is: read it again. Waiting clients are turned away: no
    // reply would come to what they began here.
    turnAway(room, .unavailable, "the document is being read again; join it again")
    for subscription in room.subscriptions {
      let connection = subscription.connection
      sendError(
        .unavailable, "the document is being read again; join it again", ref: pushID(),
        to: connection)
      close(connection, .rejoin, "join again")
    }
  }

  /// Counts how long the oldest changes of a document took from their arrival until now.
  private func measure(_ count: Int, in room: DocumentRoom) {
    metrics.changesAccepted += count
    let changes = settle(count, in: room)
    let now = dependencies.clock.microseconds
    for change in changes { metrics.acknowledgement.record(now - change.arrival) }
    delivery.measure(changes)
  }

  /// Refuses the changes of a commit that failed, and those that were made on it.
  private func refuseFallen(_ fallen: [LogEntry], in room: DocumentRoom, tellsFollowers: Bool) {
    for entry in fallen {
      if let edit = room.changes.takeEdit(entry.revision) {
        respond(
          edit.request,
          .problem(503, .unavailable, "the edit could not be stored now; try again later"))
      }
    }
    guard tellsFollowers else { return }
    for subscription in room.subscriptions {
      let connection = subscription.connection
      for entry in fallen where entry.client == connection.client {
        guard let messageID = subscription.messageIDs.removeValue(forKey: entry.revision) else {
          continue
        }
        refuse(
          entry.sequence, .unavailable,
          room.live?.isShared ?? false
            ? "the change could not be stored now; send it again"
            : "the change could not be written to disk and is not in the document; send it again",
          of: room.id, ref: messageID, to: connection)
      }
    }
  }
}
