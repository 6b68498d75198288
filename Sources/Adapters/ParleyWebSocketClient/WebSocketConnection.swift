#if os(Linux)
  import ParleyLocks
  public import ParleyWebSocketFrames

  /// A client's WebSocket connection of text messages, over TCP or TLS.
  ///
  ///     caller ──send──▶ outgoing ─┐                 ┌─▶ socket
  ///                                ├─ PollThread ────┤
  ///     caller ◀─receive─ inbox ◀──┘                 └── socket
  ///
  /// A single thread serves all sockets of a process, and waits for them with `poll`. Received messages
  /// that the caller has not read are limited by ``inboxBytesMax``: beyond it, reading stops, which
  /// slows the server down. Unsent messages are limited by ``outgoingBytesMax``: beyond it, the
  /// connection is ended.
  public final class WebSocketConnection: Sendable {
    /// Options of a connection.
    public struct Options: Sendable {
      /// The offered subprotocol; the server has to choose it.
      public var subprotocol: String?
      /// A file of certificates in PEM form that are trusted instead of the system's.
      public var certificatesFile: String?
      /// Maximum bytes of a received message; a longer one ends the connection.
      public var messageBytesMax = 256 << 20
      /// Maximum milliseconds to open the connection.
      public var openMilliseconds: Int64 = 30_000
      /// Maximum milliseconds for an address of the host before the next one is tried.
      public var addressMilliseconds: Int64 = 2_000

      /// Creates options.
      public init(subprotocol: String? = nil, certificatesFile: String? = nil) {
        self.subprotocol = subprotocol
        self.certificatesFile = certificatesFile
      }
    }

    /// Maximum bytes of received messages that the caller has not read; beyond it, reading stops.
    public static let inboxBytesMax = 4 << 20
    /// Maximum bytes of unsent messages.
    public static let outgoingBytesMax = 64 << 20

    fileprivate typealias Opened = Result<Void, WebSocketFailure>
    fileprivate typealias Received = Result<[UInt8], WebSocketEnd>

    fileprivate struct State {
      var opened: Opened?
      var opener: CheckedContinuation<Opened, Never>?
      var inbox = Inbox()
      var receiver: CheckedContinuation<Received, Never>?
      var end: WebSocketEnd?
      var outgoing: [[UInt8]] = []
      var outgoingBytes = 0
      var close: CloseStatus?
    }

    private let state = Locked(State())

    private init() {}

    deinit {
      // The thread references the connection weakly, and ends it when it wakes.
      PollThread.shared.wake()
    }

    // MARK: The caller

    /// Opens a connection.
    public static func open(
      _ url: WebSocketURL, _ options: Options = Options()
    ) async throws(WebSocketFailure) -> WebSocketConnection {
      try await open(url, options, addresses: nil)
    }

    /// Opens a connection to addresses, in order, instead of resolving the URL's host.
    package static func open(
      _ url: WebSocketURL, _ options: Options, addresses: [SocketAddress]?
    ) async throws(WebSocketFailure) -> WebSocketConnection {
      let connection = WebSocketConnection()
      let opened = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isOver = connection.state.withLock { state in
            if state.opened == nil { state.opener = continuation }
            return state.opened
          }
          if let isOver { return continuation.resume(returning: isOver) }
          PollThread.shared.open(url, options, addresses, for: connection)
        }
      } onCancel: {
        connection.opened(.failure(.cancelled))
      }
      try opened.get()
      return connection
    }

    /// Sends a text message after earlier ones. A failure is reported by ``receive()``.
    public func send(_ message: [UInt8]) {
      state.withLock { state in
        // Beyond the limit, the thread ends the connection when it wakes.
        guard state.end == nil, state.close == nil,
          state.outgoingBytes <= Self.outgoingBytesMax
        else { return }
        state.outgoingBytes += message.count
        state.outgoing.append(message)
      }
      PollThread.shared.wake()
    }

    /// Returns the next text message. Only one caller may wait at a time.
    ///
    /// - Throws: The end of the connection, after all earlier messages; 1006 if cancelled.
    public func receive() async throws(WebSocketEnd) -> [UInt8] {
      let received = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let (next, isRoomier) = state.withLock { state -> (Received?, Bool) in
            precondition(state.receiver == nil, "two callers of receive()")
            let wasFull = state.inbox.byteCount >= Self.inboxBytesMax
            if let message = state.inbox.popFirst() {
              return (.success(message), wasFull && state.inbox.byteCount < Self.inboxBytesMax)
            }
            if let end = state.end { return (.failure(end), false) }
            if Task.isCancelled { return (.failure(.lost), false) }
            state.receiver = continuation
            return (nil, false)
          }
          if isRoomier { PollThread.shared.wake() }
          if let next { continuation.resume(returning: next) }
        }
      } onCancel: {
        let receiver = state.withLock { state in
          let receiver = state.receiver
          state.receiver = nil
          return receiver
        }
        receiver?.resume(returning: .failure(.lost))
      }
      return try received.get()
    }

    /// Starts to close the connection: earlier messages are still sent, if the server accepts them.
    public func close(_ status: CloseStatus = .normal) {
      state.withLock { if $0.close == nil { $0.close = status } }
      PollThread.shared.keepWhileClosing(self)
    }

    // MARK: The thread

    /// Reports the result of opening the connection; only the first call has an effect.
    func opened(_ result: Result<Void, WebSocketFailure>) {
      let opener = state.withLock { state -> CheckedContinuation<Opened, Never>? in
        guard state.opened == nil else { return nil }
        state.opened = result
        let opener = state.opener
        state.opener = nil
        return opener
      }
      opener?.resume(returning: result)
    }

    /// Whether opening failed or was cancelled.
    var isAbandoned: Bool {
      state.withLock { state in
        if case .failure = state.opened { true } else { false }
      }
    }

    /// Whether the inbox accepts more messages.
    var hasRoom: Bool { state.withLock { $0.inbox.byteCount < Self.inboxBytesMax } }

    func received(_ message: [UInt8]) {
      let receiver = state.withLock { state -> CheckedContinuation<Received, Never>? in
        if let receiver = state.receiver {
          state.receiver = nil
          return receiver
        }
        state.inbox.append(message)
        return nil
      }
      receiver?.resume(returning: .success(message))
    }

    func ended(_ end: WebSocketEnd) {
      opened(.failure(.unreachable("the connection ended")))
      let receiver = state.withLock { state -> CheckedContinuation<Received, Never>? in
        guard state.end == nil else { return nil }
        state.end = end
        state.outgoing = []
        let receiver = state.receiver
        state.receiver = nil
        return receiver
      }
      receiver?.resume(returning: .failure(end))
    }

    /// Removes and returns the messages to send, and the status to close with after them; the
    /// messages are `nil` if the limit was exceeded.
    func takeOutgoing() -> (messages: [[UInt8]]?, close: CloseStatus?) {
      state.withLock { state in
        let messages = state.outgoing
        let isTooMuch = state.outgoingBytes > Self.outgoingBytesMax
        state.outgoing = []
        state.outgoingBytes = 0
        return (isTooMuch ? nil : messages, state.close)
      }
    }
  }
#endif
