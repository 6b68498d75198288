import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Pages of a document's changes, for clients that were away for long.
///
/// A page comes from memory, or from a read of the store that runs beside the commits. The reader
/// requests each page, so a slow reader has one page under way and occupies no other memory. A page
/// contains as many changes as one frame for a lagging follower.
extension Documents {
  /// Handles a request for a page.
  func readPage(
    _ page: HistoryPageRequest, of id: DocumentID, messageID: String, _ connection: Connection
  ) {
    // The reader's queue is full, or the reader has not waited for the previous page. Or the store
    // is overloaded: writers have priority.
    guard connection.pageReads[id] == nil, !backlog.isFull,
      connection.pageReads.count < settings.limits.documentsPerConnectionMax,
      dependencies.queuedBytes(connection.id) <= settings.laggingBytes
    else {
      return turnAway(
        connection, .busy, "read the page before, and ask for the next one then", ref: messageID)
    }
    guard maySurvey(id, connection) else {
      return turnAway(
        connection, .busy, "changes of many documents were read; join some, or wait and ask again",
        ref: messageID)
    }
    connection.pageReads[id] = .document
    let room = room(of: id)
    room.use(now: dependencies.clock.uptime)
    readPage(page, of: room, messageID: messageID, connection)
  }

  /// Whether a connection may read pages of one more document that it does not follow; if so, the
  /// document is recorded. Each recorded document stays in memory for a while.
  private func maySurvey(_ id: DocumentID, _ connection: Connection) -> Bool {
    guard connection.subscriptions[id] == nil, !connection.surveyed.contains(id) else {
      return true
    }
    let documentsMax = settings.limits.documentsPerConnectionMax
    if connection.surveyed.count >= documentsMax {
      for other in connection.surveyed
      where documents[other] == nil || connection.subscriptions[other] != nil {
        connection.surveyed.remove(other)
      }
    }
    guard connection.surveyed.count < documentsMax else { return false }
    connection.surveyed.insert(id)
    return true
  }

  /// Answers with a page, once the document is loaded.
  func readPage(
    _ page: HistoryPageRequest, of room: DocumentRoom, messageID: String, _ connection: Connection
  ) {
    guard let live = room.live else {
      return wait(.page(connection.id, messageID: messageID, page), in: room, connection)
    }
    guard connection.verbs(in: room).contains(.read) else {
      connection.pageReads[room.id] = nil
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    if page.needsNews(of: live) {
      return ask(.page(connection.id, messageID: messageID, page), in: room)
    }
    guard page.resume.epoch == live.epoch else {
      return turnAwayReader(of: room.id, connection, .epochChanged, ref: messageID)
    }
    guard page.resume.revision >= 0, page.resume.revision <= live.durableRevision else {
      return turnAwayReader(of: room.id, connection, .futureRevision, ref: messageID)
    }
    let through = min(live.durableRevision, page.resume.revision + page.limit)
    if page.after >= live.oldestBase {
      let entries = live.durableEntries(after: page.after)
      return answer(
        page, entries.prefix(through - page.after), of: live, messageID: messageID, connection)
    }
    let ticket = store(
      .entries(
        id: room.id, after: page.after, through: through, bytesMax: settings.catchUpBytes),
      under: .housekeeping,
      then: .documentPage(
        HistoryPageReading(
          id: room.id, epoch: live.epoch, connection: connection.id, messageID: messageID,
          page: page)))
    connection.pageReads[room.id] = .store(ticket)
  }

  /// Handles the result of reading a page's entries.
  func readPage(
    _ reading: HistoryPageReading, _ outcome: StoreOutcome<[LogEntry]>, _ ticket: StoreTicket
  ) {
    guard let connection = connections[reading.connection],
      case .store(let awaited)? = connection.pageReads[reading.id], awaited == ticket
    else { return }
    guard connection.isReady else {
      connection.pageReads[reading.id] = nil
      return
    }
    // The read runs beside the commits: the note may have been deleted and created again.
    guard let live = documents[reading.id]?.live, live.epoch == reading.epoch else {
      return turnAwayReader(
        of: reading.id, connection, .unavailable, ref: reading.messageID)
    }
    if case .failure(let error) = outcome { logUnread(error) }
    switch outcome {
    case .success(let entries) where entries.first?.revision == reading.page.after + 1:
      answer(reading.page, entries[...], of: live, messageID: reading.messageID, connection)
    case .success, .failure(.compacted), .failure(.unknownDocument), .failure(.damaged):
      turnAwayReader(of: reading.id, connection, .historyGone, ref: reading.messageID)
    case .failure:
      turnAwayReader(of: reading.id, connection, .unavailable, ref: reading.messageID)
    }
  }

  /// Cancels the page reads of a connection that ends, which frees the store for others.
  func forgetPages(of connection: Connection) {
    for read in connection.pageReads.values {
      if case .store(let ticket) = read { act(.forget(ticket)) }
    }
    connection.pageReads = [:]
  }

  private func answer(
    _ page: HistoryPageRequest, _ entries: ArraySlice<LogEntry>, of live: LiveDocument,
    messageID: String, _ connection: Connection
  ) {
    connection.pageReads[live.id] = nil
    guard connection.verbs(on: live.id, live).contains(.read) else {
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    var entries = entries
    if page.after < page.resume.revision {
      // Another change has this revision: the log has lost entries that the reader has seen.
      guard let known = page.resume.change, let entry = entries.popFirst(),
        known == entry.name(withTime: known.time != nil)
      else { return turnAwayReader(of: live.id, connection, .historyGone, ref: messageID) }
    }
    connection.dialect.page(
      entries.fitting(settings.catchUpBytes), after: page.resume.revision, of: live,
      ref: messageID, connection)
  }

  /// Answers a reader with the reason why there is no page.
  func turnAwayReader(
    of id: DocumentID, _ connection: Connection, _ code: ErrorCode, ref: String
  ) {
    connection.pageReads[id] = nil
    turnAway(connection, code, code.wordsForReader, ref: ref)
  }
}
