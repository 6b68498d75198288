import ParleyGatewayPorts
import OTCore
import SocketMessages

/// Pages of a document's changes, for clients that were away for long.
///
/// A page comes from memory, or from a read of the store that runs beside the commits. The reader
/// requests each page, so a slow reader has one page under way and occupies no other memory. A page
/// contains as many changes as one frame for a lagging follower.
final class HistoryPages: Part {
  /// The next event that a request waits for.
  enum Need {
    /// The document in memory.
    case document
    /// A read of the shared log.
    case news
  }

  let board: Switchboard
  private let documents: DocumentTable

  init(_ board: Switchboard, _ documents: DocumentTable) {
    self.board = board
    self.documents = documents
  }

  /// Admits a request for a page, or refuses it.
  ///
  /// - Returns: Whether the request was admitted: one page of the document is under way.
  func admit(to id: DocumentID, messageID: String, _ connection: Connection) -> Bool {
    // Refused if the previous page is under way, if the reader's queue is full, or if the store is
    // overloaded, because writers have priority.
    guard connection.pageReads[id] == nil, !backlog.isFull,
      connection.pageReads.count < settings.limits.documentsPerConnectionMax,
      dependencies.queuedBytes(connection.id) <= settings.laggingBytes
    else {
      connection.dialect.turnAway(
        connection, .busy, "a page is still being read, or the server is busy; retry later",
        ref: messageID)
      return false
    }
    guard maySurvey(id, connection) else {
      connection.dialect.turnAway(
        connection, .busy, "changes of too many documents were read; join some, or retry later",
        ref: messageID)
      return false
    }
    connection.pageReads[id] = .document
    return true
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

  /// Answers an admitted request from memory, begins to read the page from the store, or refuses
  /// the request.
  ///
  /// - Returns: The event that the request has to wait for before another call; `nil` if it is
  ///   handled.
  func read(
    _ page: HistoryPageRequest, of room: DocumentRoom, messageID: String, _ connection: Connection
  ) -> Need? {
    guard let live = room.live else { return .document }
    guard connection.verbs(in: room).contains(.read) else {
      end(of: room.id, connection)
      connection.dialect.turnAwayUnentitled(connection, ref: messageID)
      return nil
    }
    if page.needsNews(of: live) { return .news }
    guard Epoch(page.resume.epoch) == live.epoch else {
      refuse(.epochChanged, of: room.id, ref: messageID, to: connection)
      return nil
    }
    guard page.resume.revision >= 0, page.resume.revision <= live.durableRevision else {
      refuse(.futureRevision, of: room.id, ref: messageID, to: connection)
      return nil
    }
    let through = min(live.durableRevision, page.resume.revision + page.limit)
    if page.after >= live.oldestBase {
      let entries = live.durableEntries(after: page.after)
      answer(page, entries.prefix(through - page.after), of: live, messageID: messageID, connection)
      return nil
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
    return nil
  }

  /// Handles the result of reading a page's entries.
  func finish(
    _ reading: HistoryPageReading, _ outcome: StoreOutcome<[LogEntry]>, _ ticket: StoreTicket
  ) {
    guard let connection = connections[reading.connection],
      case .store(let awaited)? = connection.pageReads[reading.id], awaited == ticket
    else { return }
    guard connection.isReady else { return end(of: reading.id, connection) }
    // The read runs beside the commits: the note may have been deleted and created again.
    guard let live = documents[reading.id]?.live, live.epoch == reading.epoch else {
      return refuse(.unavailable, of: reading.id, ref: reading.messageID, to: connection)
    }
    if case .failure(let error) = outcome { logUnread(error) }
    switch outcome {
    case .success(let entries) where entries.first?.revision == reading.page.after + 1:
      answer(reading.page, entries[...], of: live, messageID: reading.messageID, connection)
    case .success, .failure(.compacted), .failure(.unknownDocument), .failure(.damaged):
      refuse(.historyGone, of: reading.id, ref: reading.messageID, to: connection)
    case .failure:
      refuse(.unavailable, of: reading.id, ref: reading.messageID, to: connection)
    }
  }

  /// Cancels the page reads of a connection that ends, which frees the store for others.
  func cancelAll(of connection: Connection) {
    for read in connection.pageReads.values {
      if case .store(let ticket) = read { act(.forget(ticket)) }
    }
    connection.pageReads = [:]
  }

  private func answer(
    _ page: HistoryPageRequest, _ entries: ArraySlice<LogEntry>, of live: LiveDocument,
    messageID: String, _ connection: Connection
  ) {
    end(of: live.id, connection)
    guard connection.verbs(on: live.id, live).contains(.read) else {
      return connection.dialect.turnAwayUnentitled(connection, ref: messageID)
    }
    var entries = entries
    if page.after < page.resume.revision {
      // Another change has this revision: the log has lost entries that the reader has seen.
      guard let known = page.resume.change, let entry = entries.popFirst(),
        known == entry.name(withTime: known.time != nil)
      else { return refuse(.historyGone, of: live.id, ref: messageID, to: connection) }
    }
    let fitting = entries.fitting(settings.catchUpBytes, formats: connection.knowsFormats)
    connection.dialect.page(
      fitting, after: page.resume.revision, of: live, ref: messageID, connection)
  }

  /// Ends a request; the caller answers its reader.
  func end(of id: DocumentID, _ connection: Connection) { connection.pageReads[id] = nil }

  /// Ends a request with the reason why there is no page.
  func refuse(_ code: ErrorCode, of id: DocumentID, ref: String, to connection: Connection) {
    end(of: id, connection)
    connection.dialect.turnAway(connection, code, code.wordsForReader, ref: ref)
  }
}

extension HistoryPageRequest {
  /// Whether the page must wait for a read of the shared log: the reader has seen newer entries at
  /// another node.
  func needsNews(of live: LiveDocument) -> Bool {
    live.isShared && !isFresh && Epoch(resume.epoch) == live.epoch
      && resume.revision > live.durableRevision
  }
}
