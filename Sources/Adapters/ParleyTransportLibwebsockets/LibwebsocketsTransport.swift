public import ParleyGatewayPorts
import ParleyLocks
public import ParleyWebSocketFrames

/// A transport for WebSocket and HTTP on one port, plain or with TLS as set up by libwebsockets.
///
/// A single thread accepts and owns every connection (see `Loop`). Only this thread calls the delegate,
/// and `send`, `close`, `respond` and `queuedBytes` may be called only on it. The requirements of
/// `TransportControl` may be called from any other thread.
///
/// Frames that `send` queues during one turn of the loop are written together at its end, up to 64
/// KiB per connection. Later turns write the rest, and serve other connections in between.
public final class LibwebsocketsTransport: Transport, TransportControl, @unchecked Sendable {
  // Unchecked: the loop is confined to its thread, on which its methods have to be called, and
  // locks protect what other threads use.

  /// The configuration of the transport.
  public let configuration: Configuration
  private let place: Int
  /// The mailbox of the loop's thread.
  public let mailbox = LoopMailbox()

  private struct Running {
    var thread: SystemThread?
    var port = 0
    var backPort = 0
  }

  private let running = Locked(Running())
  private let loop: Loop

  /// Creates a transport, which must be started.
  ///
  /// - Parameters:
  ///   - configuration: The addresses and limits.
  ///   - delegate: The owner, retained until the transport has stopped. After `start`, it belongs
  ///     to the loop's thread.
  ///   - balancer: The loops that share the connections; `nil` for a single loop.
  ///   - place: The loop's number in the group. The first listens for all.
  public init(
    configuration: Configuration, delegate: any TransportDelegate,
    balancer: ConnectionBalancer? = nil,
    place: Int = 0
  ) {
    self.configuration = configuration
    self.place = place
    loop = Loop(
      configuration: configuration, mailbox: mailbox, delegate: delegate, balancer: balancer,
      place: place)
    balancer?.join(place, mailbox)
  }

  /// The port that the transport listens on; 0 before `start`.
  public var boundPort: Int { running.withLock { $0.port } }

  /// The port of the second address; 0 before `start`, and without a second address.
  public var boundBackPort: Int { running.withLock { $0.backPort } }

  /// Listens, and starts the thread. Call it once; after an error, create another transport.
  ///
  /// - Throws: The reason why it cannot listen, and what to do.
  public func start() throws(TransportError) {
    do throws(TransportError) {
      try listen()
    } catch {
      // Break the reference cycle between owner and transport.
      loop.delegate = nil
      throw error
    }
  }

  private func listen() throws(TransportError) {
    let isListening = place == 0
    let front: (sockets: [Int32], port: Int) =
      isListening
      ? try Listener.open(hosts: configuration.hosts, port: configuration.port) : ([], 0)
    var back: (sockets: [Int32], port: Int)?
    if isListening, let address = configuration.back {
      do throws(TransportError) {
        back = try Listener.open(hosts: [address.host], port: address.port)
      } catch {
        Listener.close(front.sockets)
        throw error
      }
    }
    let listeners = front.sockets + (back?.sockets ?? [])
    do throws(TransportError) {
      guard loop.poller.isOpen else {
        throw .cannotStart(reason: "epoll is not available; raise the limit of open files")
      }
      if isListening, let paths = configuration.tls { loop.tls = try TLSContext(paths) }
    } catch {
      Listener.close(listeners)
      throw error
    }
    let doors =
      front.sockets.map { ($0, Entrance.front) } + (back?.sockets ?? []).map { ($0, .back) }
    loop.doors = doors.enumerated().map { index, door in
      Door(listener: door.0, entrance: door.1, key: Poller.wakeKey + 1 + UInt64(index))
    }
    // The mailbox stores letters until the thread reads them.
    mailbox.open(loop.poller.wakeUp)
    nonisolated(unsafe) let loop = loop
    guard let thread = SystemThread({ loop.run() }) else {
      _ = mailbox.shut()
      Listener.close(listeners)
      throw .cannotStart(reason: "a thread cannot be created; raise the limit of threads")
    }
    let (port, backPort) = (front.port, back?.port ?? 0)
    running.withLock { $0 = Running(thread: thread, port: port, backPort: backPort) }
  }

  /// Reloads the certificate and its key from their files, for new connections. From any thread;
  /// check first whether the files are usable.
  public func reloadCertificate(completion: @escaping @Sendable ((any Error)?) -> Void) {
    nonisolated(unsafe) let loop = loop
    mailbox.post { completion(loop.tls?.reload()) }
  }

  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop runs; if not, `work` is never run.
  @discardableResult
  public func post(_ work: @escaping @Sendable () -> Void) -> Bool { mailbox.post(work) }

  /// Closes the listening sockets; open connections remain. From any thread but the loop's.
  public func stopAccepting() {
    let done = Monitor(false)
    if mailbox.put(.closeDoors(done)) { done.wait { $0 } }
  }

  /// Stops the transport: stops accepting, sends each connection its queued data and a close frame,
  /// and returns once the thread has ended. Not callable from the loop's thread.
  ///
  /// - Parameters:
  ///   - code: The close code for clients.
  ///   - reason: The reason for clients, at most 123 bytes.
  ///   - milliseconds: Maximum milliseconds, after which open connections are cut.
  public func stop(
    code: CloseCode = CloseCode(1001), reason: String = "", within milliseconds: Int = 5000
  ) {
    stopAccepting()
    let thread = running.withLock { running in
      defer { running.thread = nil }
      return running.thread
    }
    guard let thread else { return }
    precondition(!thread.isCurrent, "stop() must not be called on the loop's own thread")
    mailbox.put(.stop(StopOrder(code: code, reason: reason, milliseconds: milliseconds)))
    thread.join()
  }

  /// The loop's progress, readable from any thread.
  package var pulse: LoopProgress { loop.pulse }

  /// The number of open connections, including HTTP. On the loop's thread.
  public var connectionCount: Int { loop.sessionCount }

  /// The refused connections so far. On the loop's thread.
  public var refusedConnections: RefusedConnections { loop.refused }

  /// The memory that the process's transports hold for clients. From any thread.
  public var memoryUsage: MemoryUsage { loop.accounts.usage }

  /// Queues a frame; frames of one turn of the loop are written together at its end. Has no effect
  /// on a connection that is closing or closed.
  public func send(_ frame: Frame, to connection: ConnectionID) {
    loop.send(frame, to: connection)
  }

  /// Queues a frame for several connections.
  public func send(_ frame: Frame, to connections: [ConnectionID]) {
    loop.send(frame, to: connections)
  }

  /// An upper bound of the bytes queued for any connection.
  ///
  /// If earlier turns have left nothing, it is the number of bytes queued in this turn; otherwise
  /// it is `Int.max`.
  public var queuedBytesBound: Int { loop.queuedBytesBound }

  /// Whether `turnEnded` will still be called in this turn; work deferred to it delays no
  /// connection.
  package var isInTurn: Bool { loop.isInTurn }

  /// Returns the bytes queued for a connection that its socket has not accepted.
  public func queuedBytes(for connection: ConnectionID) -> Int {
    loop.queuedBytes(for: connection)
  }

  /// Whether a connection's socket was full, and bytes have waited for it since then.
  public func isStalled(_ connection: ConnectionID) -> Bool { loop.isStalled(connection) }

  /// Writes a connection's queued bytes until at most `bytesMax` are left, or its socket is full.
  ///
  /// - Returns: Whether at most `bytesMax` bytes are left.
  public func makeRoom(for connection: ConnectionID, upTo bytesMax: Int) -> Bool {
    loop.makeRoom(for: connection, upTo: bytesMax)
  }

  /// Sends the queued data, then a close frame; cuts the socket after `closeSeconds`.
  ///
  /// The connection's only further event is `closed`.
  public func close(_ connection: ConnectionID, code: CloseCode, reason: String) {
    loop.close(connection, code: code, reason: reason)
  }

  /// Sets the maximum bytes of a connection's messages, and counts its held bytes against a holder.
  public func admit(_ connection: ConnectionID, messageBytesMax: Int, as holder: Holder) {
    loop.admit(connection, messageBytesMax: messageBytesMax, as: holder)
  }

  /// Counts a connection's held bytes against a holder instead of its address.
  public func count(_ connection: ConnectionID, towards holder: Holder) {
    loop.count(connection, towards: holder)
  }

  /// Counts the response to a request against a holder instead of the connection's address.
  public func count(_ request: RequestID, towards holder: Holder) {
    loop.count(request, towards: holder)
  }

  /// Answers a request. Has no effect on a request that was abandoned or answered.
  public func respond(to request: RequestID, with response: Response) {
    loop.respond(to: request, with: response)
  }
}

/// An order to stop: code and reason for the clients, and the maximum time.
struct StopOrder: Sendable {
  var code: CloseCode
  var reason: String
  var milliseconds: Int
}
