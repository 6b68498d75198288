import OTCore
package import ParleyClientCore
import SocketMessages

/// A connection to a Parley server for servers, bots and command lines: like ``Parley``, but
/// without the main actor and without observable models. ``ParleyConnecting`` has the functions of
/// both.
///
///     let service = ParleyService("wss://notes.example.org", as: "bot") { try await keys.token() }
///     let note = await service.note("n-1")
///     try await note.append("done\n")  // Returns once the server has stored it on its disk.
public actor ParleyService {
  /// The connection's state.
  public private(set) var connection = ConnectionState.connecting
  /// The reason why there is no connection, as text; see ``Parley/problem``.
  public private(set) var problem: String?

  /// The service's id according to the server: the token's user; see ``Parley/personID``.
  public private(set) var personID: String?
  /// The server's features beside notes, such as `typing`; `nil` before the first connection.
  public private(set) var capabilities: Set<String>?
  /// The name shown to others.
  public private(set) var name: String
  /// The colour, `#rrggbb`.
  public private(set) var color: String?
  /// Requests about notes, which need not be open: from creation to deletion.
  public nonisolated let notes: NoteRequests

  private let driver: ClientDriver
  private var screens: [String: NoteScreen] = [:]
  private var rooms: [String: RoomScreen] = [:]
  /// Callers that wait for answers from closed rooms.
  private var publishing: [String: Publishing] = [:]
  private var requests = PendingRequests()
  /// The server's time at the last welcome, and this client's time then.
  private var clock: (server: Int64, own: Int64)?
  private var states = Feeds<ConnectionState>()

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The server's address, `wss://notes.example.org`.
  ///   - name: The name shown to others.
  ///   - storage: The storage for unconfirmed edits, such as ``FileStorage``.
  ///   - timeout: Maximum time for which an `await` continues without a connection. It then throws
  ///     `noAnswer`; edits and publications remain queued. With a connection, but without an answer,
  ///     it is four times as long.
  ///   - token: Returns a token before each connection, and before a token ends.
  ///   - log: Receives the client's log entries.
  public init(
    _ address: String, as name: String, storage: any ClientStorage = MemoryStorage(),
    timeout: Duration = .seconds(30), token: TokenSource? = nil, log: ClientLog? = nil
  ) {
    let transport = SystemTransport(address)
    self.init(
      transport: transport, requests: transport, as: name, storage: storage, timeout: timeout,
      token: token,
      log: log)
  }

  /// Connects by a custom transport.
  ///
  /// - Parameter requests: Sends the requests of ``notes``; without it they fail.
  public init(
    transport: any ClientTransport, requests: (any RequestTransport)? = nil, as name: String,
    storage: any ClientStorage = MemoryStorage(),
    time: any ClientTime = SystemTime(), timeout: Duration = .seconds(30),
    token: TokenSource? = nil,
    log: ClientLog? = nil, seed: UInt64 = .random(in: .min ... .max)
  ) {
    self.name = name
    notes = NoteRequests(
      sender: RequestSender(transport: requests, token: token, timeout: timeout))
    let relay = Relay()
    driver = ClientDriver(
      settings: ClientSettings(name: name, usesTokens: token != nil), transport: transport,
      storage: storage, time: time, token: token, timeout: timeout, log: log, seed: seed
    ) { work in
      Task {
        if let event = await work() { await relay.service?.handle(event) }
      }
    }
    relay.service = self
    Task { [weak self] in await self?.begin() }
  }

  private func begin() {
    driver.begin()
    handle(.core(.start))
  }

  /// Returns a note, and opens it if it is not open.
  public func note(_ id: String) -> ServiceNote { note(id, formats: false) }

  /// Returns a note, and opens it if it is not open.
  ///
  /// - Parameter formats: Whether the service reads and changes the note's formatting. Ignored for
  ///   an open note.
  public func note(_ id: String, formats: Bool) -> ServiceNote {
    if screens[id] == nil {
      screens[id] = NoteScreen(hasFormats: formats)
      driver.open(id, formats: screens[id]?.hasFormats ?? false)
    }
    return ServiceNote(id: id, service: self)
  }

  /// Returns a room, and subscribes to it if necessary.
  ///
  /// - Parameters:
  ///   - name: The room's name.
  ///   - isPresent: Whether the service is shown as present.
  ///   - position: The position after which missed publications are replayed. Ignored for an open
  ///     room.
  public func room(
    _ name: String, isPresent: Bool = false, from position: RoomPosition? = nil
  ) -> ServiceRoom {
    if rooms[name] == nil {
      rooms[name] = RoomScreen()
      handle(.core(.room(name, .subscribe(isPresent: isPresent, from: position?.point))))
    }
    return ServiceRoom(name: name, service: self)
  }

  /// The connection's states, starting with the current one. Only the newest is buffered.
  public var connections: Updates<ConnectionState> {
    let feed = Feed<ConnectionState>(bound: 1)
    feed.put(connection) { Array($0) }
    states.add(feed)
    return Updates(feed: feed, owner: self)
  }

  /// Reconnects after ``stop()``, or after the server has ended the connection for good.
  public func start() { handle(.core(.start)) }

  /// Ends the connection until ``start()``. Unconfirmed edits remain in the storage.
  public func stop() {
    handle(.core(.suspending))
    handle(.core(.stop))
  }

  /// Requests a new token after the person has signed in; see ``Parley/signedIn()``.
  public func signedIn() {
    stop()
    start()
  }

  /// Probes the connection, or opens one at once: the network is available again.
  public func networkChanged() { handle(.core(.reachable)) }

  /// Stores unconfirmed edits now, because the process may end soon.
  public func willSuspend() { handle(.core(.suspending)) }

  /// The server's time in milliseconds since 1970; `nil` before the first connection.
  public var serverTime: Int64? { clock.map { $0.server + (driver.now - $0.own) } }

  /// The number of edits in open notes that the server has not confirmed.
  public var unsaved: Int { screens.values.reduce(0) { $0 + $1.status.unconfirmed } }

  /// Changes the name and colour shown to others.
  public func rename(_ name: String, color: String? = nil) {
    self.name = name
    self.color = color
    handle(.core(.profile(name: name, color: color)))
  }

  // MARK: The machine

  func handle(_ event: ClientDriver.Event) {
    for output in driver.handle(event) {
      switch output {
      case .line(let state):
        connection = ConnectionState(state)
        states.put(connection) { Array($0.suffix(1)) }
      case .note(let id, let action):
        let people = driver.view?.people(in: id) ?? []
        _ = screens[id]?.take(action) { client in people.first { $0.clientID == client }?.name }
      case .room(let name, let action):
        rooms[name]?.take(action)
        publishing[name]?.take(action)
        if publishing[name]?.isEmpty == true { publishing[name] = nil }
      case .welcome(let welcome):
        clock = (welcome.serverTime, driver.now)
        personID = welcome.personID
        capabilities = Set(welcome.capabilities)
      case .answer(let number, let answer): requests.answer(number, answer)
      case .resource: break
      case .problem(let reason): problem = reason
      case .unreadable(let id, let reason): screens[id]?.fail(reason)
      }
    }
  }

  /// Sends a request and waits for the answer; see ``Parley/ask(_:_:)``.
  package func ask<Answer: Sendable>(
    _ request: RoomRequest, _ read: @Sendable (RoomReply) -> Answer?
  ) async throws(RequestError) -> Answer {
    let (number, answer) = requests.next()
    handle(.core(.ask(request, as: number)))
    let wait = driver.beginWait(on: answer)
    let result = await answer.next()
    let reason = driver.endWait(wait)
    guard let result else {
      requests.giveUp(number)
      handle(.core(.giveUp(number)))
      throw reason.map { .noAnswer($0) } ?? .cancelled
    }
    switch result {
    case .success(let reply):
      guard let answer = read(reply) else { throw RequestError(.refused(.badMessage)) }
      return answer
    case .failure(let failure): throw RequestError(failure)
    }
  }

  // MARK: Notes

  func participants(in id: String) -> [Participant] {
    guard let document = screens[id]?.document else { return [] }
    return (driver.view?.people(in: id) ?? []).map {
      Participant(
        id: $0.clientID, personID: $0.hasOwnID ? $0.personID : nil, name: $0.name,
        color: $0.color,
        selections: $0.selections.map { document.selection($0) }, isWriting: $0.isWriting)
    }
  }

  func select(_ selections: [TextSelection], in id: String) {
    guard let document = screens[id]?.document else { return }
    send(.select(selections.map { document.selection($0) }), to: id)
  }

  func reopen(_ id: String) {
    guard screens[id]?.unreadable != nil else { return send(.reopen, to: id) }
    screens[id]?.clearFailure()
    driver.open(id, formats: screens[id]?.hasFormats ?? false)
  }

  func screen(of id: String) -> NoteScreen { screens[id] ?? .closed }

  func updateFeed(of id: String) -> Feed<NoteUpdate> {
    screens[id]?.updateFeed() ?? .finished
  }

  func wait(
    for id: String, until isDone: @Sendable (NoteScreen) throws(NoteError) -> Bool
  ) async throws(NoteError) {
    if try isDone(screen(of: id)) { return }
    guard let states = screens[id]?.stateFeed() else { throw .closed }
    let wait = driver.beginWait(on: states)
    defer { _ = driver.endWait(wait) }
    while try !isDone(screen(of: id)) {
      guard await states.next() == nil else { continue }
      if let reason = driver.endWait(wait) { throw .noAnswer(reason) }
      throw screens[id] == nil ? .closed : .cancelled
    }
  }

  func edit(
    _ id: String, _ make: @Sendable (inout NoteScreen) throws(NoteError) -> RichOperation?
  ) throws(NoteError) {
    guard var screen = screens[id] else { throw .closed }
    let operation = try make(&screen)
    screens[id] = screen
    if let operation { handle(.core(.note(id, .edit(operation)))) }
  }

  func send(_ event: NoteEvent, to id: String) { handle(.core(.note(id, event))) }

  func close(note id: String) {
    handle(.core(.note(id, .leave)))
    var screen = screens.removeValue(forKey: id)
    screen?.close()
  }

  // MARK: Rooms

  func state(ofRoom name: String) -> RoomState { rooms[name]?.state ?? .closed }

  func participants(inRoom name: String) -> [Participant] {
    let typing = driver.view?.typists(inRoom: name) ?? []
    return (driver.view?.people(inRoom: name) ?? []).map {
      Participant(
        id: $0.personID.text, personID: $0.personID.text, name: $0.name, color: $0.color,
        selections: [],
        isWriting: typing.contains($0.personID.text))
    }
  }

  func set(isTyping: Bool, in name: String) { handle(.core(.room(name, .typing(isTyping)))) }

  func position(in name: String) -> RoomPosition? { rooms[name]?.position }

  func updates(ofRoom name: String) -> Updates<RoomUpdate> {
    Updates(
      feed: rooms[name]?.updateFeed() ?? .finished, owner: self,
      started: rooms[name]?.startFeed())
  }

  func opened(room name: String) async throws(RoomError) {
    guard let room = rooms[name] else { throw .closed }
    if try room.isOpened() { return }
    guard let states = rooms[name]?.stateFeed() else { throw .closed }
    let wait = driver.beginWait(on: states)
    defer { _ = driver.endWait(wait) }
    while let room = rooms[name] {
      if try room.isOpened() { return }
      guard await states.next() == nil else { continue }
      if let reason = driver.endWait(wait) { throw .noAnswer(reason) }
      throw rooms[name] == nil ? .closed : .cancelled
    }
    throw .closed
  }

  func publish(
    _ json: [UInt8], in name: String, key: String?, senderID: String?
  ) async throws(PublishError) -> RoomPosition {
    guard var screen = rooms[name] else { throw .closed }
    let key = key ?? RoomScreen.newKey()
    let (event, answer) = try screen.publish(json, in: name, key: key, senderID: senderID)
    rooms[name] = screen
    handle(.core(.room(name, event)))
    let wait = driver.beginWait(on: answer)
    let result = await answer.next()
    let reason = driver.endWait(wait)
    guard let result else { throw reason.map { .noAnswer($0) } ?? .cancelled }
    return try result.get()
  }

  func close(room name: String) {
    handle(.core(.room(name, .unsubscribe)))
    guard var room = rooms.removeValue(forKey: name) else { return }
    room.close()
    guard !room.publishing.isEmpty else { return }
    publishing[name, default: Publishing()].merge(room.publishing)
  }
}

/// Passes events to the service, which may have been released meanwhile.
private final class Relay: @unchecked Sendable {
  // Set once, before any task that reads it starts.
  weak var service: ParleyService?
}

extension Feed {
  /// A feed that has ended.
  static var finished: Feed {
    let feed = Feed(bound: 1)
    feed.finish()
    return feed
  }
}
