import ParleyGatewayPorts
import ParleySocketIO
import ParleyWebSocketFrames

/// A session of Socket.IO, and what carries it.
///
/// A reference, owned by the gateway and confined to its loop.
final class SocketIOLink {
  /// The data by which a client recovers its session (connection state recovery).
  struct Recovery {
    /// The secret id by which the client is recognised.
    let id: String
    /// The place in the log up to which the client is known to have received all.
    var arrived: UInt64
    /// The place up to which all was sent before the ping that is unanswered.
    var pinged: UInt64
    /// The places in the log from which on the client receives its rooms' events.
    var joined: ExactDictionary<UInt64> = [:]
    /// Until when it may resume, in milliseconds of uptime; `nil` while it is connected.
    var awayUntil: Int64?
    /// The stranger towards whose share of such sessions it counts meanwhile.
    var holder: Stranger?
  }

  var session: SocketSession
  /// The session's place among connections, under an id that no transport knows.
  let connection: Connection
  /// The client's address at the start; the session is bound to it.
  var address: String
  /// The WebSocket that carries the session.
  var carrier: ConnectionID?
  /// The WebSocket that may carry it later.
  var probe: ConnectionID?
  /// The poll that waits.
  var poll: (request: RequestID, head: RequestHead)?
  /// In milliseconds of uptime; `nil` once the client has authenticated.
  var authenticateBy: Int64?
  /// The rooms whose publications the client wants numbered, to continue from one later.
  var numberedRooms: ExactSet = []
  /// The rooms in which others see whether the user is online.
  var presenceRooms: ExactSet = []

  /// The rooms that a room's own token has opened, whatever the user's rights are.
  var roomsByToken: ExactSet = []
  /// `nil` for a client that has not asked for it.
  var recovery: Recovery?
  /// The session that the client wants to resume, until it has authenticated.
  var claim: (recoveryID: String, offset: String?)?
  /// The link that has taken this one's place, for the client has resumed it.
  var successor: SocketIOLink?

  init(session: SocketSession, connection: Connection, address: String) {
    self.session = session
    self.connection = connection
    self.address = address
  }

  /// Whether the client is away, and may resume.
  var isAway: Bool { recovery?.awayUntil != nil }

  /// Whether nothing can reach the client any longer.
  var isGone: Bool { session.hasEnded && !isAway }

  /// This, or what has taken its place.
  var current: SocketIOLink { successor?.current ?? self }

  /// Whether an entry of the log is for this client.
  func isMeant(by entry: RecoveryLog.Entry) -> Bool {
    switch entry.audience {
    case .client(let id): recovery?.id.utf8.elementsEqual(id.utf8) ?? false
    case .room(let room):
      connection.rooms.contains(room) && entry.place > recovery?.joined[room] ?? .max
    }
  }
}

/// The forms of one event that readers in a room need, each encoded once, and only if needed.
struct PacketForms {
  private let content: SocketContent
  private let room: RoomName
  /// Plain, with the place in the room, with the place in the log, with both.
  private var forms: [SharedMessage?] = [nil, nil, nil, nil]

  init(_ content: SocketContent, in room: RoomName) {
    self.content = content
    self.room = room
  }

  /// - Parameters:
  ///   - hasPlace: whether the reader wants a publication's place in the room.
  ///   - offset: the place in the log, for a reader who may resume.
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
