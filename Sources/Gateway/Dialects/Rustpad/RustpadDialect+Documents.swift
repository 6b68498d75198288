import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyRustpad
import SocketMessages
import ParleyWebSocketFrames

/// The messages about documents. The protocol refuses by closing: the client connects again, and
/// sends its edit again.
extension RustpadDialect: DocumentMessaging {
  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {
    begin(subscription, join.live)
  }

  func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {
    board.close(connection, code.isRetryable ? .rejoin : .unauthorised, message)
  }

  func turnAwayFromDeleted(_ connection: Connection) {
    board.close(connection, .rejoin, "reconnect and join again")
  }

  // MARK: Changes

  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }

  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {
    send(delivery.entries, to: subscription)
  }

  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    guard let link = link(subscription.connection), let first = entries.first,
      let last = entries.last
    else { return }
    let client = subscription.connection.client
    board.push(
      Frame {
        $0 += RustpadFrame.history(
          entries.map { entry in
            let isOwn = entry.client.isExactly(client) || entry.revision == link.repeated
            return RustpadFrame.Entry(
              number: isOwn ? link.number : 0, operation: entry.operation.insertingFirst())
          }, from: first.revision - 1)
      }, to: subscription.connection)
    subscription.forgetMessageIDs(through: last.revision)
  }

  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int?, to connection: Connection
  ) {
    board.close(connection, code.isRetryable ? .rejoin : .badMessage, message)
  }

  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection) {
    board.close(connection, .rejoin, "the edit could not be stored now; reconnect")
  }

  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {
    metrics.resyncs["rustpad", default: 0] += 1
    board.close(subscription.connection, .rejoin, "too far behind; reconnect")
  }

  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {
    guard access == .none else { return }
    board.close(
      connection, .unauthorised, "the token no longer grants reading this document")
  }

  // MARK: Messages that the protocol lacks

  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection
  ) {}
  func made(_ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection) {}
  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection
  ) {}
  func oversized(_ connection: Connection, bytesMax: Int) {
    board.close(connection, .messageTooLarge, "message too large")
  }
  func droppedForMemory(_ connection: Connection) { closeCrowded(connection) }
  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection
  ) {}
  func warn(_ connection: Connection, ofEnd end: Timestamp) {}
  func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {}
}

/// Empty requirements: clients of this protocol join no rooms.
extension RustpadDialect: RoomMessaging {
  func frame(of news: RoomEvent) -> Frame? { nil }
  func sender(of news: RoomEvent) -> ConnectionID? { nil }
  func frames(of change: PresenceChange) -> [Frame] { [] }
  func lostReading(ofRoom room: RoomName, _ connection: Connection) {}
}
