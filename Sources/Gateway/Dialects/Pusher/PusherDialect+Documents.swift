import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Empty requirements: the protocol has no documents, and its clients send no tokens.
extension PusherDialect: DocumentMessaging {
  func warn(_ connection: Connection, ofEnd end: Timestamp) {}
  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {}
  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection
  ) {}
  func made(_ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection) {}
  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection
  ) {}
  func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {}
  func turnAwayFromDeleted(_ connection: Connection) {}
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }
  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {}
  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {}
  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {}
  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int?, to connection: Connection
  ) {}
  func refuseOutdated(
    _ sequence: Int, _ message: String, head: Int, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
  func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection) {}
  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {}
}
