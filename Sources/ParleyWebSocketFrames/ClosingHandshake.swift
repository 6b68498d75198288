/// The closing handshake of a WebSocket connection (RFC 6455, section 7): determines when a close
/// frame is sent and when TCP is closed. It has no clock: times are milliseconds of the caller,
/// which calls `expired` once `deadline` has passed.
///
///     open ──close──▶ sent ──peer's close──▶ ┐
///       ├──peer's close, answered──────────▶ ├─ last bytes sent ─▶ a server closes TCP
///       └──failure──────▶ failing ── last bytes sent ─▶ lingering ─▶ closed
///
/// A server closes TCP first, once both close frames have been sent. After a failure the peer may
/// still be sending: closing with unread bytes would reset the connection, and the close frame
/// could be lost. Therefore only the sending side is shut down, and incoming bytes are dropped.
public struct ClosingHandshake: Sendable {
  /// The next step of the caller.
  public enum Action: Sendable, Hashable {
    /// No step.
    case none
    /// Queue this close frame as the last frame.
    case send(CloseFrame)
    /// Shut down the sending side; continue to read, and drop the bytes.
    case endSending
    /// Close TCP.
    case closeConnection
  }

  /// The payload of a close frame.
  public struct CloseFrame: Sendable, Hashable {
    /// The status; `nil` for an empty frame.
    public let status: CloseStatus?
    /// The reason; a frame contains at most 123 bytes of it.
    public let reason: String

    /// Creates the payload.
    public init(status: CloseStatus?, reason: String = "") {
      self.status = status
      self.reason = reason
    }
  }

  private enum State: Sendable {
    /// Next: `sent`, `answering`, `failing`, `closed`.
    case open
    /// The owner has closed; the peer has not replied. Next: `answering`, `failing`, `closed`.
    case sent(hasDrained: Bool)
    /// Both sides have closed. Next: `lingering` (a client waits for the server), `closed`.
    case answering(hasDrained: Bool)
    /// The peer has broken a rule; the close frame is being sent. Next: `lingering`, `closed`.
    case failing
    /// Nothing more is sent. Next: `closed`.
    case lingering
    /// Final.
    case closed
  }

  /// The side of this state machine.
  public let side: FrameReader.Side
  /// Maximum milliseconds for the peer to read the queued bytes and to reply.
  public let closeMilliseconds: Int64
  /// Milliseconds for which unread bytes are dropped after a failure.
  public let lingerMilliseconds: Int64

  private var state = State.open
  /// The time at which `expired` is due, in milliseconds of the caller; `nil` without a limit.
  public private(set) var deadline: Int64?

  /// Creates the handshake of an open connection.
  public init(
    side: FrameReader.Side, closeMilliseconds: Int64 = 5_000, lingerMilliseconds: Int64 = 2_000
  ) {
    self.side = side
    self.closeMilliseconds = closeMilliseconds
    self.lingerMilliseconds = lingerMilliseconds
  }

  /// Whether messages may be sent, and received ones are delivered.
  public var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  /// Whether frames are still read, possibly only to receive the peer's close frame. Otherwise
  /// incoming bytes are dropped.
  public var readsFrames: Bool {
    switch state {
    case .open, .sent: true
    case .answering, .failing, .lingering, .closed: false
    }
  }

  /// Starts to close for the owner. Has no effect if closing has begun.
  public mutating func close(
    _ status: CloseStatus?, reason: String = "", now: Int64
  ) -> Action {
    guard case .open = state else { return .none }
    state = .sent(hasDrained: false)
    deadline = now + closeMilliseconds
    return .send(CloseFrame(status: status, reason: reason))
  }

  /// Handles the peer's close frame, and answers it with the same status.
  public mutating func received(_ status: CloseStatus?, now: Int64) -> Action {
    switch state {
    case .open:
      state = .answering(hasDrained: false)
      deadline = now + closeMilliseconds
      return .send(CloseFrame(status: status, reason: ""))
    case .sent(let hasDrained):
      state = .answering(hasDrained: hasDrained)
      return hasDrained ? bothClosed(now) : .none
    case .answering, .failing, .lingering, .closed:
      return .none
    }
  }

  /// Ends a connection after `FrameReader` has failed.
  public mutating func failed(_ error: FrameError, now: Int64) -> Action {
    switch state {
    case .open:
      state = .failing
      deadline = now + closeMilliseconds
      return .send(CloseFrame(status: error.status, reason: error.reason))
    case .sent(let hasDrained):
      // A close frame was already sent; a second one is not allowed.
      state = .failing
      return hasDrained ? endSending(now) : .none
    case .answering, .failing, .lingering, .closed:
      return .none
    }
  }

  /// Handles an empty send queue. Call it whenever all bytes have been passed to the system.
  public mutating func drained(now: Int64) -> Action {
    switch state {
    case .open, .lingering, .closed: return .none
    case .sent:
      state = .sent(hasDrained: true)
      return .none
    case .answering: return bothClosed(now)
    case .failing: return endSending(now)
    }
  }

  /// Ends the handshake because the peer has closed TCP or the socket has failed.
  public mutating func peerEnded() -> Action {
    if case .closed = state { return .none }
    state = .closed
    deadline = nil
    return .closeConnection
  }

  /// Ends a wait whose deadline has passed.
  public mutating func expired(now: Int64) -> Action {
    guard let deadline, now >= deadline else { return .none }
    return peerEnded()
  }

  private mutating func bothClosed(_ now: Int64) -> Action {
    switch side {
    case .server: return peerEnded()
    case .client:
      // The server closes first; the client closes only if the server does not.
      state = .lingering
      deadline = now + lingerMilliseconds
      return .none
    }
  }

  private mutating func endSending(_ now: Int64) -> Action {
    state = .lingering
    deadline = now + lingerMilliseconds
    return .endSending
  }
}

extension Frame {
  /// Encodes the close frame of a closing handshake.
  public static func close(
    _ frame: ClosingHandshake.CloseFrame, maskKey: UInt32? = nil
  ) -> Self {
    close(frame.status, reason: frame.reason, maskKey: maskKey)
  }
}
