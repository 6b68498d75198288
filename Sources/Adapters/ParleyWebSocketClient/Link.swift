#if os(Linux)
  import Glibc
  import ParleyWebSocketFrames

  /// A connection's state on the poll thread.
  ///
  ///     connecting ──▶ shaking (TLS) ──▶ upgrading (HTTP) ──▶ open ──▶ over
  ///         └── next address
  final class Link {
    private enum Stage {
      case connecting
      case shaking
      case upgrading
      case open
      case over
    }

    private weak let connection: WebSocketConnection?
    private let url: WebSocketURL
    private let options: WebSocketConnection.Options
    private var addresses: ArraySlice<SocketAddress>
    private var stage = Stage.connecting
    private var wire: ClientSocket?
    private var upgrade: Upgrade
    private var reader: FrameReader
    private var queue = FrameQueue(bytesMax: 2 * WebSocketConnection.outgoingBytesMax)
    private var closing = ClosingHandshake(side: .client)
    private let openBy: Int64
    /// The time at which the next address is tried, because a network may drop packets silently.
    private var addressBy: Int64 = .max
    /// The events of the socket to wait for.
    private(set) var events: Int16 = 0
    /// Whether reading stopped early, so that data may be in a buffer that `poll` does not see.
    private var hasMore = false
    /// The events after which the socket accepts more bytes; 0 while it does.
    private var writeWaits: Int16 = 0
    private var endCode: UInt16 = 1006
    private var isConnectDecided = false

    /// Maximum reads in one turn, so that other connections are served, too.
    private static let readsMax = 16

    init(
      _ connection: WebSocketConnection, url: WebSocketURL, options: WebSocketConnection.Options,
      addresses: [SocketAddress], now: Int64
    ) {
      self.connection = connection
      self.url = url
      self.options = options
      self.addresses = addresses[...]
      var chance = SystemRandomNumberGenerator()
      upgrade = Upgrade(
        key: (0..<16).map { _ in UInt8.random(in: 0...255, using: &chance) },
        subprotocol: options.subprotocol)
      reader = FrameReader(
        side: .client, limits: FrameLimits(messageBytesMax: options.messageBytesMax))
      openBy = now + options.openMilliseconds
      connectNext(reason: 0, now)
    }

    var isOver: Bool { stage == .over }

    func serves(_ connection: WebSocketConnection) -> Bool { self.connection === connection }

    var descriptor: Int32 { wire?.descriptor ?? -1 }

    /// The next time at which `turn` must be called, in milliseconds.
    var deadline: Int64? {
      if hasMore { return 0 }
      return stage == .open ? closing.deadline : min(openBy, addressBy)
    }

    /// Handles the socket's events that `poll` has reported.
    func happened(_ events: Int16) {
      if events & (writeWaits | Int16(POLLERR | POLLHUP)) != 0 { writeWaits = 0 }
      if stage == .connecting, events != 0 { isConnectDecided = true }
    }

    /// Performs all work that is possible without waiting.
    func turn(
      now: Int64, reading memory: UnsafeMutableRawBufferPointer,
      joiningIn scratch: UnsafeMutableRawBufferPointer
    ) {
      guard let connection, !connection.isAbandoned else { return end() }
      if stage != .open, now >= openBy { return fail(.timedOut) }
      do throws(WebSocketFailure) {
        if stage == .connecting { try finishConnecting(now) }
        if stage == .shaking { try continueHandshake() }
        if stage == .upgrading { try answer(memory, now) }
      } catch {
        return fail(error)
      }
      guard stage == .open else { return }
      takeOutgoing(connection, now)
      read(connection, memory, now)
      write(scratch, now)
      if closing.expired(now: now) == .closeConnection { end() }
    }

    // MARK: Opening

    private func connectNext(reason: Int32, _ now: Int64) {
      var reason = reason
      addressBy = .max
      while let address = addresses.popFirst() {
        if let wire = ClientSocket(address) {
          self.wire = consume wire
          events = Int16(POLLOUT)
          isConnectDecided = false
          if !addresses.isEmpty { addressBy = now + options.addressMilliseconds }
          return
        }
        reason = errno
      }
      fail(.unreachable(String(cString: strerror(reason))))
    }

    private func finishConnecting(_ now: Int64) throws(WebSocketFailure) {
      guard isConnectDecided, let error = wire?.connectError else {
        guard now >= addressBy else { return }
        wire = nil
        return connectNext(reason: ETIMEDOUT, now)
      }
      guard error == 0 else {
        wire = nil
        return connectNext(reason: error, now)
      }
      addressBy = .max
      if url.isSecure { try wire?.encrypt(for: url.host, trusting: options.certificatesFile) }
      stage = .shaking
    }

    private func continueHandshake() throws(WebSocketFailure) {
      if let wanted = try wire?.continueHandshake() {
        events = Int16(wanted)
        return
      }
      _ = queue.append(Frame(encoded: upgrade.request(to: url)))
      stage = .upgrading
    }

    private func answer(
      _ memory: UnsafeMutableRawBufferPointer, _ now: Int64
    ) throws(WebSocketFailure) {
      flush(memory)
      events = Int16(POLLIN) | writeWaits
      while true {
        switch wire?.read(into: memory) {
        case .bytes(let count):
          guard let used = try upgrade.take(memory[..<count]) else { continue }
          stage = .open
          connection?.opened(.success(()))
          if let connection {
            take(UnsafeMutableRawBufferPointer(rebasing: memory[used..<count]), connection, now)
          }
          hasMore = true
          return
        case .waits: return
        case .ended, .failed, nil:
          throw .notWebSocket("it closed the connection without a response")
        }
      }
    }

    // MARK: Open

    private func takeOutgoing(_ connection: WebSocketConnection, _ now: Int64) {
      let (messages, status) = connection.takeOutgoing()
      guard closing.isOpen else { return }
      guard let messages else { return end() }
      for message in messages {
        let frame = Frame(.text, maskKey: .random(in: .min ... .max), payload: message)
        if queue.append(frame) == .full { return end() }
      }
      if let status { perform(closing.close(status, now: now)) }
    }

    private func read(
      _ connection: WebSocketConnection, _ memory: UnsafeMutableRawBufferPointer, _ now: Int64
    ) {
      events = 0
      hasMore = false
      guard stage == .open, connection.hasRoom else { return }
      events = Int16(POLLIN)
      for _ in 0..<Self.readsMax {
        switch wire?.read(into: memory) {
        case .bytes(let count):
          take(UnsafeMutableRawBufferPointer(rebasing: memory[..<count]), connection, now)
          guard stage == .open else { return }
          guard connection.hasRoom else {
            events = 0
            return
          }
        case .waits(let wanted):
          events = Int16(wanted)
          return
        case .ended, .failed, nil:
          return end()
        }
      }
      hasMore = true
    }

    private func take(
      _ bytes: UnsafeMutableRawBufferPointer, _ connection: WebSocketConnection, _ now: Int64
    ) {
      guard closing.readsFrames else { return }
      var input = bytes
      while closing.readsFrames, let event = reader.next(&input) {
        switch event {
        case .message(.text, let bytes):
          if closing.isOpen { connection.received(Array(bytes)) }
        case .message(.binary, _), .compressed:
          perform(closing.close(.unsupportedData, reason: "text is expected", now: now))
        case .oversized:
          perform(closing.close(.tooLarge, reason: "the message is too long", now: now))
        case .ping(let payload):
          let frame = Frame.pong(payload, maskKey: .random(in: .min ... .max))
          if closing.isOpen, queue.append(pong: frame) == .full { return end() }
        case .pong: break
        case .close(let status, _):
          endCode = status?.rawValue ?? 1005
          perform(closing.received(status, now: now))
          // The caller need not wait for the end of TCP.
          connection.ended(WebSocketEnd(code: endCode))
        case .failure(let error):
          perform(closing.failed(error, now: now))
        }
      }
    }

    private func write(_ scratch: UnsafeMutableRawBufferPointer, _ now: Int64) {
      guard stage == .open else { return }
      flush(scratch)
      guard stage == .open else { return }
      events |= writeWaits
      if queue.isEmpty { perform(closing.drained(now: now)) }
    }

    /// Writes queued frames until the socket accepts no more.
    private func flush(_ scratch: UnsafeMutableRawBufferPointer) {
      guard writeWaits == 0 else { return }
      var hasFailed = false
      while !queue.isEmpty, writeWaits == 0, !hasFailed {
        _ = queue.writeNext(joiningIn: scratch) { bytes in
          switch wire?.write(bytes) {
          case .bytes(let count): return count
          case .waits(let wanted):
            writeWaits = Int16(wanted)
            return 0
          case .ended, .failed, nil:
            hasFailed = true
            return 0
          }
        }
      }
      if hasFailed { end() }
    }

    private func perform(_ action: ClosingHandshake.Action) {
      switch action {
      case .none: break
      case .send(let frame):
        _ = queue.append(Frame.close(frame, maskKey: .random(in: .min ... .max)))
      case .endSending: wire?.endSending()
      case .closeConnection: end()
      }
    }

    // MARK: The end

    private func fail(_ failure: WebSocketFailure) {
      connection?.opened(.failure(failure))
      end()
    }

    private func end() {
      guard stage != .over else { return }
      stage = .over
      wire = nil
      connection?.ended(WebSocketEnd(code: endCode))
    }
  }
#endif
