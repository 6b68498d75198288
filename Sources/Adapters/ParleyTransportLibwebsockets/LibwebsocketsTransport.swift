public import ParleyGatewayPorts
import ParleyLocks
public import ParleyWebSocketFrames

/// WebSocket and HTTP on one port, plain or with TLS as libwebsockets sets it up.
///
/// One thread accepts and owns every connection (see `Loop`). It alone calls the delegate, and only
/// from there may `send`, `close`, `respond` and `queuedBytes` be called. What `TransportControl`
/// names may be called from anywhere else.
///
/// Frames that `send` queues during one turn of the loop leave in one write per connection at its end, up to 64 KiB.
/// Later turns write the rest; other connections are read from and written to in between.
public final class LibwebsocketsTransport: Transport, TransportControl, @unchecked Sendable {
  // Unchecked: the loop is confined to its thread, which each call from outside must be on, and
  // what other threads may touch is behind locks.

  /// The configuration that the transport was made with.
  public let configuration: Configuration
  private let place: Int
  /// The way to the loop's thread.
  public let mailbox = LoopMailbox()

  private struct Running {
    var thread: SystemThread?
    var port = 0
    var backPort = 0
  }

  private let running = Locked(Running())
  private let loop: Loop

  /// Makes a transport that does nothing until started.
  ///
  /// - Parameters:
  ///   - configuration: The addresses and limits.
  ///   - delegate: Kept until the transport has stopped. After `start`, it belongs to the loop's
  ///     thread.
  ///   - balancer: The loops among which connections are dealt out; `nil` for one that serves alone.
  ///   - place: Its number among them. The first listens for all.
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

  /// The port listened on; 0 before `start`.
  public var boundPort: Int { running.withLock { $0.port } }

  /// The port listened on at the second address; 0 before `start`, and without one.
  public var boundBackPort: Int { running.withLock { $0.backPort } }

  /// Listens, and starts the threads. Call once; after an error, make another transport.
  ///
  /// - Throws: What keeps it from listening, in words that say what to do.
  public func start() throws(TransportError) {
    do throws(TransportError) {
      try listen()
    } catch {
      // Owner and transport usually hold each other.
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
        throw .cannotStart(reason: "the system gives no events; raise the limit of open files")
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
    // Letters wait in it until the thread reads them.
    mailbox.open(loop.poller.wakeUp)
    nonisolated(unsafe) let loop = loop
    guard let thread = SystemThread({ loop.run() }) else {
      _ = mailbox.shut()
      Listener.close(listeners)
      throw .cannotStart(reason: "the system gives no thread; raise its limit")
    }
    let (port, backPort) = (front.port, back?.port ?? 0)
    running.withLock { $0 = Running(thread: thread, port: port, backPort: backPort) }
  }

  /// Reads the certificate and its key again from their files; open connections are left alone.
  /// From any thread; check first whether the files can be used.
  public func reloadCertificate(completion: @escaping @Sendable ((any Error)?) -> Void) {
    nonisolated(unsafe) let loop = loop
    mailbox.post { completion(loop.tls?.reload()) }
  }

  /// Runs `work` on the loop's thread, in the order of posting, before `woken()` is called.
  ///
  /// - Returns: Whether the loop runs; if not, `work` never does.
  @discardableResult
  public func post(_ work: @escaping @Sendable () -> Void) -> Bool { mailbox.post(work) }

  /// Closes the listening sockets; open connections are left alone. From any thread but the loop's.
  public func stopAccepting() {
    let done = Monitor(false)
    if mailbox.put(.closeDoors(done)) { done.wait { $0 } }
  }

  /// Ends everything: stops accepting, sends each connection what is queued for it and a close
  /// frame, and returns once the thread has ended. Not callable from the loop's thread.
  ///
  /// - Parameters:
  /// - code: The close code for clients.
  ///   - reason: At most 123 bytes of text.
  /// - milliseconds: Afterwards, connections that are still open are cut off.
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

  /// Open connections, HTTP included. On the loop's thread.
  public var connectionCount: Int { loop.sessionCount }

  /// Connections that were refused until now. On the loop's thread.
  public var refusedConnections: RefusedConnections { loop.refused }

  /// The memory that clients have the transports of the process hold. From any thread.
  public var memoryUsage: MemoryUsage { loop.accounts.usage }

  /// Queues a frame; what a turn of the loop queued for a connection leaves in one write at its
  /// end. Does nothing for a connection that is closing or gone.
  public func send(_ frame: Frame, to connection: ConnectionID) {
    loop.send(frame, to: connection)
  }

  /// Queues a frame for each of some connections.
  public func send(_ frame: Frame, to connections: [ConnectionID]) {
    loop.send(frame, to: connections)
  }

  /// A number of bytes that is not exceeded by what is queued for any connection.
  ///
  /// While former turns have left nothing, that is the bytes queued in this one.
  public var queuedBytesBound: Int { loop.queuedBytesBound }

  /// Whether `turnEnded` is still to come in this turn of the loop: work that can wait for it
  /// delays no other connection.
  package var isInTurn: Bool { loop.isInTurn }

  /// Bytes queued for a connection that its socket has not taken.
  public func queuedBytes(for connection: ConnectionID) -> Int {
    loop.queuedBytes(for: connection)
  }

  /// Whether a connection's socket was full, and bytes have waited for it since.
  public func isStalled(_ connection: ConnectionID) -> Bool { loop.isStalled(connection) }

  /// Writes what is queued for a connection until at most so many bytes are left, or its socket is full.
  ///
  /// - Returns: Whether at most so many bytes are left.
  public func makeRoom(for connection: ConnectionID, upTo bytesMax: Int) -> Bool {
    loop.makeRoom(for: connection, upTo: bytesMax)
  }

  /// Sends what is queued, then a close frame; cuts the socket after `closeSeconds`.
  ///
  /// Nothing more is delivered from the connection but, in the end, `closed`.
  public func close(_ connection: ConnectionID, code: CloseCode, reason: String) {
    loop.close(connection, code: code, reason: reason)
  }

  /// Lets a connection send messages of up to so many bytes, and counts what is held of them against a holder.
  public func admit(_ connection: ConnectionID, messageBytesMax: Int, as holder: Holder) {
    loop.admit(connection, messageBytesMax: messageBytesMax, as: holder)
  }

  /// Counts what is held of a connection's messages against a holder, instead of its address.
  public func count(_ connection: ConnectionID, towards holder: Holder) {
    loop.count(connection, towards: holder)
  }

  /// Counts the response to a request against a holder, instead of the connection's address.
  public func count(_ request: RequestID, towards holder: Holder) {
    loop.count(request, towards: holder)
  }

  /// Answers a request. Does nothing for one that was abandoned or answered.
  public func respond(to request: RequestID, with response: Response) {
    loop.respond(to: request, with: response)
  }
}

/// An order to stop: code and reason for the clients, and the time in which to end.
struct StopOrder: Sendable {
  var code: CloseCode
  var reason: String
  var milliseconds: Int
}
