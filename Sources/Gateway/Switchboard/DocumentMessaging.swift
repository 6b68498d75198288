import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// A dialect's messages about documents, and about the connection itself.
///
/// If a dialect has no message for a method, it implements the method as an empty one.
protocol DocumentMessaging: AnyObject {
  // MARK: Messages

  /// Handles a complete message.
  ///
  /// - Parameter excess: The exceeded rate limit, which refuses the message; `nil` within limits.
  func received(
    _ message: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection)

  /// Handles a message that exceeded the size limit and was not read.
  func oversized(_ connection: Connection, bytesMax: Int)

  /// Handles a message dropped in part, because its sender has used up its share of memory.
  func droppedForMemory(_ connection: Connection)

  /// Answers a refused message.
  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection)

  /// Warns that a connection's token expires.
  func warn(_ connection: Connection, ofEnd end: Timestamp)

  /// Asks a client to reconnect, before its connection is closed.
  ///
  /// - Parameter reconnectAfter: Milliseconds from which the client draws its delay.
  func sendGoodbye(reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection)

  // MARK: Joining

  /// Sends a follower the document that it has joined.
  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String)

  /// Notifies a client that reads pages that it has missed too much for one message.
  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection)

  /// Answers that a note was created, by this request or by an earlier one.
  func made(_ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection)

  /// Answers with a page of a document's changes.
  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection)

  /// Refuses a client that wants to join or to read a document, temporarily or for good.
  func turnAway(_ connection: Connection, _ code: ErrorCode, _ message: String, ref: String)

  /// Notifies a client that waits for a deleted document, before ``turnAway(_:_:_:ref:)``.
  func turnAwayFromDeleted(_ connection: Connection)

  // MARK: Changes

  /// Returns one frame for each entry, if the dialect wants separate frames.
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame]

  /// Sends newly durable entries to a follower that has all earlier entries.
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

  /// Answers an exact change that was refused because its base is not the newest revision.
  func refuseOutdated(
    _ sequence: Int, _ message: String, head: Int, of id: DocumentID, ref: String,
    to connection: Connection)

  /// Refuses a change for now, because the backlog is full.
  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection)

  /// Acknowledges a change.
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection)

  /// Notifies a follower that it may write, may only read, or may no longer read.
  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection)
}

extension DocumentMessaging {
  /// Refuses a client that may not read the document.
  func turnAwayUnentitled(_ connection: Connection, ref: String) {
    turnAway(
      connection, .notAllowed, "the token no longer grants reading this document", ref: ref)
  }
}
