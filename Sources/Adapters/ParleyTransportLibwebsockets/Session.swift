import ParleyGatewayPorts
import ParleyHTTP1
import ParleyWebSocketFrames

/// A TCP connection: HTTP at first, a WebSocket after an upgrade. Confined to the loop's thread.
///
/// `@exclusivity(unchecked)`, here and in `Loop`, is for values that each message touches several
/// times. All of it is on one thread, and nothing that is called during an access returns to the
/// same value, so that two accesses cannot overlap; the checks were a fifth of an echo.
final class Session {
  let id: ConnectionID
  /// The client's address: the peer's, or the one that its proxy has announced.
  var address: String
  let entrance: Entrance
  /// Whether the census knows of it.
  let isCounted: Bool
  let stream: ByteStream

  /// Until an upgrade.
  @exclusivity(unchecked) var http: HTTPHalf?
  /// From an upgrade on.
  @exclusivity(unchecked) var webSocket: WebSocketHalf?
  /// Final: the socket is closed and the owner has been notified.
  @exclusivity(unchecked) var isGone = false

  /// Whether a header of the PROXY protocol is still to come, before all else.
  var awaitsProxy = false
  /// Whether it is among the sessions with bytes to read.
  var isReady = false
  /// Whether it is among those that are to be written to, in this turn or a later one.
  @exclusivity(unchecked) var isDirty = false
  /// Whether its socket was full, and bytes have waited for it since. Bytes that only wait for a turn of the
  /// loop do not count.
  @exclusivity(unchecked) var isStalled = false
  /// The place among the sessions with a deadline; -1 if it has none.
  var timedIndex = -1
  /// The loop's second in which the client was last heard.
  var heard: Int32 = 0
  /// The bytes held of it that the account of reception has.
  @exclusivity(unchecked) var countedBytes = 0
  /// The party that they are counted against, if the owner has named one, and its address as a party, once it was needed.
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

  /// Bytes of a message or request that has not come whole.
  var heldByteCount: Int { webSocket?.reader.heldBytes ?? http?.connection.heldByteCount ?? 0 }

  /// Bytes that wait for the socket.
  var unsentByteCount: Int {
    (webSocket?.queue.byteCount ?? http?.connection.unsentByteCount ?? 0) + stream.heldByteCount
  }

  /// The time, in the loop's milliseconds, at which `expire` is due.
  var deadline: Int64? {
    if let http { return http.connection.deadline }
    return webSocket?.closing.deadline
  }
}

/// The HTTP of a connection.
final class HTTPHalf {
  var connection: HTTPServerConnection
  /// A request that the owner has not answered.
  struct Asked {
    let number: HTTPServerConnection.RequestNumber
    let request: RequestID
    /// The party that the response is counted against; `nil` for the connection's.
    var holder: Holder?
  }

  /// The owner's requests that are not answered.
  var asked: [Asked] = []
  /// The bodies that wait to be sent.
  var tickets: [WaitingBodies.Ticket] = []
  /// Room for an upload that is being read.
  var reservation: ByteAccount.Reservation?
  /// Whether the sending side of TCP has been ended.
  var hasEndedSending = false

  init(_ connection: HTTPServerConnection) { self.connection = connection }
}

/// The WebSocket of a connection.
final class WebSocketHalf {
  @exclusivity(unchecked) var reader: FrameReader
  @exclusivity(unchecked) var closing: ClosingHandshake
  @exclusivity(unchecked) var queue: FrameQueue
  /// Whether the owner has admitted it, so that messages may have the owner's size.
  var isAdmitted = false
  /// Whether the owner is to be notified once the queue is empty.
  @exclusivity(unchecked) var owesDrained = false

  init(_ configuration: LibwebsocketsTransport.Configuration) {
    reader = FrameReader(
      side: .server, limits: FrameLimits(messageBytesMax: configuration.messageBytesMax))
    closing = ClosingHandshake(
      side: .server, closeMilliseconds: Int64(configuration.closeSeconds) * 1_000)
    // The owner's own limit decides; a queue refuses nothing by itself.
    queue = FrameQueue(bytesMax: .max)
  }
}
