import ParleyJSON
public import Observation
package import ParleyClientCore
package import SocketMessages

/// A connection to a Parley server for an app: its notes and rooms, for the main actor.
///
///     @State private var parley = Parley("wss://notes.example.org", as: "Ann") {
///       try await Login.token()
///     }
///     …
///     TextEditor(text: Bindable(parley.note("n-1")).text)
///
/// It connects at once, and again after each loss, for as long as it is there. Nothing has to be
/// retried, resumed or queued by the app.
@MainActor @Observable public final class Parley {
  /// The connection's state.
  public private(set) var connection = ConnectionState.connecting
  /// The reason why the last attempt to connect failed, in words; `nil` once it succeeded.
  public private(set) var problem: String?
  /// The person that the server takes this client for: the user of the token. `nil` before the first
  /// connection, and where tokens have no users.
  public private(set) var personID: String?
  /// The features of the server beside notes, such as `typing`; `nil` before the first connection.
  public private(set) var capabilities: Set<String>?
  /// The person's name as shown to others.
  public private(set) var name: String
  /// The person's colour, `#rrggbb`.
  public private(set) var color: String?

  @ObservationIgnored private var driver: ClientDriver?
  @ObservationIgnored private var notes: [String: Note] = [:]
  @ObservationIgnored private var rooms: [String: Room] = [:]
  /// Callers that wait for answers from rooms that are closed.
  @ObservationIgnored private var publishing: [String: Publishing] = [:]
  @ObservationIgnored private var requests = PendingRequests()
  @ObservationIgnored private var resourceListeners = ResourceListeners()
  /// The server's clock at a time of this client's.
  @ObservationIgnored private var clock: (server: Int64, own: Int64)?
  @ObservationIgnored private var outputs: [ClientDriver.Output] = []
  /// Whether news of the machine are being shown just now.
  @ObservationIgnored private(set) var isShowing = false
  #if canImport(Network)
    @ObservationIgnored private var reachability: Reachability?
  #endif

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - address: The server's address, `wss://notes.example.org`; a malformed one shows in
  ///     ``problem``.
  ///   - name: The person's name as shown to others.
  ///   - color: The person's colour, `#rrggbb`.
  ///   - storage: A place for unconfirmed edits, such as ``FileStorage``. Without one they end with
  ///     the process.
  ///   - token: Gives a token before each connection, and before one ends. Without it the server has
  ///     to be an open one.
  public convenience init(
    _ address: String, as name: String, color: String? = nil,
    storage: any ClientStorage = MemoryStorage(), token: TokenSource? = nil
  ) {
    self.init(
      transport: SystemTransport(address), as: name, color: color, storage: storage, token: token)
  }

  /// Connects by a transport of yours.
  public init(
    transport: any ClientTransport, as name: String, color: String? = nil,
    storage: any ClientStorage = MemoryStorage(), time: any ClientTime = SystemTime(),
    token: TokenSource? = nil, seed: UInt64 = .random(in: .min ... .max)
  ) {
    self.name = name
    self.color = color
    let driver = ClientDriver(
      settings: ClientSettings(name: name, color: color, usesTokens: token != nil),
      transport: transport, storage: storage, time: time, token: token, seed: seed
    ) { [weak self] work in
      Task { @MainActor in
        if let event = await work() { self?.handle(event) }
      }
    }
    self.driver = driver
    driver.begin()
    handle(.core(.start))
    #if canImport(Network)
      reachability = Reachability { [weak self] in self?.networkChanged() }
    #endif
  }

  // MARK: Notes and rooms

  /// Returns a note, and opens it if it is not open.
  public func note(_ id: String) -> Note {
    if let note = notes[id] { return note }
    let note = Note(id: id, parley: self)
    notes[id] = note
    open(note)
    return note
  }

  /// Returns a room, and subscribes to it if that was not done.
  ///
  /// - Parameters:
  ///   - name: The room's name.
  ///   - isPresent: Whether this person is seen in it, and sees who else is.
  ///   - position: The place from which to hear what was published meanwhile; see
  ///     ``Room/position``. Counts for a room that is not open yet.
  public func room(
    _ name: String, isPresent: Bool = false, from position: RoomPosition? = nil
  ) -> Room {
    let known = rooms[name]
    let room = known ?? Room(name: name, parley: self)
    if !room.isApps {
      room.isApps = true
      room.isAppsPresent = isPresent
      follow(room, from: position, isNew: known == nil)
    }
    return room
  }

  /// The number of edits in open notes that the server has not confirmed.
  public var unsaved: Int { notes.values.reduce(0) { $0 + $1.unsaved } }

  func open(_ note: Note) { driver?.open(note.id) }

  func forget(_ note: Note) { if notes[note.id] === note { notes[note.id] = nil } }

  /// Subscribes to a room with the options of all its users.
  private func follow(_ room: Room, from position: RoomPosition?, isNew: Bool) {
    rooms[room.name] = room
    let isPresent = room.isAppsPresent || room.presentShares > 0
    guard isNew || room.isPresent != isPresent || room.state.isFailed else { return }
    room.isPresent = isPresent
    handle(.core(.room(room.name, .subscribe(isPresent: isPresent, from: position?.point))))
  }

  /// Opens a room for a part of the client, in addition to the app's own use of it, until the share
  /// is released.
  package func share(
    room name: String, isPresent: Bool = false, from position: RoomPosition? = nil
  ) -> RoomShare {
    let known = rooms[name]
    let room = known ?? Room(name: name, parley: self)
    room.shares += 1
    if isPresent { room.presentShares += 1 }
    follow(room, from: position, isNew: known == nil)
    return RoomShare(room: room, parley: self, isPresent: isPresent)
  }

  func release(_ room: Room, isPresent: Bool) {
    room.shares -= 1
    if isPresent { room.presentShares -= 1 }
    // One that the app has closed meanwhile is gone already.
    guard rooms[room.name] === room else { return }
    if room.shares == 0, !room.isApps {
      room.close()
    } else if isPresent {
      follow(room, from: nil, isNew: false)
    }
  }

  func forget(_ room: Room) {
    guard rooms[room.name] === room else { return }
    rooms[room.name] = nil
    if !room.publishing.isEmpty {
      publishing[room.name, default: Publishing()].merge(room.publishing)
    }
  }

  // MARK: What happens outside

  /// Connects again after ``stop()``, or after the server ended it for good.
  public func start() { handle(.core(.start)) }

  /// Ends the connection until ``start()``. Unconfirmed edits are stored now; notes can still be
  /// written in.
  public func stop() {
    handle(.core(.suspending))
    handle(.core(.stop))
  }

  /// Asks for a token again, after the person has signed in.
  ///
  /// It may be another person only while no edits of the former one wait: then notes and rooms
  /// continue as theirs. Otherwise the connection stops with ``StopCause/otherPerson``.
  public func signedIn() {
    stop()
    start()
  }

  /// The network is available again, or the device has woken up: the connection is probed, or
  /// opened at once. On Apple's systems changes of the network are noticed without this.
  public func networkChanged() { handle(.core(.reachable)) }

  /// The process may end soon: unconfirmed edits are stored now.
  public func willSuspend() { handle(.core(.suspending)) }

  /// The server's clock, in milliseconds since 1970; `nil` before the first connection. The
  /// device's clock, which may be wrong, does not count.
  public var serverTime: Int64? {
    guard let clock, let driver else { return nil }
    return clock.server + (driver.now - clock.own)
  }

  /// Changes the person's name and colour.
  public func rename(_ name: String, color: String? = nil) {
    self.name = name
    self.color = color
    handle(.core(.profile(name: name, color: color)))
  }

  // MARK: The machine

  var machine: ClientMachine? { driver?.view }

  /// Asks the server for something, and waits for the answer; while the server is not there, until it
  /// is. Up to 256 requests may wait.
  ///
  /// - Parameter read: What the request asks for, of its answer.
  package func ask<Answer>(
    _ request: RoomRequest, _ read: (RoomReply) -> Answer?
  ) async throws(RequestError) -> Answer {
    let (number, answer) = requests.next()
    handle(.core(.ask(request, as: number)))
    guard let result = await answer.next() else {
      requests.giveUp(number)
      handle(.core(.giveUp(number)))
      throw .cancelled
    }
    switch result {
    case .success(let reply):
      guard let answer = read(reply) else { throw RequestError(.refused(.badMessage)) }
      return answer
    case .failure(let failure): throw RequestError(failure)
    }
  }

  /// Publishes JSON in a room, which need not be open; see ``Room/publish(json:key:senderID:)``.
  package func publish(
    json: [UInt8], inRoom name: String, key: String?, senderID: String?, notifies: Bool
  ) async throws(PublishError) -> RoomPosition {
    if let room = rooms[name] {
      return try await room.publish(
        json: json, key: key, senderID: senderID, notifies: notifies)
    }
    guard let data = JSONValue(json) else { throw .notJSON }
    let key = key ?? RoomScreen.newKey()
    let answer = publishing[name, default: Publishing()].wait(for: key)
    let publication = ClientMessage.Publish(
      room: name, data: data, key: key, senderID: senderID, pushes: notifies)
    handle(.core(.room(name, .publish(publication, key: key))))
    guard let result = await answer.next() else { throw .cancelled }
    return try result.get()
  }

  /// The place of the newest publication of a room that is open.
  package func position(inRoom name: String) -> RoomPosition? { rooms[name]?.position }

  /// Says that a publication has come so far with this person.
  package func confirm(_ offset: Int, _ stage: ReceiptStage, inRoom name: String) {
    handle(.core(.room(name, .receipt(offset: Int64(offset), stage))))
  }

  /// Tells an object of resources that have changed. It is not kept.
  package func add(_ listener: any ResourceListener) { resourceListeners.add(listener) }

  func handle(_ event: ClientDriver.Event) {
    guard let driver else { return }
    outputs += driver.handle(event)
    // A view's actions while news are shown come after them.
    guard !isShowing else { return }
    isShowing = true
    defer { isShowing = false }
    var index = 0
    while index < outputs.count {
      show(outputs[index])
      index += 1
    }
    outputs.removeAll(keepingCapacity: true)
  }

  private func show(_ output: ClientDriver.Output) {
    switch output {
    case .line(let state):
      let state = ConnectionState(state)
      if connection != state { connection = state }
    case .note(let id, let action): notes[id]?.take(action)
    case .room(let name, let action):
      rooms[name]?.take(action)
      publishing[name]?.take(action)
      if publishing[name]?.isEmpty == true { publishing[name] = nil }
    case .welcome(let welcome): welcomed(welcome)
    case .resource(let id, let sender): resourceListeners.tell(of: id, by: sender)
    case .answer(let number, let answer): requests.answer(number, answer)
    case .problem(let reason): if problem != reason { problem = reason }
    case .unreadable(let id, let reason): notes[id]?.fail(reason)
    }
  }

  private func welcomed(_ welcome: ServerMessage.Welcome) {
    clock = (welcome.serverTime, driver?.now ?? 0)
    if personID != welcome.personID { personID = welcome.personID }
    let offered = Set(welcome.capabilities)
    if capabilities != offered { capabilities = offered }
  }
}
