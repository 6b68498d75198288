import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// Requests to follow documents, and to read pages of their changes.
extension Documents {
  /// Handles a connection's request to follow a document.
  func join(
    _ id: DocumentID, _ joining: DocumentJoining, messageID: String, _ connection: Connection
  ) {
    let room = room(of: id)
    if room.live != nil, !connection.verbs(in: room).contains(.read) {
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    let waiting = WaitingWork.join(connection.id, messageID: messageID, joining)
    let resume = joining.resume
    // A client whose change is being committed waits for the outcome. If it were told now that the
    // log lacks the change, it would resend the change as a new one.
    guard let live = room.live, !room.isBusy, live.pendingRevision(of: connection.client) == nil,
      joining.unanswered.flatMap({ live.pendingRevision(of: $0.clientID) }) == nil
    else {
      return wait(waiting, in: room, connection)
    }
    guard !joining.needsNews(of: live, for: connection) else {
      guard room.waitingCount < settings.waitingMax else {
        return connection.dialect.turnAway(
          connection, .busy, "too many wait for this document; try again", ref: messageID)
      }
      return ask(waiting, in: room)
    }
    if let resume, Epoch(resume.epoch) == live.epoch {
      if resume.revision > live.durableRevision {
        // The client has seen revisions that this log does not contain: the tail of the log is
        // lost. A new epoch begins, and all followers are notified.
        wait(waiting, in: room, connection)
        return renewEpoch(of: room)
      }
      let first = resume.firstNeeded
      if first >= 0, first < live.oldestBase {
        if live.durableRevision - first <= settings.lagRevisionsMax {
          // The store still contains the missed entries. Sending them saves the client a merge.
          wait(waiting, in: room, connection)
          return readHistory(of: room, after: first, through: live.oldestBase)
        }
        if joining.pages, connection.verbs(in: room).contains(.read) {
          // The client is not subscribed until it has read the missed pages. None of its changes is
          // under way: its earlier connection has ended, and all earlier messages of this one are
          // handled.
          if let subscription = connection.subscriptions[id] { followers.leave(subscription) }
          connection.dialect.behind(
            live, settled: followers.settled(joining.unanswered, in: live, connection),
            messageID: messageID, connection)
          return
        }
      }
    }
    let work = room.textWork(of: joining, by: connection.dialect)
    guard mayBegin(work, in: room) else {
      return wait(waiting, in: room, connection)
    }
    turn.spend(work)
    followers.join(room, joining, messageID: messageID, connection)
  }

  /// Handles a request for a page of changes.
  func readPage(
    _ page: HistoryPageRequest, of id: DocumentID, messageID: String, _ connection: Connection
  ) {
    guard pages.admit(to: id, messageID: messageID, connection) else { return }
    let room = room(of: id)
    room.use(now: dependencies.clock.uptime)
    readPage(page, of: room, messageID: messageID, connection)
  }

  /// Continues a request for a page, or queues it.
  func readPage(
    _ page: HistoryPageRequest, of room: DocumentRoom, messageID: String, _ connection: Connection
  ) {
    let work = WaitingWork.page(connection.id, messageID: messageID, page)
    switch pages.read(page, of: room, messageID: messageID, connection) {
    case .document: wait(work, in: room, connection)
    case .news: ask(work, in: room)
    case nil: break
    }
  }
}
