import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Rooms with their subscribers, publications and people.
///
/// Only files in this folder change its state. Subscribers that speak `parley.v1` or Whaler are
/// notified by their dialects; sessions and other callers through ``RoomsOwner``.
final class Rooms: Part, RoomPresenceOwner {
  let board: Switchboard
  /// The handlers of the features for people in rooms.
  let people: PeopleHandlers
  /// Receives replies for other parts of the gateway.
  unowned var owner: (any RoomsOwner)?

  /// The occupied rooms.
  let rooms = RoomTable()
  let checks: RoomChecks
  /// The store for handlers.
  let storage: PeopleStorage
  /// Connected people, and people in rooms.
  let presence: RoomPresence
  /// Publications that wait for the store.
  var publishing: Int = 0
  /// The rotation in which rooms' heads are read.
  var lookedAt = NameRotation<RoomName>()
  /// The subscriptions that receive the newest values while they are slow.
  var latest: [ConnectionID: [RoomName: LatestValues]] = [:]
  /// The newest first pages of values.
  var snapshots = ValueSnapshots()
  /// The values that end.
  var ending = EndingState()
  /// The signals of this turn.
  var waitingSignals = WaitingSignals()
  /// The number of the next attempt to subscribe, and of the next read.
  var nextAttempt: UInt64 = 1

  init(_ board: Switchboard, people: PeopleHandlers) {
    self.board = board
    self.people = people
    checks = RoomChecks(board)
    storage = PeopleStorage(board)
    presence = RoomPresence(board, people, rooms, checks, storage)
    presence.owner = self
  }

  /// Lets handlers read their data from the store, and follows the nodes' topic.
  func start() {
    people.blocking?.start(store: storage)
    presence.followNodes()
  }

  /// The number of occupied rooms.
  var count: Int { rooms.count }

  /// The names of the occupied rooms, unordered.
  var names: [RoomName] { rooms.names }

  /// Whether a room has a member that receives publications.
  func isOccupied(_ room: RoomName) -> Bool { rooms[room]?.hasMembers ?? false }

  /// The members that receive a room's publications, in the order in which they joined.
  func members(of room: RoomName) -> [ConnectionID] { rooms[room]?.members ?? [] }

  /// Whether every accepted publication has been stored and answered.
  var isSettled: Bool { publishing == 0 }

  /// Removes a connection from all rooms when it ends.
  ///
  /// - Parameter mayReturn: Whether the person stays present in rooms for a grace period.
  func leaveAll(_ connection: Connection, mayReturn: Bool) {
    for room in connection.rooms { leave(room: room, connection, isBroken: mayReturn) }
    latest[connection.id] = nil
    for change in people.typing?.disconnected(connection.id) ?? [] { presence.tell(change) }
    presence.goOffline(connection)
  }
}

/// The gateway, as the owner of its rooms.
protocol RoomsOwner: AnyObject {
  /// Notifies a publisher of another part of the outcome.
  func answer(_ publisher: Publisher, _ result: PublishResult, in room: RoomName)
  /// Sends a subscriber of another part the missed publications.
  func answer(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>)
  /// Sends a reader of another part the requested page.
  func answer(_ reader: RoomReader, _ outcome: StoreOutcome<RoomPage>, of room: RoomName)
  /// Sends a reader of another part the requested values.
  func answer(_ work: ValueReading, _ outcome: StoreOutcome<RoomValuesPage>)
  /// Returns a publication that also stores the response to its request, if that has a key.
  func keepingAnswer(
    of publication: StoreRequest, in room: RoomName, to request: RequestID
  ) -> StoreRequest
  /// Sends a publication to the room's members that are sessions.
  func deliverToSessions(_ publication: Publication, epoch: Epoch, in room: RoomName)
  /// Notifies the room's members that are sessions that a resource has changed.
  func deliverToSessions(_ update: ResourceUpdate, in room: RoomName)
}
