public import ParleyClient
public import ParleyDialectModels
import ParleyJSON
import ParleyModel
import ParleySocketIO
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A connection to a server of the Twake family over Socket.IO, for the cubits of an app. Its state
/// is observed as that of any cubit.
///
///     let socket = TwakeSocket("https://chat.example.org", globals: globals) {
///       try await authentication.freshToken()
///     }
///     socket.start()
///     Task { await messages.listen(to: socket.events) }
///     try await socket.join("previous::channels/\(id)/messages/updates")
///
/// A lost connection is reopened, and its rooms are joined again. Parley then sends the events
/// since the last one. If a server cannot do this, the event `missed` makes the cubits fetch again.
@MainActor public final class TwakeSocket: Cubit<TwakeSocketState> {
  /// Returns the token of a room; `nil` if the user's own rights are sufficient.
  public typealias RoomTokenSource = @Sendable (_ room: String) async throws -> String?

  /// Called when the server refuses an event, when it refuses a room after the join (for example
  /// because a right was revoked), and when the token function of rooms fails.
  public var onProblem: (@MainActor (TwakeSocketError) -> Void)?

  private let transport: any ClientTransport
  private let token: TokenSource?
  private let roomToken: RoomTokenSource?
  private let globals: Globals?
  private let time: any ClientTime
  private let timeout: Duration
  private var session: TwakeSession
  /// Events that arrived while another one was handled.
  private var waiting: [TwakeSession.Event] = []
  private var isHandling = false
  private var connection: (any ClientConnection)?
  /// The reason why the last connection was lost; `nil` after a success.
  private var problem: String?
  /// The number of token requests and sign-outs: a token that arrives after another user has signed
  /// in is dropped.
  private var tokenCount = 0
  private let tasks = SocketTasks()
  private let followers = EventFollowers()
  /// The callers that wait for a room.
  private var joining: [(room: ExactName, feed: Feed<Result<Void, TwakeSocketError>>)] = []
  /// The callers that wait for an answer.
  private var asking: [Int: Feed<[JSONValue]>] = [:]

  /// Creates a socket, which connects after ``start()``.
  ///
  /// - Parameters:
  ///   - address: The server's address; the socket is below it, at `/socket/`.
  ///   - globals: The app's values; the socket sets `isNetworkConnected`.
  ///   - timeout: The longest wait for a connection, an answer or a token.
  ///   - roomToken: Returns the token of a room, before each join.
  ///   - token: Returns the user's token, before each connection. Without it, the server must be an
  ///     open demo.
  public convenience init(
    _ address: String, globals: Globals? = nil, timeout: Duration = .seconds(30),
    roomToken: RoomTokenSource? = nil, token: TokenSource?
  ) {
    let endpoint = SystemTransport.Endpoint(path: "socket/", query: SocketClient.query)
    self.init(
      SystemTransport(address, trusting: nil, endpoint: endpoint), globals: globals,
      timeout: timeout, roomToken: roomToken, token: token)
  }

  /// Creates a socket over a custom transport, whose connections are WebSockets at the server's
  /// `/socket/?EIO=4&transport=websocket`.
  public init(
    _ transport: any ClientTransport, globals: Globals? = nil, timeout: Duration = .seconds(30),
    time: any ClientTime = SystemTime(), roomToken: RoomTokenSource? = nil, token: TokenSource?
  ) {
    self.transport = transport
    self.globals = globals
    self.timeout = timeout
    self.time = time
    self.roomToken = roomToken
    self.token = token
    session = TwakeSession(seed: .random(in: .min ... .max))
    super.init(.stopped)
  }

  // MARK: The connection

  /// Connects, and reconnects after each loss. Call it again after the user has signed in.
  public func start() { handle(.start) }

  /// Ends the connection until ``start()``. Rooms remain, and are joined again.
  public func stop() { handle(.stop) }

  /// Reconnects at once, because the network is available or the device woke up.
  public func networkChanged() { handle(.reachable) }

  // MARK: Events

  /// The events of all joined rooms, from now on, for one loop. A reader that is more than 1,000
  /// events behind receives `missed` in their place. The stream ends with its task, or with the
  /// socket.
  public var events: AsyncStream<DomainEvent> {
    let feed = followers.add()
    return AsyncStream { await feed.next() }
  }

  /// Joins a room, and waits until its events arrive. The room is joined again after each loss of
  /// the connection, even if this call throws `unreachable` or `cancelled`.
  ///
  /// - Throws: `roomRefused` if the server refuses it; the room is then forgotten.
  public func join(_ room: String) async throws(TwakeSocketError) {
    if session.isJoined(room) { return }
    guard session.canJoin(room) else { throw .tooManyRooms }
    if let problem = stopReason { throw problem }
    let feed = Feed<Result<Void, TwakeSocketError>>(bound: 1)
    joining.append((ExactName(room), feed))
    handle(.join(room: room))
    defer { joining.removeAll { $0.feed === feed } }
    try await first(of: feed).get()
  }

  /// Leaves a room.
  public func leave(_ room: String) {
    handle(.leave(room: room))
    end(room, .failure(.left))
  }

  /// Sends an event to a room, such as that the user is writing. Without a connection it throws.
  /// A refusal of the server is reported to ``onProblem``.
  public func send(_ data: some Encodable, to room: String) async throws(TwakeSocketError) {
    guard let bytes = try? JSONEncoder().encode(data), let json = JSONValue(bytes) else {
      throw .notJSON
    }
    let token = try? await roomToken?(room)
    guard let frame = session.frame(of: json, in: room, token: token) else { throw offline }
    connection?.send(frame)
  }

  /// Returns whether users are online.
  public func online(_ users: [String]) async throws(TwakeSocketError) -> [String: Bool] {
    guard let (id, frame) = session.requestOnline(users) else { throw offline }
    let feed = Feed<[JSONValue]>(bound: 1)
    asking[id] = feed
    connection?.send(frame)
    defer { asking[id] = nil }
    let pairs = try await first(of: feed).first?.fields?["data"]?.elements ?? []
    var online: [String: Bool] = [:]
    for pair in pairs.compactMap(\.elements) where pair.count == 2 {
      if let user = pair[0].string { online[user] = pair[1].boolean ?? false }
    }
    return online
  }

  /// Whether a caller waits for a room.
  package var isWaiting: Bool { !joining.isEmpty }

  /// Returns the first element of a feed; throws if none arrives within the timeout.
  private func first<Element: Sendable>(
    of feed: Feed<Element>
  ) async throws(TwakeSocketError) -> Element {
    let (milliseconds, time) = (Int64(timeout / .milliseconds(1)), time)
    let alarm = Task {
      await time.wait(until: time.now + milliseconds)
      feed.finish()
    }
    defer { alarm.cancel() }
    if let element = await feed.next() { return element }
    throw Task.isCancelled ? .cancelled : offline
  }

  private var stopReason: TwakeSocketError? {
    switch state {
    case .stopped: .stopped
    case .refused(let error): error
    case .connecting, .online, .waiting: nil
    }
  }

  private var offline: TwakeSocketError {
    switch state {
    case .stopped: .stopped
    case .refused(let error): error
    case .waiting(let problem): .unreachable(problem)
    case .connecting: .unreachable(problem ?? "a connection is being opened")
    case .online: .unreachable("the server does not answer")
    }
  }

  // MARK: The machine

  private func handle(_ event: TwakeSession.Event) {
    waiting.append(event)
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while !waiting.isEmpty {
      for action in session.handle(waiting.removeFirst(), now: time.now) { perform(action) }
    }
  }

  private func perform(_ action: TwakeSession.Action) {
    switch action {
    case .needToken: fetchToken()
    case .open(let attempt): open(attempt)
    case .send(let bytes): connection?.send(bytes)
    case .close:
      tasks.set(.opening, nil)
      tasks.set(.reading, nil)
      connection?.close()
      connection = nil
      for feed in asking.values { feed.finish() }
    case .state(let state):
      emit(state)
      switch state {
      case .waiting(let reason): problem = reason
      case .online, .stopped: problem = nil
      case .connecting, .refused: break
      }
      globals?.set { $0.isNetworkConnected = state == .online }
      if let reason = stopReason {
        tokenCount += 1
        for (_, feed) in joining { feed.put(.failure(reason)) { Array($0) } }
      }
    case .needRoomToken(let room): fetchToken(of: room)
    case .joined(let room): end(room, .success(()))
    case .failed(let error):
      if case .roomRefused(let room, _) = error { end(room, .failure(error)) }
      onProblem?(error)
    case .event(let event): followers.tell(event)
    case .answered(let id, let arguments): asking[id]?.put(arguments) { Array($0) }
    case .wake(let at): wake(at)
    }
  }

  private func end(_ room: String, _ result: Result<Void, TwakeSocketError>) {
    for (name, feed) in joining where name == ExactName(room) { feed.put(result) { Array($0) } }
  }

  private func fetchToken() {
    guard let token else { return handle(.token("")) }
    tokenCount += 1
    Task { [weak self, tokenCount] in
      let event: TwakeSession.Event
      do { event = .token(try await token()) } catch {
        event = .tokenFailed("the token function failed: \(error)")
      }
      if self?.tokenCount == tokenCount { self?.handle(event) }
    }
  }

  private func fetchToken(of room: String) {
    guard let roomToken else { return handle(.roomToken(room: room, nil)) }
    Task { [weak self] in
      var token: String?
      do { token = try await roomToken(room) } catch {
        self?.onProblem?(.roomTokenFailed(room: room, "\(error)"))
      }
      // Without a token the server decides by the user's own rights.
      self?.handle(.roomToken(room: room, token))
    }
  }

  private func open(_ attempt: Int) {
    let task = Task { [weak self, transport] in
      do {
        let connection = try await transport.open()
        guard let self, session.attempt == attempt else { return connection.close() }
        self.connection = connection
        handle(.opened(attempt: attempt))
        read(connection, attempt)
      } catch {
        self?.handle(.ended(attempt: attempt, "\(error)"))
      }
    }
    tasks.set(.opening, task)
  }

  private func read(_ connection: any ClientConnection, _ attempt: Int) {
    let task = Task { [weak self] in
      do throws(ConnectionEnd) {
        while !Task.isCancelled {
          let bytes = try await connection.receive()
          self?.handle(.received(attempt: attempt, bytes))
        }
      } catch {
        self?.handle(.ended(attempt: attempt, "the connection ended with code \(error.code)"))
      }
    }
    tasks.set(.reading, task)
  }

  private func wake(_ at: Int64?) {
    guard let at else { return tasks.set(.timer, nil) }
    let task = Task { [weak self, time] in
      await time.wait(until: at)
      if !Task.isCancelled { self?.handle(.wake) }
    }
    tasks.set(.timer, task)
  }
}

/// The tasks of a socket, which end with it.
private final class SocketTasks: Sendable {
  enum Slot { case opening, reading, timer }

  private let tasks = Mutex<[Slot: Task<Void, Never>]>([:])

  deinit { for task in tasks.withLock({ $0.values.map { $0 } }) { task.cancel() } }

  /// Cancels the former task of a slot, and retains the new one.
  func set(_ slot: Slot, _ task: Task<Void, Never>?) {
    let former = tasks.withLock { tasks in
      let former = tasks[slot]
      tasks[slot] = task
      return former
    }
    former?.cancel()
  }
}

/// The streams of a socket's events, which end with it.
private final class EventFollowers: Sendable {
  private struct Follower { weak var feed: Feed<DomainEvent>? }

  /// Maximum events that wait for a slow reader; beyond it, `missed` replaces them.
  private static let eventsMax = 1_000
  private let followers = Mutex<[Follower]>([])

  deinit { for feed in feeds { feed.finish() } }

  private var feeds: [Feed<DomainEvent>] { followers.withLock { $0.compactMap(\.feed) } }

  func add() -> Feed<DomainEvent> {
    let feed = Feed<DomainEvent>(bound: Self.eventsMax)
    followers.withLock { followers in
      followers.removeAll { $0.feed == nil }
      followers.append(Follower(feed: feed))
    }
    return feed
  }

  func tell(_ event: DomainEvent) {
    for feed in feeds { feed.put(event) { _ in [.missed(place: nil)] } }
  }
}
