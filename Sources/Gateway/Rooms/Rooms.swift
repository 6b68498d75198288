import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The rooms: their subscribers, their publications, and their people.
///
/// Nothing outside this folder touches its state. Subscribers that speak `parley.v1` or Whaler are notified
/// by their dialects; sessions, and callers that publish or read in other ways, through ``RoomsOwner``.
final class Rooms: Part {
  let board: Switchboard
  /// The handlers of the features for people in rooms.
  let people: PeopleHandlers
  /// Receives what concerns other parts.
  unowned var owner: (any RoomsOwner)?

  /// The rooms that have occupants.
  var rooms: ExactDictionary<Room> = [:]
  /// The handlers that wait for the store.
  var callbacks = Callbacks<PeopleReply>()
  /// Publications that wait for the store.
  var publishing: Int = 0
  /// The connections of each person who is connected.
  var online: ExactDictionary<Set<ConnectionID>> = [:]
  /// The uptime at which connected people were stored last, in milliseconds.
  var stampedOnlineAt: Int64 = 0
  /// Apps' descriptions of people, by room and person, for clients of their protocols.
  var descriptions: ExactDictionary<ExactDictionary<JSONValue>> = [:]
  /// The rooms whose heads are still to be asked for.
  var lookedAt = NameRotation<ExactName>()
  /// Exchanges people with other nodes; `nil` without other nodes.
  var exchange: PeopleExchange?
  /// The places of other nodes among the connections.
  var nodePlaces: ExactDictionary<ConnectionID> = [:]
  /// The places of people who type at other nodes, by room and person.
  var typingElsewhere: ExactDictionary<ExactDictionary<ConnectionID>> = [:]
  /// The uptime at which blocks were read last.
  var blocksReadAt: Int64 = 0
  /// The number of new blocks of each person that the store has not kept yet.
  var blocksUnderWay: ExactDictionary<Int> = [:]
  /// Numbers the attempts to subscribe.
  var nextAttempt: UInt64 = 1

  init(_ board: Switchboard, people: PeopleHandlers) {
    self.board = board
    self.people = people
    if board.settings.sharesStore {
      exchange = PeopleExchange(node: board.dependencies.names.next())
    }
  }

  /// Has handlers read what they need from the store.
  func start() {
    people.blocking?.start(store: self)
    meetNodes()
  }

  /// The number of rooms that have occupants.
  var count: Int { rooms.count }

  /// The rooms that have occupants, in no order.
  var names: [RoomName] { rooms.map(\.0) }

  /// Whether a room has a member that is sent what is published in it.
  func isOccupied(_ room: RoomName) -> Bool { rooms[room]?.hasMembers ?? false }

  /// The members that are sent what is published in a room, in the order in which they came.
  func members(of room: RoomName) -> [ConnectionID] { rooms[room]?.members ?? [] }

  /// Whether every publication that was taken has been written and answered.
  var isSettled: Bool { publishing == 0 }

  /// A connection has ended, or is about to.
  ///
  /// - Parameter mayComeBack: whether the person is shown in rooms for a while yet.
  func leaveAll(_ connection: Connection, mayComeBack: Bool) {
    for room in connection.rooms { leave(room: room, connection, isBroken: mayComeBack) }
    for change in people.typing?.disconnected(connection.id) ?? [] { tell(change) }
    goOffline(connection)
  }
}

/// The gateway, as its rooms see it.
protocol RoomsOwner: AnyObject {
  /// Notifies a publisher of another part of the outcome of its publication.
  func answer(_ publisher: Publisher, _ result: PublishResult, in room: RoomName)
  /// Gives a subscriber of another part what it has missed.
  func answer(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>)
  /// Gives a reader of another part its page.
  func answer(_ reader: RoomReader, _ outcome: StoreOutcome<RoomPage>, of room: RoomName)
  /// A publication, with the answer to the request that it is all of, if that is to be kept.
  func keepingAnswer(
    of publication: StoreRequest, in room: RoomName, to request: RequestID
  ) -> StoreRequest
  /// Sends a publication to those members of its room that are sessions.
  func deliverToSessions(_ publication: Publication, epoch: String, in room: RoomName)
  /// Notifies them that a resource has changed.
  func deliverToSessions(_ update: ResourceUpdate, in room: RoomName)
}
