public import ParleyWebSocketFrames

/// The name of one connection, unique within a process and never used twice.
public struct ConnectionID: Hashable, Sendable, Comparable {
  /// Counts up from one.
  public let rawValue: UInt64

  /// Names a connection.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Orders by number.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The name of an HTTP request that waits for its response.
public struct RequestID: Hashable, Sendable {
  /// Counts up from one.
  public let rawValue: UInt64

  /// Names a request.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The address of a transport to which a request came.
public enum Entrance: Sendable, Hashable {
  /// The public one.
  case front
  /// The one for the operator's own programs, where there is one.
  case back
}

/// The head of an HTTP request, an upgrade to WebSocket included.
public struct RequestHead: Sendable {
  /// `GET`, `POST`, … in capitals.
  public var method: String
  /// The path as it was sent, without its query, still percent-encoded.
  public var path: String
  /// The query: the part behind the `?`, or the empty string.
  public var query: String
  /// Headers with their names in lower case. A header that came twice is joined with `, `.
  public var headers: [String: String]
  /// The client's address without its port: the peer's, or what a trusted proxy says.
  public var remoteAddress: String
  /// The address whose limits the request counts towards; `nil` for none.
  public var limitedAddress: IPAddress?
  /// Whether the connection is encrypted.
  public var isSecure: Bool
  /// The entrance by which the request came.
  public var entrance = Entrance.front

  /// Makes a request head.
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

/// A complete HTTP response; thrown where a request is refused.
public struct Response: Sendable, Error {
  /// The status code.
  public var status: Int
  /// Headers in the order in which they are sent; `content-length` is the transport's.
  public var headers: [(name: String, value: String)]
  /// The whole body.
  public var body: [UInt8]
  /// The compression of the body; `nil` if it is sent uncompressed.
  public var packing: Packing?

  /// Makes a response.
  public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// The compression of a body for a client that accepts gzip.
///
/// A compressor finds repetitions, so the length of its output depends on what repeats what. An attacker
/// who can put text into a body, and sees the lengths of the answers, could guess other text of the body.
/// Names that other people have given are therefore compressed letter by letter, and never as a repetition
/// of other bytes.
public struct Packing: Sendable, Equatable {
  /// The number of bytes at the body's beginning in which repetitions are found. The rest is compressed letter by letter.
  public var repeatingCount: Int
  /// The client whose share of the compression it takes; `nil` for one without limits.
  package var stranger: Stranger?

  /// Makes a rule.
  public init(repeatingCount: Int) { self.repeatingCount = repeatingCount }
}

/// The decision on a request to upgrade, made before the protocol is switched.
public enum UpgradeDecision: Sendable {
  /// Switch protocols. The subprotocol is one the client offered, or `nil` for none.
  case accept(subprotocol: String?)
  /// Answer with this response instead, and close.
  case refuse(Response)
}

/// The decision on a body that is too long to be read without a decision, made before more of it is read.
public enum BodyDecision: Sendable {
  /// Read it, up to a number of bytes, and count it against a holder. An upload of a known length counts by
  /// itself, with its whole length from the start.
  case take(upTo: Int, for: Holder, isUpload: Bool = false)
  /// Answer with this response instead, and close.
  case refuse(Response)
  /// Refuse it as too long for its path.
  case tooLong
}

/// A WebSocket close code (RFC 6455, section 7.4; 4000 to 4999 are Parley's own).
public struct CloseCode: Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Makes a close code.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// A transport's owner, which is notified of events. Every call comes on the loop's thread.
public protocol TransportDelegate: AnyObject {
  /// Decides about an upgrade before the socket is switched.
  func decide(upgrade head: RequestHead) -> UpgradeDecision
  /// Decides about a body that is too long to be read without a decision: of a length, or in chunks, whose
  /// length is not known.
  func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision
  /// An upgraded connection is open.
  func opened(_ connection: ConnectionID, head: RequestHead, subprotocol: String?)
  /// A whole message arrived. The bytes are valid during the call only.
  func received(_ connection: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind)
  /// A message passed the size limit: its bytes are dropped, the connection is still open.
  /// The owner sends its typed refusal, then closes; the transport discards the message's rest.
  func oversized(_ connection: ConnectionID, bytesMax: Int)
  /// A connection's message was dropped in part, since its sender holds its share of memory. The owner refuses it with a
  /// time to retry, then closes.
  func crowded(_ connection: ConnectionID)
  /// All that was queued for a connection has gone to its socket.
  func drained(_ connection: ConnectionID)
  /// A connection is gone; its name is not used again.
  func closed(_ connection: ConnectionID)
  /// A whole HTTP request arrived. The owner calls `respond(to:with:)` once, now or later.
  func request(_ request: RequestID, head: RequestHead, body: [UInt8])
  /// Whether a request waits for news, which may come much later. Its client counts as gone when it ends its sending
  /// side; other requests are still answered then.
  func isHeld(_ request: RequestID) -> Bool
  /// The client of an unanswered request went away.
  func abandoned(_ request: RequestID)
  /// Work was posted to the loop, or it was woken from another thread.
  func woken()
  /// Time has passed: called a few times a second, for time-outs.
  func ticked()
  /// All events of one turn of the loop have been reported. What was queued is written after this;
  /// meanwhile, `drained` and `closed` may still come.
  ///
  /// - Returns: the milliseconds after which the next turn should come, whatever happens; `nil` if it need not.
  func turnEnded() -> Int?
}

extension TransportDelegate {
  /// Refuses long bodies.
  public func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision { .tooLong }
  /// Holds no request.
  public func isHeld(_ request: RequestID) -> Bool { false }
}

/// A transport of connections, as its delegate uses it: on the loop's thread alone.
/// ``TransportControl`` is its life cycle.
public protocol Transport: AnyObject {
  /// Queues a frame; what a tick queued for a connection leaves in one write at its end.
  func send(_ frame: Frame, to connection: ConnectionID)
  /// Queues a frame for each of some connections.
  func send(_ frame: Frame, to connections: [ConnectionID])
  /// Bytes queued for a connection that its socket has not taken.
  func queuedBytes(for connection: ConnectionID) -> Int
  /// Whether a connection's socket was full, and bytes have waited for it since. Otherwise queued bytes
  /// wait only for a turn of the loop.
  func isStalled(_ connection: ConnectionID) -> Bool
  /// Writes what is queued for a connection until at most so many bytes are left, or its socket is full. To be called
  /// before a connection is taken for too slow.
  ///
  /// - Returns: Whether at most so many bytes are left.
  func makeRoom(for connection: ConnectionID, upTo bytesMax: Int) -> Bool
  /// A number of bytes that is not exceeded by what is queued for any connection; large when it would take
  /// long to find out.
  var queuedBytesBound: Int { get }
  /// Sends what is queued, then a close frame; ends the socket if the peer does not answer.
  func close(_ connection: ConnectionID, code: CloseCode, reason: String)
  /// Lets a connection send messages of up to a number of bytes, and counts its buffered bytes against a
  /// holder.
  func admit(_ connection: ConnectionID, messageBytesMax: Int, as holder: Holder)
  /// Counts the buffered bytes of a connection's messages against a holder, instead of its address.
  func count(_ connection: ConnectionID, towards holder: Holder)
  /// Counts the response to a request against a holder, instead of the connection's address.
  func count(_ request: RequestID, towards holder: Holder)
  /// Answers a request.
  func respond(to request: RequestID, with response: Response)
}
