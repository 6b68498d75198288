import ParleyGatewayPorts
import ParleyHTTP1
import ParleyWebSocketFrames

/// A TCP connection: HTTP at first, a WebSocket after an upgrade. Confined to the loop's thread.
///
/// `@exclusivity(unchecked)`, here and in `Loop`, is for properties that each message uses several
/// times. All accesses are on one thread, and no call during an access accesses the same property,
/// so accesses cannot overlap; the checks took a fifth of the time of an echo.
final class Session {
  let id: ConnectionID
  /// The client's address: the peer's, or the one that its proxy has reported.
  var address: String
  let entrance: Entrance
  /// Whether the connection is counted.
  let isCounted: Bool
  let stream: ByteStream

  /// The HTTP state, until an upgrade.
  @exclusivity(unchecked) var http: HTTPHalf?
  /// The WebSocket state, after an upgrade.
  @exclusivity(unchecked) var webSocket: WebSocketHalf?
  /// Whether the socket is closed and the owner notified. Final.
  @exclusivity(unchecked) var isGone = false

  /// Whether a PROXY protocol header must come first.
  var awaitsProxyHeader = false
  /// Whether the session is marked for reading.
  var isReady = false
  /// Whether the session is queued for writing, in this turn or a later one.
  @exclusivity(unchecked) var isDirty = false
  /// Whether the socket was full, and bytes have waited for it since then. Bytes that only wait for
  /// the loop do not count.
  @exclusivity(unchecked) var isStalled = false
  /// The index among the sessions with a deadline; -1 without a deadline.
  var timedIndex = -1
  /// The loop's second of the last sign of life from the client.
  var heard: Int32 = 0
  /// The held bytes that the reception account counts.
  @exclusivity(unchecked) var countedBytes = 0
  /// The holder of the counted bytes as set by the owner, and the cached one for the address.
  @exclusivity(unchecked) var holder: Holder?
  var addressHolder: Holder?

  init(
    id: ConnectionID, address: String, entrance: Entrance, isCounted: Bool, stream: ByteStream,
    http: HTTPHalf
  ) {
    self.id = id
    self.address = address
    self.entrance = entrance
    self.isCounted = isCounted
    self.stream = stream
    self.http = http
  }

  /// Whether bytes should be read now.
  var wantsInput: Bool { http?.connection.wantsInput ?? true }

  /// Bytes of an incomplete message or request.
  var heldByteCount: Int { webSocket?.reader.heldBytes ?? http?.connection.heldByteCount ?? 0 }

  /// Unsent bytes.
  var unsentByteCount: Int {
    (webSocket?.queue.byteCount ?? http?.connection.unsentByteCount ?? 0) + stream.heldByteCount
  }

  /// The time, in the loop's milliseconds, at which `expire` is due.
  var deadline: Int64? {
    if let http { return http.connection.deadline }
    return webSocket?.closing.deadline
  }
}

/// The HTTP state of a connection.
final class HTTPHalf {
  var connection: HTTPServerConnection
  /// A request that the owner has not answered.
  struct Asked {
    let number: HTTPServerConnection.RequestNumber
    let request: RequestID
    /// The holder of the response; `nil` for the connection's holder.
    var holder: Holder?
  }

  /// The unanswered requests, in the order of their delivery.
  var asked: [Asked] = []
  /// The response bodies to be sent.
  var tickets: [WaitingBodies.Ticket] = []
  /// The reservation for an upload being read.
  var reservation: ByteAccount.Reservation?
  /// Whether the sending side of TCP was shut down.
  var hasEndedSending = false

  init(_ connection: HTTPServerConnection) { self.connection = connection }
}

/// The WebSocket state of a connection.
final class WebSocketHalf {
  @exclusivity(unchecked) var reader: FrameReader
  @exclusivity(unchecked) var closing: ClosingHandshake
  @exclusivity(unchecked) var queue: FrameQueue
  /// Whether the owner has admitted the connection, and set its maximum message size.
  var isAdmitted = false
  /// Whether the owner has to be notified once the queue is empty.
  @exclusivity(unchecked) var owesDrained = false

  init(_ configuration: LibwebsocketsTransport.Configuration) {
    reader = FrameReader(
      side: .server, limits: FrameLimits(messageBytesMax: configuration.messageBytesMax))
    closing = ClosingHandshake(
      side: .server, closeMilliseconds: Int64(configuration.closeSeconds) * 1_000)
    // The owner's limit applies instead; the queue itself accepts everything.
    queue = FrameQueue(bytesMax: .max)
  }
}
