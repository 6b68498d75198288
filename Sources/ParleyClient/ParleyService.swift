import OTCore
import ParleyClientCore

/// A connection to a Parley server for servers, bots and command lines: like ``Parley``, but
/// without the main actor and without observable models.
///
///     let service = ParleyService("wss://notes.example.org", as: "bot") { try await keys.token() }
///     let note = await service.note("n-1")
///     try await note.append("done\n")  // Returns once the server has stored it on its disk.
public actor ParleyService {
  /// The connection's state.
  public private(set) var connection = ConnectionState.connecting
  /// The reason why the last attempt to connect failed, as text; `nil` after a success.
  public private(set) var problem: String?

  private let driver: ClientDriver
  private var notes: [String: NoteScreen] = [:]
  private var rooms: [String: RoomScreen] = [:]
  /// Callers that wait for answers from closed rooms.
  private var publishing: [String: Publishing] = [:]
  private var states = Feeds<ConnectionState>()

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The server's address, `wss://notes.example.org`.
  ///   - name: The name shown to others.
  ///   - storage: The storage for unconfirmed edits, such as ``FileStorage``.
  ///   - token: Returns a token before each connection, and before a token ends.
  public init(
    _ address: String, as name: String, storage: any ClientStorage = MemoryStorage(),
    token: TokenSource? = nil
  ) {
    self.init(
      transport: SystemTransport(address), as: name, storage: storage, token: token)
  }

  /// Connects by a custom transport.
  public init(
    transport: any ClientTransport, as name: String, storage: any ClientStorage = MemoryStorage(),
    time: any ClientTime = SystemTime(), token: TokenSource? = nil,
    seed: UInt64 = .random(in: .min ... .max)
  ) {
    let relay = Relay()
    driver = ClientDriver(
      settings: ClientSettings(name: name, usesTokens: token != nil), transport: transport,
      storage: storage, time: time, token: token, seed: seed
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
  public func note(_ id: String) -> ServiceNote {
    if notes[id] == nil {
      notes[id] = NoteScreen()
      driver.open(id)
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

  /// Ends the connection for good. Unconfirmed edits remain in the storage.
  public func stop() {
    handle(.core(.suspending))
    handle(.core(.stop))
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
        _ = notes[id]?.take(action) { client in people.first { $0.clientID == client }?.name }
      case .room(let name, let action):
        rooms[name]?.take(action)
        publishing[name]?.take(action)
        if publishing[name]?.isEmpty == true { publishing[name] = nil }
      case .welcome, .resource, .answer: break
      case .problem(let reason): problem = reason
      case .unreadable(let id, let reason): notes[id]?.fail(reason)
      }
    }
  }

  // MARK: Notes

  func screen(of id: String) -> NoteScreen { notes[id] ?? .closed }

  func updateFeed(of id: String) -> Feed<NoteUpdate> {
    notes[id]?.updateFeed() ?? .finished
  }

  func wait(
    for id: String, until isDone: @Sendable (NoteScreen) throws(NoteError) -> Bool
  ) async throws(NoteError) {
    guard let states = notes[id]?.stateFeed() else { throw .closed }
    while try !isDone(screen(of: id)) {
      guard await states.next() != nil else { throw notes[id] == nil ? .closed : .cancelled }
    }
  }

  func edit(
    _ id: String, _ make: @Sendable (inout NoteScreen) throws(NoteError) -> TextOperation?
  ) throws(NoteError) {
    guard var screen = notes[id] else { throw .closed }
    let operation = try make(&screen)
    notes[id] = screen
    if let operation { handle(.core(.note(id, .edit(operation)))) }
  }

  func send(_ event: NoteEvent, to id: String) { handle(.core(.note(id, event))) }

  func close(note id: String) {
    handle(.core(.note(id, .leave)))
    notes[id] = nil
  }

  // MARK: Rooms

  func position(in name: String) -> RoomPosition? { rooms[name]?.position }

  func updates(ofRoom name: String) -> Updates<RoomUpdate> {
    Updates(
      feed: rooms[name]?.updateFeed() ?? .finished, owner: self,
      started: rooms[name]?.startFeed())
  }

  func opened(room name: String) async throws(NoteTrouble) {
    guard let states = rooms[name]?.stateFeed() else { return }
    while let room = rooms[name], try !room.isOpened() {
      guard await states.next() != nil else { return }
    }
  }

  func publish(
    _ json: [UInt8], in name: String, key: String?, senderID: String?
  ) async throws(PublishError) -> RoomPosition {
    guard var screen = rooms[name] else { throw .closed }
    let key = key ?? RoomScreen.newKey()
    let (event, answer) = try screen.publish(json, in: name, key: key, senderID: senderID)
    rooms[name] = screen
    handle(.core(.room(name, event)))
    guard let result = await answer.next() else { throw .cancelled }
    return try result.get()
  }

  func close(room name: String) {
    handle(.core(.room(name, .unsubscribe)))
    guard let room = rooms.removeValue(forKey: name), !room.publishing.isEmpty else { return }
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
