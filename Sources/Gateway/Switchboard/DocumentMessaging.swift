import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Messages between a dialect's clients and the gateway about documents, and about the connection itself.
///
/// A method without a message in the dialect is empty there, which its code says.
protocol DocumentMessaging: AnyObject {
  // MARK: Messages

  /// A whole message has arrived.
  ///
  /// - Parameter excess: the limit that refuses it, if a rate was exceeded.
  func received(
    _ message: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection)

  /// A message was longer than the limit, and was not read.
  func oversized(_ connection: Connection, bytesMax: Int)

  /// A message was dropped in part, since its sender holds its share of memory.
  func crowded(_ connection: Connection)

  /// Answers a message that was refused.
  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection)

  /// Warns of the end of a connection's token.
  func warn(_ connection: Connection, ofEnd end: Timestamp)

  /// Asks a client to reconnect, before its connection is closed.
  ///
  /// - Parameter reconnectAfter: milliseconds, from which the client draws its own delay.
  func sendGoodbye(reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection)

  // MARK: Joining

  /// Gives a follower the document that it has joined.
  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String)

  /// Notifies a client that reads pages that it has missed too much for one message.
  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection)

  /// Answers that a note was made, now or before.
  func made(_ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection)

  /// Answers with a page of a document's changes.
  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection)

  /// Refuses to let a client join a document, now or at all.
  func turnAway(_ connection: Connection, _ code: ErrorCode, _ message: String, ref: String)

  /// Turns a client away that waits for a document that is deleted, before ``turnAway(_:_:_:ref:)``.
  func turnAwayFromDeleted(_ connection: Connection)

  // MARK: Changes

  /// The frames of entries, one for each, where a dialect wants that.
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame]

  /// Sends newly durable entries to a follower that has everything before them.
  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection)

  /// Sends entries to a follower that catches up.
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription)

  /// Sends a follower the whole text.
  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String)

  /// Answers a change that was refused.
  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int?, to connection: Connection)

  /// Answers a change that is refused for now, for too much waits for the disk.
  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection)

  /// Acknowledges a change.
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection)

  /// Tells a follower whether it may write, or that it may no longer even read.
  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection)
}

extension DocumentMessaging {
  /// Refuses to let a client join a document that it may no longer read.
  func turnAwayUnentitled(_ connection: Connection, ref: String) {
    turnAway(
      connection, .notAllowed, "the token no longer grants reading this document", ref: ref)
  }
}
