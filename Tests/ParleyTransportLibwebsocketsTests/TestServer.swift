import ParleyGatewayPorts
import Glibc
import ParleyTransportLibwebsockets
import ParleyWebSocketFrames

/// A call to the delegate.
enum Event: Equatable {
  case opened(ConnectionID, subprotocol: String?)
  case received(ConnectionID, String, MessageKind)
  case oversized(ConnectionID, Int)
  case droppedForMemory(ConnectionID)
  case drained(ConnectionID)
  case closed(ConnectionID)
  case requested(RequestID, String)
  case abandoned(RequestID)
  case woken
}

/// Events in the order in which they came, and a way to wait for one.
final class EventLog: @unchecked Sendable {
  // Unchecked: guarded by the mutex.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var events: [Event] = []

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func append(_ event: Event) {
    pthread_mutex_lock(mutex)
    events.append(event)
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// A copy that shares nothing: ThreadSanitizer does not see the counts of references by which the
  /// two could share.
  var all: [Event] {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return events.map(\.self)
  }

  /// Waits until what `find` looks for has happened.
  @discardableResult
  func wait<Found>(_ what: String, for find: (Event) -> Found?) throws -> Found {
    var limit = timespec()
    clock_gettime(CLOCK_REALTIME, &limit)
    limit.tv_sec += 120
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var seen = 0
    while true {
      while seen < events.count {
        if let found = find(events[seen]) { return found }
        seen += 1
      }
      guard pthread_cond_timedwait(condition, mutex, &limit) == 0 else {
        throw TestClient.Failure("\(what) did not come; there were \(events.suffix(20))")
      }
    }
  }

  func opened() throws -> ConnectionID {
    try wait("an opening") { if case .opened(let id, _) = $0 { id } else { nil } }
  }

  func closed(_ id: ConnectionID) throws {
    try wait("the closing of \(id)") { $0 == .closed(id) ? true : nil }
  }
}

/// A transport with an owner that tests can shape. Confined to the loop's thread once started.
final class TestServer: TransportDelegate, @unchecked Sendable {
  let log = EventLog()
  private(set) var transport: LibwebsocketsTransport!
  var port: Int { transport.boundPort }

  // Set before the start; called on the loop's thread.
  var onDecide: (RequestHead) -> UpgradeDecision
  var onReceived: (TestServer, ConnectionID, UnsafeRawBufferPointer, MessageKind) -> Void
  var onRequest: (TestServer, RequestID, RequestHead, [UInt8]) -> Void
  var onOversized: (TestServer, ConnectionID) -> Void = { _, _ in }
  var onCrowded: (TestServer, ConnectionID) -> Void = {
    $0.transport.close($1, code: CloseCode(4006), reason: "busy")
  }
  var onBody: (Int?, RequestHead) -> BodyDecision = { _, _ in .tooLong }
  var onIsHeld: (RequestID) -> Bool = { _ in false }
  var onOpened: (TestServer, ConnectionID, RequestHead) -> Void = { _, _, _ in }
  var onDrained: (TestServer, ConnectionID) -> Void = { _, _ in }
  var onWoken: (TestServer) -> Void = { _ in }
  var onTurnEnded: (TestServer) -> Bool = { _ in false }
  /// Milliseconds after which the next turn comes, unless it comes at once.
  var rest: Int?
  var onTicked: (TestServer) -> Void = { _ in }
  var open: [ConnectionID] = []
  /// Its number among the loops of a crew.
  let place: Int

  /// An echo server, unless told otherwise.
  init(
    in balancer: ConnectionBalancer? = nil, place: Int = 0,
    _ shape: (TestServer, inout LibwebsocketsTransport.Configuration) -> Void = { _, _ in }
  ) throws {
    self.place = place
    onDecide = {
      .accept(subprotocol: $0.headers["sec-websocket-protocol"] == nil ? nil : "parley.v1")
    }
    onReceived = { server, id, bytes, kind in
      server.transport.send(Frame(kind, payload: bytes), to: id)
    }
    onRequest = { server, id, head, body in
      server.transport.respond(
        to: id,
        with: Response(
          status: 200, headers: [("content-type", "text/plain")],
          body: Array("\(head.method) \(head.path) \(head.query) ".utf8) + body))
    }
    var configuration = LibwebsocketsTransport.Configuration()
    shape(self, &configuration)
    transport = LibwebsocketsTransport(
      configuration: configuration, delegate: self, balancer: balancer, place: place)
    try transport.start()
  }

  func stop() { transport.stop(within: 2000) }

  func decide(upgrade head: RequestHead) -> UpgradeDecision { onDecide(head) }
  func opened(_ connection: ConnectionID, head: RequestHead, subprotocol: String?) {
    open.append(connection)
    log.append(.opened(connection, subprotocol: subprotocol))
    onOpened(self, connection, head)
  }
  func received(
    _ connection: ConnectionID, message: UnsafeRawBufferPointer, kind: MessageKind
  ) {
    log.append(.received(connection, String(decoding: message.prefix(100), as: UTF8.self), kind))
    onReceived(self, connection, message, kind)
  }
  func oversized(_ connection: ConnectionID, bytesMax: Int) {
    log.append(.oversized(connection, bytesMax))
    onOversized(self, connection)
  }
  func droppedForMemory(_ connection: ConnectionID) {
    log.append(.droppedForMemory(connection))
    onCrowded(self, connection)
  }
  func decide(bodyOf byteCount: Int?, for head: RequestHead) -> BodyDecision {
    onBody(byteCount, head)
  }
  func isHeld(_ request: RequestID) -> Bool { onIsHeld(request) }
  func drained(_ connection: ConnectionID) {
    log.append(.drained(connection))
    onDrained(self, connection)
  }
  func closed(_ connection: ConnectionID) {
    open.removeAll { $0 == connection }
    log.append(.closed(connection))
  }
  func request(_ request: RequestID, head: RequestHead, body: [UInt8]) {
    log.append(.requested(request, "\(head.method) \(head.path)"))
    onRequest(self, request, head, body)
  }
  func abandoned(_ request: RequestID) { log.append(.abandoned(request)) }
  func woken() {
    log.append(.woken)
    onWoken(self)
  }
  func ticked() { onTicked(self) }
  func turnEnded() -> Int? { onTurnEnded(self) ? 0 : rest }

  /// Runs `body` on the loop's thread and returns its result.
  func onLoop<Result: Sendable>(_ body: @escaping @Sendable (TestServer) -> Result) throws -> Result
  {
    let box = Box<Result>()
    transport.mailbox.post {
      box.value = body(self)
      sem_post(&box.semaphore)
    }
    var limit = timespec()
    clock_gettime(CLOCK_REALTIME, &limit)
    limit.tv_sec += 120
    guard sem_timedwait(&box.semaphore, &limit) == 0, let value = box.value else {
      throw TestClient.Failure("the loop does not answer")
    }
    return value
  }

  private final class Box<Value>: @unchecked Sendable {
    var value: Value?
    var semaphore = sem_t()
    init() { sem_init(&semaphore, 0, 0) }
  }
}
