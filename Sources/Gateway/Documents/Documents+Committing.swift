import ParleyGatewayPorts
import SocketMessages

/// Committing changes, and reporting the outcome to their authors.
///
/// A document has at most one commit under way; changes that arrive meanwhile go with the next one.
/// A commit costs a sync, and a write to each follower, so changes are batched: all changes of one
/// turn of the loop go in one commit. The entries that a turn has delivered are written to the
/// sockets before the next commit, so that the authors' next changes share a commit.
extension Documents {
  /// The maximum entries retained beyond the window, as bases for changes that lose a race.
  private static let basesMax = 10_000

  /// Queues the tentative entries for the store. They go at the end of this turn, or of a later
  /// one: changes delivered in this turn, `BroadcastPacer` and a commit under way delay them.
  func commit(_ room: DocumentRoom) {
    if let live = room.live, !live.isSettled { commits.add(room) }
  }

  /// Ends a turn of the loop: continues large deferred work, notifies followers and other nodes of
  /// the people who came and left, and hands the turn's changes to the store.
  ///
  /// - Complexity: O(*n*) documents and changes of this turn or the one before.
  /// - Returns: The milliseconds until the next turn should end; `nil` if no work is left.
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

  /// Returns a commit of entries that also stores the answers to the HTTP edits among them.
  private func keepingAnswers(
    of append: StoreRequest, _ entries: [LogEntry], in room: DocumentRoom
  ) -> (work: StoreRequest, kept: [RequestID]) {
    guard !room.changes.edits.isEmpty, let answers else { return (append, []) }
    let edits = entries.compactMap { entry in
      room.changes.edits[entry.revision].map { (request: $0.request, revision: entry.revision) }
    }
    return answers.keepingAnswers(of: append, to: edits)
  }

  /// Handles the result of a commit.
  func committed(_ id: DocumentID, _ outcome: StoreOutcome<Appending>, _ ticket: StoreTicket) {
    // The changes of a deleted note are answered already. A new room may have its name.
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
        .error, "commit failed, and may reappear after a crash", [("error", error.logName)])
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

  /// Requests that the store wipe a document's failed commit. The outcome is reported only
  /// afterwards: a client that receives an error resends its change as a new one, and the log
  /// could then contain both.
  private func wipeFailedCommit(of room: DocumentRoom) {
    store(.rollBackFailedCommits, under: .housekeeping, then: .wiping(room.id))
  }

  /// Retries for documents whose failed commits could not be wiped.
  func rollBackFailedCommits() {
    for room in commits.takeUndecided() where documents.holds(room) { wipeFailedCommit(of: room) }
  }

  /// Handles the result of wiping a document's failed commit.
  func wiped(_ id: DocumentID, _ outcome: StoreOutcome<Void>) {
    guard let room = documents[id], room.live != nil else { return }
    switch outcome {
    case .success: fail(storeFailure ?? .unavailable("the commit failed"), in: room)
    case .failure: commits.addUndecided(room)
    }
  }

  /// Delivers durable entries to followers, and answers the edits among them.
  func publish(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    room.sharedTexts = SharedTexts()
    // The encoded carets refer to the previous revision.
    room.people.named = nil
    delivery.deliver(entries, in: room)
    room.changes.sent(entries)
    commits.delivered(room)
    answerEdits(entries, in: room)
  }

  /// Continues the work that waited for the end of a commit.
  func proceed(_ room: DocumentRoom) {
    let window = settings.windowEntries(forFollowers: room.subscriptions.count)
    room.live?.trim(keeping: window, forBases: Self.basesMax)
    followers.endLeaving(room)
    admitWaiting(room)
    commit(room)
    storeEpoch(of: room)
    readNewEntries(of: room)
  }

  /// Handles a failed commit: refuses all changes that are not durable.
  ///
  /// If the outcome is unknown and the log has one owner, followers' changes are not refused. The
  /// followers join again, and the reply says which of their changes the log contains.
  func fail(_ error: StoreError, in room: DocumentRoom) {
    dependencies.log.write(.error, "commit failed", [("error", error.logName)])
    failed(error)
    let isUnknown = error.isUnknownOutcome && !(room.live?.isShared ?? false)
    guard let fallen = room.live?.commitFailed() else { return }
    room.changes.takeAll(from: &backlog)
    refusals.refuseFallen(fallen, in: room, isUnknown: isUnknown)
    followers.endLeaving(room)
    guard isUnknown || !error.isRetryable else {
      admitWaiting(room)
      storeEpoch(of: room)
      // A read of the log may have been requested meanwhile.
      return readNewEntries(of: room)
    }
    // The log differs from the document in memory: load it again. Waiting clients are turned away,
    // because this room will never answer their requests.
    turnAway(room, .unavailable, "the document is being read again; join it again")
    for subscription in room.subscriptions {
      let connection = subscription.connection
      sendError(
        .unavailable, "the document is being read again; join it again", ref: pushID(),
        to: connection)
      close(connection, .rejoin, "join again")
    }
  }

  /// Records the latency of a document's oldest changes, from their arrival until now.
  private func measure(_ count: Int, in room: DocumentRoom) {
    metrics.changesAccepted += count
    let changes = room.changes.take(count, from: &backlog)
    let now = dependencies.clock.microseconds
    for change in changes { metrics.acknowledgement.record(now - change.arrival) }
    delivery.measure(changes)
  }
}
