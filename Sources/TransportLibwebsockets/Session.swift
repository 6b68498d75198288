import GatewayPorts

/// One TCP connection: HTTP at first, WebSocket after an upgrade. Confined to the loop's thread.
final class Session {
  enum Phase {
    /// Requests come one after the other. Next: `open`, `gone`.
    case http
    /// Messages go both ways. Next: `closing`, `gone`.
    case open
    /// What is queued goes out, then a close frame. Next: `gone`.
    case closing
    /// Either side's close frame has been seen or the socket failed: nothing is sent or delivered.
    /// Next: `gone`.
    case broken
    /// Final.
    case gone
  }

  let id: ConnectionID
  let address: String
  let entrance: Entrance
  /// libwebsockets' handle; `nil` once it is gone.
  var wsi: OpaquePointer?
  var phase = Phase.http

  // Sending.
  var queue: [Frame] = []
  var queueHead = 0
  /// Bytes in `queue`.
  var queuedBytes = 0
  /// Bytes libwebsockets holds because the socket was full; at most those of one write.
  var heldBytes = 0
  var isDirty = false
  var owesPing = false
  /// Whether the next write waits for the library's callback. A ping between the fragments of a
  /// message is answered by the library in its own time; what the message brings about must not
  /// overtake that pong.
  var letsPongGoFirst = false

  // Receiving.
  var isDiscarding = false
  var isAssembling = false
  var assembledKind = Frame.Kind.text
  var assembled: [UInt8] = []
  /// The loop's second in which the client was last heard.
  var heard: Int32 = 0

  /// The loop's second by which the request that is arriving, or the next one, must be whole; `nil`
  /// while one is in hand.
  var requestBy: Int32?
  /// The request in hand, or the handshake before it is done.
  var exchange: Exchange?
  /// Waits for room in the socket, for the response in hand.
  var roomWatch: OpaquePointer?
  /// The socket under another number, by which the lobby sees the client off after the library has
  /// closed it; -1 if it need not.
  var lingering: Int32 = -1
  /// How to close, once asked to.
  var farewell: Farewell?

  init(id: ConnectionID, address: String, entrance: Entrance) {
    self.id = id
    self.address = address
    self.entrance = entrance
  }

  /// Whether libwebsockets holds bytes of an earlier write.
  var isBlocked: Bool { heldBytes > 0 }
}

/// How a connection is to be closed.
final class Farewell {
  let code: CloseCode
  let reason: String
  /// The loop's second after which the socket is cut.
  var deadline: Int32

  init(code: CloseCode, reason: String, deadline: Int32) {
    self.code = code
    self.reason = reason
    self.deadline = deadline
  }
}

/// One request and its response.
final class Exchange {
  let request: RequestID
  let head: RequestHead
  /// Bytes of body still to come.
  var bodyBytesLeft = 0
  var body: [UInt8] = []
  /// Whether the owner has been told, and whether it has answered.
  var isDelivered = false
  var isAnswered = false
  /// Whether the connection ends with this response.
  var closesAfter = false
  /// Whether the rest of the request's body is thrown away.
  var isDiscarding = false
  /// Whether more bytes came behind the request: they are never looked at.
  var isFollowed = false

  /// The response, until its head is written.
  var response: Response?
  /// Its head, its body, and how much of both has gone.
  var outputHead: [UInt8] = []
  var outputBody: [UInt8] = []
  /// Counts the body among those that wait.
  var bodyTicket: WaitingBodies.Ticket?
  var outputSent = 0

  var outputBytesLeft: Int { outputHead.count + outputBody.count - outputSent }

  init(request: RequestID, head: RequestHead) {
    self.request = request
    self.head = head
  }
}
