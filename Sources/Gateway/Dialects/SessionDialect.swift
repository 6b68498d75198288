import GatewayPorts
import JSON
import SocketMessages
import WebSocketFrames

/// A dialect whose clients have sessions, carried by connections or requests that come and go.
///
/// A session that polls has no connection. So each session has a place among the connections under
/// an id that no transport gives out, and rooms know it by that.
class SessionDialect: Dialect {
  final let access: Access
  final let rooms: Rooms
  /// The sessions of all such dialects.
  final let table: SessionTable
  /// Receives what concerns other dialects.
  final unowned var owner: (any SessionDialectOwner)?

  init(
    _ board: Switchboard, _ traits: Traits, _ access: Access, _ rooms: Rooms, _ table: SessionTable
  ) {
    self.access = access
    self.rooms = rooms
    self.table = table
    super.init(board, traits)
  }

  /// Adds a session to the connections; `nil` if it is refused, see ``SessionTable/refusal(for:)``.
  ///
  /// - Parameters:
  ///   - address: The client's address.
  ///   - limited: The same, if it has limits.
  final func makePlace(at address: String, from limited: IPAddress?) -> Connection? {
    let place = Connection(
      id: board.placeID(), dialect: self, address: address, openedAt: surroundings.clock.now,
      phase: .ready)
    guard table.enter(place, from: limited) else { return nil }
    metrics.connectionsOpened += 1
    place.client = surroundings.names.next()
    board.enter(place)
    return place
  }

  /// Ends a session that has not shown a token, without waiting for its client.
  func endAtOnce(_ connection: Connection) {}

  /// Removes a session's place.
  final func forget(_ place: Connection) {
    guard board.leave(place.id) != nil else { return }
    place.phase = .closing
    table.leave(place)
    rooms.leaveAll(place, mayComeBack: true)
    place.meter.count(towards: nil)
  }
}

/// A message encoded once for all sessions that get it: a frame for WebSockets, bytes for requests.
struct SharedMessage {
  let bytes: [UInt8]
  let frame: Frame
}

/// The gateway, as the sessions' dialects see it.
protocol SessionDialectOwner: AnyObject {
  /// Shows the sessions of Bayeux that a user of Socket.IO is typing.
  func showTyping(_ typing: JSONValue, of author: PersonID, in room: RoomName)
}
