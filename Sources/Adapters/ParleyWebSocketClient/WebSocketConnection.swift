#if os(Linux)
  import ParleyLocks
  public import ParleyWebSocketFrames

  /// A client's WebSocket connection of text messages, over TCP or TLS.
  ///
  ///     caller ──send──▶ outgoing ─┐                 ┌─▶ socket
  ///                                ├─ PollThread ────┤
  ///     caller ◀─receive─ inbox ◀──┘                 └── socket
  ///
  /// All sockets of a process are served by one thread, which waits for them with `poll`. Messages
  /// that the caller does not take are bounded by ``inboxBytesMax``: then nothing more is read, and
  /// the server feels it. Messages that the socket does not take are bounded by
  /// ``outgoingBytesMax``: then the connection is given up.
  public final class WebSocketConnection: Sendable {
    /// Options of a connection.
    public struct Options: Sendable {
      /// The subprotocol to offer; the server has to choose it.
      public var subprotocol: String?
      /// A file of certificates in PEM form that are trusted instead of the system's.
      public var certificatesFile: String?
      /// The longest message taken, in bytes; a longer one ends the connection.
      public var messageBytesMax = 256 << 20
      /// The time for opening the connection, in milliseconds.
      public var openMilliseconds: Int64 = 30_000
      /// The time for each address of the host but the last, before the next is tried, in
      /// milliseconds.
      public var addressMilliseconds: Int64 = 2_000

      /// Makes options.
      public init(subprotocol: String? = nil, certificatesFile: String? = nil) {
        self.subprotocol = subprotocol
        self.certificatesFile = certificatesFile
      }
    }

    /// Bytes of messages that may wait for the caller before reading stops.
    public static let inboxBytesMax = 4 << 20
    /// Bytes of messages that may wait for the socket.
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
      // A caller that has released it reads and sends nothing more; the thread holds no reference.
      PollThread.shared.wake()
    }

    // MARK: The caller

    /// Opens a connection.
    public static func open(
      _ url: WebSocketURL, _ options: Options = Options()
    ) async throws(WebSocketFailure) -> WebSocketConnection {
      try await open(url, options, addresses: nil)
    }

    /// Opens a connection to addresses, in their order, instead of those of the URL's host.
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

    /// Sends a text message after those sent before. A failure shows in ``receive()``.
    public func send(_ message: [UInt8]) {
      state.withLock { state in
        // Beyond the bound the thread gives the connection up as soon as it looks.
        guard state.end == nil, state.close == nil,
          state.outgoingBytes <= Self.outgoingBytesMax
        else { return }
        state.outgoingBytes += message.count
        state.outgoing.append(message)
      }
      PollThread.shared.wake()
    }

    /// Returns the next text message. One caller at a time.
    ///
    /// - Throws: The end of the connection, after all messages that came before it; or 1006 if the
    ///   task is cancelled.
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

    /// Begins to close: messages sent before still leave, if the server takes them.
    public func close(_ status: CloseStatus = .normal) {
      state.withLock { if $0.close == nil { $0.close = status } }
      PollThread.shared.keepWhileClosing(self)
    }

    // MARK: The thread

    /// The handshake is over, well or not. The first to say so decides.
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

    /// Whether the caller has given up before the connection was open.
    var isAbandoned: Bool {
      state.withLock { state in
        if case .failure = state.opened { true } else { false }
      }
    }

    /// Whether more may be read.
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

    /// Messages to send, and how to close after them; `nil` messages if there were too many.
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
