public import ParleyWebSocketFrames

/// The id of a connection, unique within a process and never reused.
public struct ConnectionID: Hashable, Sendable, Comparable {
  /// The number, counting from 1.
  public let rawValue: UInt64

  /// Creates the id with a number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Orders connections by their numbers, that is, by age.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The id of an HTTP request that awaits its response.
public struct RequestID: Hashable, Sendable {
  /// The number, counting from 1.
  public let rawValue: UInt64

  /// Creates the id with a number.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The listening address at which a request arrived.
public enum Entrance: Sendable, Hashable {
  /// The public address.
  case front
  /// The optional address for the operator's programs.
  case back
}

/// The head of an HTTP request, an upgrade to WebSocket included.
public struct RequestHead: Sendable {
  /// `GET`, `POST`, … in capitals.
  public var method: String
  /// The path as sent: percent-encoded, without the query.
  public var path: String
  /// The query after the `?`; empty if missing.
  public var query: String
  /// The headers, with names in lower case. The values of a repeated header are joined with `, `.
  public var headers: [String: String]
  /// The client's address without its port: the peer's, or the one that a trusted proxy reports.
  public var remoteAddress: String
  /// The address to which the request's limits apply; `nil` for no limits.
  public var limitedAddress: IPAddress?
  /// Whether the connection is encrypted.
  public var isSecure: Bool
  /// The listening address at which the request arrived.
  public var entrance = Entrance.front

  /// Creates the head of a request to the public address.
  public init(
    method: String, path: String, query: String = "", headers: [String: String] = [:],
    remoteAddress: String = "", isSecure: Bool = false
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.remoteAddress = remoteAddress
    self.isSecure = isSecure
  }
}

/// A complete HTTP response. Code that rejects a request throws it.
public struct Response: Sendable, Error {
  /// The status code.
  public var status: Int
  /// The headers, in the order of sending. The transport adds `content-length`.
  public var headers: [(name: String, value: String)]
  /// The whole body.
  public var body: [UInt8]
  /// The compression of the body; `nil` if it is sent uncompressed.
  public var packing: Packing?

  /// Creates an uncompressed response.
  public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The compression of a body for a client that accepts gzip.
///
/// A compressor finds repetitions, so the length of its output depends on the text that is
/// repeated. An attacker who can add text to a body and sees the length of the response could guess
/// other text of the body. Names given by other users are therefore compressed letter by letter,
/// never as repetitions.
public struct Packing: Sendable, Equatable {
  /// The number of bytes at the start of the body in which repetitions are used. The rest is
  /// compressed letter by letter.
  public var repeatingCount: Int
  /// The client whose share of the compression is used; `nil` for a client without limits.
  package var limitedClient: LimitedClient?

  /// Creates a rule for a client without limits.
  public init(repeatingCount: Int) { self.repeatingCount = repeatingCount }
}

/// The decision on an upgrade request, made before the protocol is switched.
public enum UpgradeDecision: Sendable {
  /// Switch protocols, with a subprotocol that the client offered or none.
  case accept(subprotocol: String?)
  /// Reject the upgrade with this response, and close.
  case refuse(Response)
}

/// The decision on a long body, made before more of it is read.
public enum BodyDecision: Sendable {
  /// Read the body up to a number of bytes, and count it against a holder. An upload of known
  /// length counts separately, with its whole length from the start.
  case take(upTo: Int, for: Holder, isUpload: Bool = false)
  /// Reject the request with this response, and close.
  case refuse(Response)
  /// Reject the body as too long for its path.
  case tooLong
}

/// A WebSocket close code (RFC 6455, section 7.4). Parley defines the codes 4000 to 4999.
public struct CloseCode: Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Creates the close code with a number.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// The owner of a transport, notified of its events. All calls are made on the loop's thread.
public protocol TransportDelegate: AnyObject {
  /// Decides on an upgrade before the protocol is switched.
  func decide(upgrade head: RequestHead) -> UpgradeDecision
  /// Decides on a body that is too long to be read without a decision. `byteCount` is `nil` for a
  /// chunked body, whose length is unknown.
  func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision
  /// A connection was upgraded and is open.
  func opened(_ connection: ConnectionID, head: RequestHead, subprotocol: String?)
  /// A whole message has arrived. The bytes are valid only during the call.
  func received(_ connection: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind)
  /// A message has exceeded the size limit. Its bytes are discarded, and the connection is still
  /// open: the owner sends a typed error and closes.
  func oversized(_ connection: ConnectionID, bytesMax: Int)
  /// A part of a connection's message was dropped, because its sender has used up its share of
  /// memory. The owner sends an error with a retry time and closes.
  func droppedForMemory(_ connection: ConnectionID)
  /// All bytes queued for a connection were written to its socket.
  func drained(_ connection: ConnectionID)
  /// A connection has ended. Its id is not reused.
  func closed(_ connection: ConnectionID)
  /// A whole HTTP request has arrived. The owner calls `respond(to:with:)` once, now or later.
  func request(_ request: RequestID, head: RequestHead, body: [UInt8])
  /// Whether a request waits for an event that may come much later (long polling). Such a request
  /// is abandoned when its client shuts down its sending side; other requests are still answered.
  func isHeld(_ request: RequestID) -> Bool
  /// The client of an unanswered request has disconnected.
  func abandoned(_ request: RequestID)
  /// Work was posted to the loop, or another thread woke it.
  func woken()
  /// A timer for time-outs, called a few times a second.
  func ticked()
  /// All events of a turn of the loop have been reported. The transport then writes the queued
  /// bytes, during which `drained` and `closed` may be called.
  ///
  /// - Returns: The maximum milliseconds until the next turn; `nil` if none is needed.
  func turnEnded() -> Int?
}

extension TransportDelegate {
  /// Rejects long bodies.
  public func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision { .tooLong }
  /// Returns `false`: by default, no request waits for events.
  public func isHeld(_ request: RequestID) -> Bool { false }
}

/// A transport of connections, used by its delegate on the loop's thread only. ``TransportControl``
/// controls its life cycle.
public protocol Transport: AnyObject {
  /// Queues a frame. All frames that a turn queues for a connection are written together.
  func send(_ frame: Frame, to connection: ConnectionID)
  /// Queues a frame for each of the connections.
  func send(_ frame: Frame, to connections: [ConnectionID])
  /// Returns the bytes queued for a connection that its socket has not accepted yet.
  func queuedBytes(for connection: ConnectionID) -> Int
  /// Whether a connection's socket was full and has been keeping bytes waiting since. Otherwise
  /// queued bytes wait only for the end of the loop's turn.
  func isStalled(_ connection: ConnectionID) -> Bool
  /// Writes queued bytes of a connection until at most `bytesMax` remain or the socket is full.
  /// Call it before treating a connection as too slow.
  ///
  /// - Returns: Whether at most `bytesMax` bytes remain.
  func makeRoom(for connection: ConnectionID, upTo bytesMax: Int) -> Bool
  /// An upper bound of the bytes queued for any connection; a large number if the exact bound would
  /// take long to compute.
  var queuedBytesBound: Int { get }
  /// Sends the queued bytes and a close frame. If the peer does not answer, the socket is closed.
  func close(_ connection: ConnectionID, code: CloseCode, reason: String)
  /// Accepts messages of up to `messageBytesMax` bytes from a connection, and counts its buffered
  /// bytes against a holder.
  func admit(_ connection: ConnectionID, messageBytesMax: Int, as holder: Holder)
  /// Counts the buffered bytes of a connection's messages against a holder instead of its address.
  func count(_ connection: ConnectionID, towards holder: Holder)
  /// Counts the response to a request against a holder instead of the connection's address.
  func count(_ request: RequestID, towards holder: Holder)
  /// Sends the response to a request.
  func respond(to request: RequestID, with response: Response)
}
