import ParleyGatewayPorts
import ParleyJSON
import ParleySocketIO
import ParleyWebSocketFrames

/// A Socket.IO session and its transport.
///
/// A reference, owned by the gateway and confined to its loop.
final class SocketIOLink {
  /// The state by which a client can resume its session (connection state recovery).
  struct Recovery {
    /// The secret recovery id of the client.
    let id: String
    /// The position in the log through which the client has certainly received all events.
    var arrived: UInt64
    /// The newest position in the log when the latest ping was sent.
    var pinged: UInt64
    /// The log position, per room, after which the client receives the room's events.
    var joined: [RoomName: UInt64] = [:]
    /// The uptime in milliseconds until which the client may resume; `nil` while it is connected.
    var awayUntil: Int64?
    /// The party whose share of away sessions it counts against.
    var holder: LimitedClient?
  }

  var session: SocketSession
  /// The session's connection object, under an id that no transport uses.
  let connection: Connection
  /// The client's address at the session's start; requests from other addresses are rejected.
  var address: String
  /// The WebSocket that carries the session.
  var carrier: ConnectionID?
  /// The WebSocket that probes, and may carry the session later.
  var probe: ConnectionID?
  /// The waiting poll.
  var poll: (request: RequestID, head: RequestHead)?
  /// The deadline for authentication, in milliseconds of uptime; `nil` after authentication.
  var authenticateBy: Int64?
  /// The rooms whose publications contain their position, from which the client can resume.
  var numberedRooms: Set<RoomName> = []
  /// The rooms in which others see whether the user is online.
  var presenceRooms: Set<RoomName> = []

  /// The rooms joined by a room token instead of the user's rights.
  var roomsByToken: Set<RoomName> = []
  /// The recovery state; `nil` if the client cannot resume.
  var recovery: Recovery?
  /// The session that the client asks to resume, until it has authenticated.
  var claim: (recoveryID: String, offset: String?)?
  /// The link that continues for the client after it has resumed an earlier session.
  var successor: SocketIOLink?

  init(session: SocketSession, connection: Connection, address: String) {
    self.session = session
    self.connection = connection
    self.address = address
  }

  /// Whether the client is disconnected and may resume.
  var isAway: Bool { recovery?.awayUntil != nil }

  /// Whether the session has ended and cannot be resumed.
  var isGone: Bool { session.hasEnded && !isAway }

  /// This link, or the link that continues for its client.
  var current: SocketIOLink { successor?.current ?? self }

  /// Whether an entry of the log is for this client.
  func isMeant(by entry: RecoveryLog.Entry) -> Bool {
    switch entry.audience {
    case .client(let id): recovery?.id.isExactly(id) ?? false
    case .room(let room):
      connection.rooms.contains(room) && entry.place > recovery?.joined[room] ?? .max
    }
  }
}

/// The forms of one event for a room's subscribers, each encoded on first use.
struct PacketForms {
  private let content: SocketContent
  private let room: RoomName
  /// Without positions, with the room's position, with the log's position, and with both.
  private var forms: [SharedMessage?] = [nil, nil, nil, nil]

  init(_ content: SocketContent, in room: RoomName) {
    self.content = content
    self.room = room
  }

  /// - Parameters:
  ///   - hasPlace: whether the subscriber wants a publication's position in the room.
  ///   - offset: the position in the log, for a subscriber that may resume.
  mutating func packet(hasPlace: Bool, offset: String?) -> SharedMessage {
    let index = (hasPlace ? 1 : 0) + (offset == nil ? 0 : 2)
    if let packet = forms[index] { return packet }
    var packet = content.packet(in: room, hasPlace: hasPlace)
    if let offset { packet = packet.numbered(offset) }
    let bytes = packet.engineText
    let shared = SharedMessage(bytes: bytes, frame: Frame(.text, payload: bytes))
    forms[index] = shared
    return shared
  }
}
