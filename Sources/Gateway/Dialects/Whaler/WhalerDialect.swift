import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The server side of the Whaler protocol.
///
/// Clients do not number changes; they count frames. So each client receives every operation once
/// and in order, in a separate frame, and its own changes under its own message ids. The protocol
/// has no errors: the server instead resets a client with an unsolicited `resourceConnectionConf`.
final class WhalerDialect: TerseDialect, DocumentMessaging, RoomMessaging {
  let documents: Documents
  let rooms: Rooms
  /// The sender id of this process in pushes and replies.
  private let processName: String
  /// The connections whose changes exceeded the rate and are not yet answered.
  private var owed: Set<ConnectionID> = []

  init(_ board: Switchboard, _ documents: Documents, _ rooms: Rooms) {
    self.documents = documents
    self.rooms = rooms
    processName = board.dependencies.names.next()
    super.init(
      board, Traits(listing: .whaler, createsDocuments: true, wantsFramePerEntry: true))
  }

  private func frame(_ message: WhalerServerMessage, messageID: String) -> Frame {
    Frame { message.encode(senderID: processName, messageID: messageID, into: &$0) }
  }

  private func frame(_ entry: LogEntry, of id: DocumentID, messageID: String) -> Frame {
    frame(
      .docChangeReturnOps(.init(resourceID: id.text, operation: entry.operation)),
      messageID: messageID)
  }

  // MARK: Messages

  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    let message: WhalerClientMessage
    let messageID: String
    do {
      (messageID, message) = try WhalerClientMessage.decode(
        bytes, operationComponentsMax: settings.limits.operationComponentsMax)
    } catch {
      metrics.received["malformed", default: 0] += 1
      dependencies.log.write(
        .debug, "message not understood", [("code", error.code.rawValue)])
      if excess != nil {
        owe(connection)
        return
      }
      // The message may have been a change: the client then waits until it gets a new state.
      resync(connection)
      return
    }
    metrics.received[message.metricName, default: 0] += 1
    guard excess == nil else {
      putOff(message, connection)
      return
    }
    switch message {
    case .resourceConnection(let resource):
      join(DocumentID(resource.resourceID), messageID: messageID, connection)
    case .docChange(let change): handle(change, messageID: messageID, connection)
    case .unknown: break
    }
  }

  func oversized(_ connection: Connection, bytesMax: Int) { resync(connection) }

  func droppedForMemory(_ connection: Connection) { closeCrowded(connection) }

  /// Does nothing: the change itself, sent to its author like to all others, acknowledges it.
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}

  // MARK: States

  /// Resets all documents of a client, which may wait for the reply to an unreadable message.
  func resync(_ connection: Connection) {
    for subscription in connection.subscriptions.values.map(\.self) { resync(subscription) }
  }

  /// Resets a client to a document's state, through a join: joins with long texts take turns, so a
  /// client's short messages cannot cause many at once. The client discards unacknowledged changes.
  private func resync(_ subscription: Subscription) {
    metrics.resyncs["whaler", default: 0] += 1
    documents.join(
      subscription.room.id, DocumentJoining(), messageID: pushID(), subscription.connection)
  }

  private func sendState(
    _ subscription: Subscription, _ live: LiveDocument, messageID: String
  ) {
    board.send(
      frame(
        .resourceConnectionConf(
          .init(
            resourceID: live.id.text, initialState: live.durableDocument.text,
            revision: live.durableRevision)),
        messageID: messageID), to: subscription.connection)
  }

  /// Records that a client needs a new state when it may send again. One state answers all changes
  /// over the rate, so that a client's short messages do not cause many long texts.
  func owe(_ connection: Connection) { owed.insert(connection.id) }

  /// Handles the end of a connection.
  func closed(_ id: ConnectionID) { owed.remove(id) }

  /// Sends the deferred states to clients that may send again.
  func settleOwed() {
    guard !owed.isEmpty else { return }
    let now = dependencies.clock.uptime
    for id in owed.sorted() {
      guard let connection = connections[id], connection.isOpen else {
        owed.remove(id)
        continue
      }
      guard connection.meter.draw(messages: 1, bytes: 0, allowances, now: now) == nil else {
        continue
      }
      owed.remove(id)
      resync(connection)
    }
  }

  // MARK: Documents

  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {
    subscription.revision = join.live.durableRevision
    sendState(subscription, join.live, messageID: messageID)
  }

  func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {
    // The client would wait for its state forever; it retries after its connection is closed.
    if code.isRetryable { board.close(connection, .rejoin, "reconnect and join again") }
    if code == .tooMany { board.close(connection, .tooMany, "too many documents") }
    if code == .notAllowed { board.close(connection, .unauthorised, message) }
  }

  func turnAwayFromDeleted(_ connection: Connection) {
    // The protocol lacks a message for this. The client creates the note again on reconnecting.
    board.close(connection, .rejoin, "reconnect and join again")
  }

  /// Returns a frame for each entry, with the message id under which the author sent the change.
  /// The author recognizes its change by this id, which no other client has used.
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] {
    let authors = room.subscriptions.filter { self === $0.connection.dialect }
    return entries.map { entry in
      let messageID = authors.lazy.compactMap { $0.messageIDs[entry.revision] }.first
      return frame(entry, of: room.id, messageID: messageID ?? pushID())
    }
  }

  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {
    for frame in delivery.sharedByEntry { board.push(frame, to: connection) }
    subscription.forgetMessageIDs(through: delivery.revisions.upperBound)
  }

  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    for entry in entries {
      let own = subscription.messageIDs.removeValue(forKey: entry.revision)
      board.push(
        frame(entry, of: subscription.room.id, messageID: own ?? pushID()),
        to: subscription.connection)
    }
  }

  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {
    metrics.resyncs["whaler", default: 0] += 1
    subscription.revision = live.durableRevision
    subscription.isLagging = false
    subscription.messageIDs.removeAll()
    sendState(subscription, live, messageID: messageID)
  }

  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int? = nil, to connection: Connection
  ) {
    // The only response that the client understands is a state to restart from.
    if let subscription = connection.subscriptions[id] { resync(subscription) }
  }

  func putOff(
    _ sequence: Int, of id: DocumentID, ref: String, to connection: Connection
  ) {
    // The state follows when the backlog has room.
    owe(connection)
  }

  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {
    guard access == .none else { return }
    board.close(
      connection, .unauthorised, "the token no longer grants reading this document")
  }

  // MARK: Rooms

  func frame(of news: RoomEvent) -> Frame? {
    let update: ResourceUpdate
    switch news.content {
    // A Whaler client fetches the resource after which its pool is named.
    case .publication(let publication, _):
      update = ResourceUpdate(resourceID: news.room.text, senderID: publication.senderID)
    case .update(let change): update = change
    case .event, .signal: return nil
    }
    return frame(.resourceUpdate(update), messageID: pushID())
  }

  func sender(of news: RoomEvent) -> ConnectionID? { nil }

  /// Returns no frames: the protocol has no message for presence.
  func frames(of change: PresenceChange) -> [Frame] { [] }

  func lostReading(
    ofRoom room: RoomName, _ connection: Connection
  ) {
    // The protocol has no message for a lost pool: the client is rejected when it reconnects.
    board.close(connection, .unauthorised, "the token no longer grants this pool")
  }
}
