import GatewayPorts
import SocketIO

/// A session of Socket.IO, and what carries it.
///
/// A reference, owned by the gateway and confined to its loop.
final class SocketIOLink {
  var session: SocketSession
  /// The session's place among connections, under an id that no transport knows.
  let connection: Connection
  /// Where the client was when it began; the session is nobody else's.
  let address: String
  /// The WebSocket that carries the session.
  var carrier: ConnectionID?
  /// The WebSocket that may carry it later.
  var probe: ConnectionID?
  /// The poll that waits.
  var poll: (request: RequestID, head: RequestHead)?
  /// In milliseconds of uptime; `nil` once the client has authenticated.
  var authenticateBy: Int64?
  /// The rooms whose publications the client wants numbered, to go on from one later.
  var numberedRooms: ExactSet = []
  /// The rooms in which others see whether the user is online.
  var presenceRooms: ExactSet = []

  init(session: SocketSession, connection: Connection, address: String) {
    self.session = session
    self.connection = connection
    self.address = address
  }
}

/// All sessions of Socket.IO.
struct SocketIOLinks {
  /// By the sessions' secret ids.
  var bySession: ExactDictionary<SocketIOLink> = [:]
  /// By their places among connections.
  var byPlace: [ConnectionID: SocketIOLink] = [:]
  /// By WebSocket, those that probe included.
  var byCarrier: [ConnectionID: SocketIOLink] = [:]
  /// By the poll that waits.
  var byPoll: [RequestID: SocketIOLink] = [:]
  /// The sessions of each user who has any.
  var online: ExactDictionary<Set<ConnectionID>> = [:]
  /// Users whose last session has ended: until when they may come back, and who is told if not.
  var leaving: ExactDictionary<(until: Int64, rooms: ExactSet)> = [:]
}

/// A packet encoded once for all who receive it: a frame for WebSockets, bytes for polls.
struct SharedPacket {
  let bytes: [UInt8]
  let frame: Frame

  init(_ packet: SocketPacket) {
    bytes = packet.engineText
    frame = Frame(.text, payload: bytes)
  }
}
