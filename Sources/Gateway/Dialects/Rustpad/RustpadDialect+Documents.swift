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

  /// Does nothing: an author receives its own edit in the history.
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
}
