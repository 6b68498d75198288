import ParleyGatewayPorts
import SocketMessages

/// Requests that wait for a read of the store or the end of a commit.
extension Documents {
  /// Queues work for a document, or rejects it if too much waits.
  func wait(
    _ waiting: WaitingWork, in room: DocumentRoom, _ connection: Connection
  ) {
    guard mayWait(in: room) else {
      return refusals.refuseAsBusy(waiting, in: room, connection)
    }
    if case .change = waiting { connection.subscriptions[room.id]?.hasWaited = true }
    room.waiting.append(waiting)
  }

  /// Whether more work may wait for a document.
  func mayWait(in room: DocumentRoom) -> Bool {
    room.waitingCount < settings.waitingMax
      && !(room.waiting.isResting && turn.restingBytes >= settings.storeBytesMax)
  }

  /// Continues the waiting work, until an item has to wait for something else.
  func admitWaiting(_ room: DocumentRoom) {
    guard !room.isBusy else { return }
    let all = room.waiting.takeAll()
    for (index, waiting) in all.enumerated() {
      let waiting = waiting.adopted(on: board)
      guard mayBegin(waiting, in: room) else {
        for waiting in all[index...] { room.waiting.append(waiting.adopted(on: board)) }
        return
      }
      switch waiting {
      case .join(let id, let messageID, let joining):
        guard let connection = connections[id], connection.isReady else { continue }
        join(room.id, joining, messageID: messageID, connection)
      case .page(let id, let messageID, let page):
        guard let connection = connections[id], connection.isReady else { continue }
        readPage(page, of: room, messageID: messageID, connection)
      case .change(let id, let messageID, let submission):
        guard let subscription = author(id, of: submission, messageID, in: room) else { continue }
        submit(submission, messageID: messageID, subscription, hasWaited: true)
      case .edit(let edit): submit(edit, to: room)
      case .version(let naming): save(naming, of: room)
      }
    }
  }

  /// Whether work may begin now. If it has to wait for another turn, the document rests.
  func mayBegin(_ work: WaitingWork, in room: DocumentRoom) -> Bool {
    guard !room.isBusy, let live = room.live else { return false }
    return mayBegin(work.work(in: live), in: room)
  }

  /// Whether an amount of work may begin now on a document that is not busy. If not, it rests.
  func mayBegin(_ work: @autoclosure () -> Int, in room: DocumentRoom) -> Bool {
    if turn.allows(work()) { return true }
    turn.rest(room)
    return false
  }

  /// Reads older entries from the store; the document pauses meanwhile.
  func readHistory(of room: DocumentRoom, after: Int, through: Int) {
    let ticket = store(
      .entries(id: room.id, after: after, through: through), under: .housekeeping,
      then: .history(room.id))
    room.pause(for: .reading(ticket))
  }

  /// Handles the result of reading older entries.
  func readHistory(
    of id: DocumentID, _ outcome: StoreOutcome<[LogEntry]>, _ ticket: StoreTicket
  ) {
    // The read runs beside the commits: the note may have been deleted and created again.
    guard let room = documents[id], room.endPause(.reading(ticket)) else { return }
    switch outcome {
    case .success(let entries):
      guard entries.last?.revision == room.live?.oldestBase else {
        // Fewer entries than requested: another read would return no more.
        for waiting in room.waiting.takeAll() {
          settle(waiting, in: room, without: .compacted(oldestRevision: 0))
        }
        return
      }
      room.live?.prepend(entries)
      admitWaiting(room)
    case .failure(let error):
      logUnread(error)
      for waiting in room.waiting.takeAll() { settle(waiting, in: room, without: error) }
    }
  }

  /// Continues or refuses work that waits for older entries, which cannot be read.
  func settle(
    _ waiting: WaitingWork, in room: DocumentRoom, without error: StoreError
  ) {
    switch waiting {
    case .page(let id, let messageID, let page):
      guard let connection = connections[id], connection.isReady else { return }
      readPage(page, of: room, messageID: messageID, connection)
    case .join(let id, let messageID, let joining):
      guard let connection = connections[id], connection.isReady else { return }
      var joining = joining
      if let resume = joining.resume, resume.needsHistory(of: room.live) {
        if error.isRetryable {
          // The log still contains the missed entries: the client joins again to get them.
          return connection.dialect.turnAway(
            connection, .unavailable, "older changes cannot be read now; join again",
            ref: messageID)
        }
        // The client can still join with the whole text, and merges its pending changes.
        joining.resume = nil
      }
      join(room.id, joining, messageID: messageID, connection)
    case .edit(let edit):
      respond(
        edit.request,
        error.isCompacted
          ? .problem(410, .historyGone, "the changes since that revision are no longer stored")
          : .problem(503, .unavailable, "older changes cannot be read now; try again"))
    case .version(let naming): save(naming, of: room)
    case .change(let id, let messageID, let submission):
      guard let author = author(id, of: submission, messageID, in: room) else { return }
      guard !error.isCompacted else {
        return refusals.refuseHistoryGone(submission, messageID: messageID, author)
      }
      refusals.refuse(
        submission.sequence, .unavailable, "older changes cannot be read now; send it again",
        of: room.id, ref: messageID, to: author.connection)
    }
  }

  /// Returns the subscription of a change's author; without one, the change is refused.
  private func author(
    _ id: ConnectionID, of submission: LiveDocument.Submission, _ messageID: String,
    in room: DocumentRoom
  ) -> Subscription? {
    guard let connection = connections[id], connection.isReady else { return nil }
    if let subscription = connection.subscriptions[room.id] { return subscription }
    refusals.refuse(
      submission.sequence, .notJoined, "the document is no longer followed; join it again",
      of: room.id, ref: messageID, to: connection)
    return nil
  }

  /// Discards a document that cannot be used, and answers all clients that wait for it.
  func turnAway(_ room: DocumentRoom, _ code: ErrorCode, _ message: String) {
    forget(room)
    people.partFromNodes(in: room)
    room.changes.takeAll(from: &backlog)
    for waiting in room.log.takeAll() + room.waiting.takeAll() {
      refusals.refuse(waiting, in: room, code, message)
    }
  }
}
