import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// A dialect whose clients have sessions, carried by changing connections or requests.
///
/// A session that polls has no connection. So each session has its own `Connection` object, under
/// an id that no transport uses. Rooms refer to the session by this id.
///
/// This object receives no messages and follows no documents, so all of ``DocumentMessaging`` is
/// empty.
class SessionDialect: DialectBase, DocumentMessaging, RoomMessaging {
  final let access: Access
  final let rooms: Rooms
  /// The sessions of all session dialects.
  final let table: SessionTable
  /// The receiver of calls that concern other dialects.
  final unowned var owner: (any SessionDialectOwner)?

  init(
    _ board: Switchboard, _ traits: Traits, _ access: Access, _ rooms: Rooms, _ table: SessionTable
  ) {
    self.access = access
    self.rooms = rooms
    self.table = table
    super.init(board, traits)
  }

  /// Removes a session's connection object.
  final func forget(_ place: Connection) {
    guard board.leave(place.id) != nil else { return }
    place.phase = .closing
    table.leave(place)
    rooms.leaveAll(place, mayReturn: true)
    place.meter.count(towards: nil)
  }

  // MARK: Messages that sessions' connection objects do not receive

  final func received(
    _ message: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {}
  final func oversized(_ connection: Connection, bytesMax: Int) {}
  final func droppedForMemory(_ connection: Connection) {}
  final func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int?,
    to connection: Connection
  ) {}
  final func warn(_ connection: Connection, ofEnd end: Timestamp) {}
  final func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {}
  final func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {}
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
  final func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {}
  final func turnAwayFromDeleted(_ connection: Connection) {}
  final func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }
  final func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {}
  final func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {}
  final func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {}
  final func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int?, to connection: Connection
  ) {}
  final func refuseOutdated(
    _ sequence: Int, _ message: String, head: Int, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
  final func putOff(_ sequence: Int, of id: DocumentID, ref: String, to connection: Connection) {}
  final func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {}
  final func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {}

  // MARK: Rooms

  /// Returns no frame: ``Gateway`` sends room events to sessions in the dialect's own form.
  final func frame(of news: RoomEvent) -> Frame? { nil }
  final func sender(of news: RoomEvent) -> ConnectionID? { nil }
  final func frames(of change: PresenceChange) -> [Frame] { [] }

  /// Does nothing: ``SessionMessaging/applyRights(to:)`` ends the subscription.
  final func lostReading(ofRoom room: RoomName, _ connection: Connection) {}
}

extension SessionMessaging where Self: SessionDialect {
  /// Creates a session's connection object; `nil` if rejected, see ``SessionTable/refusal(for:)``.
  ///
  /// - Parameters:
  ///   - address: The client's address.
  ///   - limited: The same address if limits apply to it, otherwise `nil`.
  func makeConnection(at address: String, from limited: IPAddress?) -> Connection? {
    let place = Connection(
      id: board.placeID(), dialect: self, address: address, openedAt: dependencies.clock.now,
      phase: .ready)
    guard table.enter(place, from: limited) else { return nil }
    metrics.connectionsOpened += 1
    place.client = dependencies.names.next()
    board.enter(place)
    return place
  }
}

/// A message encoded once for all its receivers: a frame for WebSockets, bytes for requests.
struct SharedMessage {
  let bytes: [UInt8]
  let frame: Frame
}

/// The gateway's interface for session dialects.
protocol SessionDialectOwner: AnyObject {
  /// Notifies Bayeux sessions that a Socket.IO user is typing.
  func showTyping(_ typing: JSONValue, of author: PersonID, in room: RoomName)
}
