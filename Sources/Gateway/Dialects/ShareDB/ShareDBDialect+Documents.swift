import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyShareDB
import SocketMessages
import ParleyWebSocketFrames

/// The messages about documents. The protocol has none for rooms and tokens.
///
/// Any error in answer to a change makes the client discard its changes. So a change that can be
/// sent again closes the connection: the client sends it on its next one.
extension ShareDBDialect: DocumentMessaging {
  // MARK: Joining

  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {
    subscription.revision = join.live.durableRevision
    guard let link = link(subscription.connection), let waiting = link.take(messageID) else {
      return
    }
    answer(waiting, subscription, join.live, link)
  }

  func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {
    guard let link = link(connection), let waiting = link.take(ref) else { return }
    if code == .unknownDocument { return answerMissing(waiting, link) }
    guard !code.isRetryable else {
      return board.close(connection, .rejoin, "reconnect and subscribe again")
    }
    refuse(waiting, ShareDBError(.readRejected, message), link)
  }

  func turnAwayFromDeleted(_ connection: Connection) {}

  // MARK: Changes

  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {
    guard let link = link(connection) else { return }
    let document = Self.document(subscription)
    let frames =
      delivery.byDialect[.shareDB]
      ?? delivery.entries.map { entry in
        Self.frame(Self.content(of: entry), of: document, entry, source: entry.client)
      }
    delivery.byDialect[.shareDB] = frames
    for (entry, frame) in zip(delivery.entries, frames) {
      let isOwn = entry.client.isExactly(connection.client) && entry.sequence > 0
      board.push(
        isOwn ? Self.frame(.acknowledgement, of: document, entry, source: link.source) : frame,
        to: connection)
    }
    subscription.forgetMessageIDs(through: delivery.revisions.upperBound)
  }

  /// Sends entries to a client that lacks them. They include the content of its own ones: it may
  /// have discarded a change that was committed.
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    let connection = subscription.connection
    guard let link = link(connection) else { return }
    let document = Self.document(subscription)
    for entry in entries {
      let isOwn = entry.client.isExactly(connection.client)
      board.push(
        Self.frame(
          Self.content(of: entry), of: document, entry,
          source: isOwn ? link.source : entry.client),
        to: connection)
    }
    if let last = entries.last { subscription.forgetMessageIDs(through: last.revision) }
  }

  private static func document(_ subscription: Subscription) -> ShareDBDocument {
    ShareDBDocument(collection: collection, id: subscription.room.id.text)
  }

  private static func frame(
    _ content: ShareDBFrame.Content, of document: ShareDBDocument, _ entry: LogEntry,
    source: String
  ) -> Frame {
    Frame {
      $0 += ShareDBFrame.change(
        content, of: document, version: entry.revision - 1,
        source: source.isEmpty ? "server" : source, sequence: entry.sequence)
    }
  }

  /// Returns the content of an entry. The first one creates the text, for ShareDB.
  private static func content(of entry: LogEntry) -> ShareDBFrame.Content {
    guard entry.revision == 1 else { return .operation(entry.operation) }
    var text = ""
    for case .insert(let inserted) in entry.operation.components { text += inserted }
    return .creation(text: text)
  }

  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {
    guard let link = link(connection) else { return }
    send(
      ShareDBFrame.change(
        .acknowledgement, of: ShareDBDocument(collection: Self.collection, id: id.text),
        version: revision - 1, source: link.source, sequence: sequence),
      to: connection)
  }

  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int?, to connection: Connection
  ) {
    guard !code.isRetryable else { return sendAgainLater(connection) }
    send(
      ShareDBFrame.error(
        ShareDBError(.rejected, message), .operation,
        of: ShareDBDocument(collection: Self.collection, id: id.text), change: sequence),
      to: connection)
  }

  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection) {
    sendAgainLater(connection)
  }

  private func sendAgainLater(_ connection: Connection) {
    board.close(connection, .rejoin, "the change could not be stored now; reconnect")
  }

  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {
    // The protocol has no text without a request. The client requests it on its next connection.
    metrics.resyncs["sharedb", default: 0] += 1
    board.close(subscription.connection, .rejoin, "too far behind; reconnect")
  }

  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {
    guard access == .none else { return }
    board.close(connection, .rejoin, "the token no longer grants reading this document")
  }
}
