import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// A dialect whose protocol has no errors in reply to messages, no pages of changes, no warnings and
/// no exact changes.
class TerseDialect: ConnectionDialect {
  final func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection
  ) {}
  final func warn(_ connection: Connection, ofEnd end: Timestamp) {}
  final func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {}
  final func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection
  ) {}
  final func made(
    _ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection
  ) {}
  final func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection
  ) {}
  final func refuseOutdated(
    _ sequence: Int, _ message: String, head: Int, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
}

/// A dialect whose clients have notes and join no rooms.
class NoteDialect: TerseDialect, RoomMessaging {
  /// Returns no frames: the text of a frame depends on its receiver.
  final func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }

  final func oversized(_ connection: Connection, bytesMax: Int) {
    board.close(connection, .messageTooLarge, "message too large")
  }
  final func droppedForMemory(_ connection: Connection) { closeCrowded(connection) }

  final func frame(of news: RoomEvent) -> Frame? { nil }
  final func sender(of news: RoomEvent) -> ConnectionID? { nil }
  final func frames(of change: PresenceChange) -> [Frame] { [] }
  final func lostReading(ofRoom room: RoomName, _ connection: Connection) {}
}
