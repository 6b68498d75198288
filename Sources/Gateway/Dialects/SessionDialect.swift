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
  /// Told of what concerns other dialects.
  final unowned var owner: (any SessionDialectOwner)?

  init(_ board: Switchboard, _ traits: Traits, _ access: Access, _ rooms: Rooms) {
    self.access = access
    self.rooms = rooms
    super.init(board, traits)
  }

  /// Whether there are as many sessions as there may be.
  final var hasTooManySessions: Bool { owner?.hasTooManySessions ?? true }

  /// Makes a session's place among the connections.
  final func makePlace(at address: String) -> Connection {
    let place = Connection(
      id: board.placeID(), dialect: self, address: address, openedAt: surroundings.clock.now,
      phase: .ready)
    metrics.connectionsOpened += 1
    place.client = surroundings.names.next()
    connections[place.id] = place
    return place
  }

  /// Removes a session's place.
  final func forget(_ place: Connection) {
    guard connections.removeValue(forKey: place.id) != nil else { return }
    place.phase = .closing
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
  /// Whether there are as many sessions as there may be, of all such dialects.
  var hasTooManySessions: Bool { get }
  /// Shows the sessions of Bayeux that somebody is typing who speaks Socket.IO.
  func showTyping(_ typing: JSONValue, of author: PersonID, in room: RoomName)
}
