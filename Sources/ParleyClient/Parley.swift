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
/// It connects at once, and reconnects after each loss while the object exists. The app does not
/// have to retry, resume or queue anything.
@MainActor @Observable public final class Parley {
  /// The connection's state.
  public private(set) var connection = ConnectionState.connecting
  /// The reason why there is no connection, as text: the token function failed, a token was refused,
  /// or the server could not be reached. `nil` once the server has accepted the client.
  public private(set) var problem: String?
  /// The person's id according to the server: the token's user. `nil` before the first connection,
  /// and if tokens have no users.
  public private(set) var personID: String?
  /// The server's features beside notes, such as `typing`; `nil` before the first connection.
  public private(set) var capabilities: Set<String>?
  /// The person's name as shown to others.
  public private(set) var name: String
  /// The person's colour, `#rrggbb`.
  public private(set) var color: String?
  /// The number of edits in open notes that the server has not confirmed.
  public private(set) var unsaved = 0

  /// Requests about notes, which need not be open: from creation to deletion.
  public nonisolated let notes: NoteRequests

  @ObservationIgnored private var driver: ClientDriver?
  @ObservationIgnored private var openNotes: [String: Note] = [:]
  @ObservationIgnored private var rooms: [String: Room] = [:]
  /// Callers that wait for answers from closed rooms.
  @ObservationIgnored private var publishing: [String: Publishing] = [:]
  @ObservationIgnored private var requests = PendingRequests()
  @ObservationIgnored private var states = Feeds<ConnectionState>()
  @ObservationIgnored private var resourceListeners = ResourceListeners()
  /// The server's time at the last welcome, and this client's time then.
  private var clock: (server: Int64, own: Int64)?
  @ObservationIgnored private var outputs: [ClientDriver.Output] = []
  /// Whether outputs of the machine are being shown.
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
  ///   - storage: The storage for unconfirmed edits, such as ``FileStorage``. The default one ends
  ///     with the process.
  ///   - timeout: Maximum time for which an `await` continues without a connection. It then throws
  ///     `noAnswer`; edits and publications remain queued. With a connection, but without an answer,
  ///     it is four times as long.
  ///   - token: Returns a token before each connection, and before a token ends. Without it, the
  ///     server must accept clients without tokens.
  ///   - log: Receives the client's log entries.
  public convenience init(
    _ address: String, as name: String, color: String? = nil,
    storage: any ClientStorage = MemoryStorage(), timeout: Duration = .seconds(30),
    token: TokenSource? = nil, log: ClientLog? = nil
  ) {
    let transport = SystemTransport(address)
    self.init(
      transport: transport, requests: transport, as: name, color: color, storage: storage,
      timeout: timeout, token: token, log: log)
  }

  /// Connects by a custom transport.
  ///
  /// - Parameter requests: Sends the requests of ``notes``; without it they fail.
  public init(
    transport: any ClientTransport, requests: (any RequestTransport)? = nil, as name: String,
    color: String? = nil,
    storage: any ClientStorage = MemoryStorage(), time: any ClientTime = SystemTime(),
    timeout: Duration = .seconds(30), token: TokenSource? = nil, log: ClientLog? = nil,
    seed: UInt64 = .random(in: .min ... .max)
  ) {
    self.name = name
    self.color = color
    notes = NoteRequests(
      sender: RequestSender(transport: requests, token: token, timeout: timeout))
    let driver = ClientDriver(
      settings: ClientSettings(name: name, color: color, usesTokens: token != nil),
      transport: transport, storage: storage, time: time, token: token, timeout: timeout, log: log,
      seed: seed
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
  public func note(_ id: String) -> Note { note(id, formats: false) }

  /// Returns a note, and opens it if it is not open.
  ///
  /// - Parameter formats: Whether the app shows and changes the note's formatting. Ignored for an
  ///   open note.
  public func note(_ id: String, formats: Bool) -> Note {
    if let note = openNotes[id] { return note }
    let note = Note(id: id, formats: formats, parley: self)
    openNotes[id] = note
    open(note)
    return note
  }

  /// Returns a room, and subscribes to it if necessary.
  ///
  /// - Parameters:
  ///   - name: The room's name.
  ///   - isPresent: Whether this person is shown as present, and receives the room's presence.
  ///   - position: The position after which missed publications are replayed; see
  ///     ``Room/position``. Ignored for an open room.
  public func room(
    _ name: String, isPresent: Bool = false, from position: RoomPosition? = nil
  ) -> Room {
    let known = rooms[name]
    let room = known ?? Room(name: name, parley: self)
    if !room.isOpenedByApp {
      room.isOpenedByApp = true
      room.isAppPresent = isPresent
      follow(room, from: position, isNew: known == nil)
    }
    return room
  }

  func open(_ note: Note) { driver?.open(note.id, formats: note.hasFormats) }

  func forget(_ note: Note) {
    if openNotes[note.id] === note { openNotes[note.id] = nil }
    countUnsaved()
  }

  /// Sums the open notes' unconfirmed edits. A sum in a getter would not notify of notes that are
  /// opened later.
  func countUnsaved() {
    let count = openNotes.values.reduce(0) { $0 + $1.unsaved }
    if unsaved != count { unsaved = count }
  }

  /// Subscribes to a room with the combined options of all its users.
  private func follow(_ room: Room, from position: RoomPosition?, isNew: Bool) {
    rooms[room.name] = room
    let isPresent = room.isAppPresent || room.presentShares > 0
    guard isNew || room.isPresent != isPresent || room.state.isFailed else { return }
    room.isPresent = isPresent
    handle(.core(.room(room.name, .subscribe(isPresent: isPresent, from: position?.point))))
  }

  /// Opens a room for a part of the client, independently of the app, until the share is released.
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
    // The app may have closed the room meanwhile.
    guard rooms[room.name] === room else { return }
    if room.shares == 0, !room.isOpenedByApp {
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

  /// The connection's states, starting with the current one. Only the newest is buffered. Views
  /// observe ``connection`` instead.
  public var connections: Updates<ConnectionState> {
    let feed = Feed<ConnectionState>(bound: 1)
    feed.put(connection) { Array($0) }
    states.add(feed)
    return Updates(feed: feed, owner: self)
  }

  // MARK: External events

  /// Reconnects after ``stop()``, or after the server has ended the connection for good.
  public func start() { handle(.core(.start)) }

  /// Ends the connection until ``start()``. Unconfirmed edits are stored now; notes remain
  /// editable.
  public func stop() {
    handle(.core(.suspending))
    handle(.core(.stop))
  }

  /// Requests a new token after the person has signed in.
  ///
  /// It may belong to another person only while no edits of the former one wait: notes and rooms
  /// then continue as the new person's. Otherwise the connection stops with
  /// ``StopCause/otherPerson``.
  public func signedIn() {
    stop()
    start()
  }

  /// Probes the connection, or opens one at once: the network is available again, or the device has
  /// woken up. On Apple's systems this is called automatically when the network changes.
  public func networkChanged() { handle(.core(.reachable)) }

  /// Stores unconfirmed edits now, because the process may end soon.
  public func willSuspend() { handle(.core(.suspending)) }

  /// The server's time in milliseconds since 1970; `nil` before the first connection. It does not
  /// depend on the device's clock, which may be wrong. Observers are notified at each connection.
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

  func beginWait(on feed: Feed<some Sendable>) -> Int? { driver?.beginWait(on: feed) }

  func endWait(_ number: Int?) -> NoAnswer? { number.flatMap { driver?.endWait($0) } }

  /// Waits for the result of a publication.
  func result(of answer: Feed<Publishing.Answer>) async throws(PublishError) -> RoomPosition {
    let wait = beginWait(on: answer)
    let result = await answer.next()
    let reason = endWait(wait)
    guard let result else { throw reason.map { .noAnswer($0) } ?? .cancelled }
    return try result.get()
  }

  /// Sends a request and waits for the answer. Maximum waiting requests: 256.
  ///
  /// - Parameter read: Returns the requested value of a reply; `nil` for a reply of another kind.
  package func ask<Answer>(
    _ request: RoomRequest, _ read: (RoomReply) -> Answer?
  ) async throws(RequestError) -> Answer {
    let (number, answer) = requests.next()
    handle(.core(.ask(request, as: number)))
    let wait = beginWait(on: answer)
    let result = await answer.next()
    let reason = endWait(wait)
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

  /// Publishes JSON in a room, open or not; see ``Room/publish(json:key:senderID:)``.
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
    return try await result(of: answer)
  }

  /// Returns the position of the newest publication of an open room.
  package func position(inRoom name: String) -> RoomPosition? { rooms[name]?.position }

  /// Reports that this person has received or read publications up to an offset.
  package func confirm(_ offset: Int, _ stage: ReceiptStage, inRoom name: String) {
    handle(.core(.room(name, .receipt(offset: Int64(offset), stage))))
  }

  /// Notifies an object of changed resources. The object is referenced weakly.
  package func add(_ listener: any ResourceListener) { resourceListeners.add(listener) }

  func handle(_ event: ClientDriver.Event) {
    guard let driver else { return }
    outputs += driver.handle(event)
    // Outputs caused by views while others are shown are queued behind them.
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
      if connection != state {
        connection = state
        states.put(state) { Array($0.suffix(1)) }
      }
    case .note(let id, let action): openNotes[id]?.take(action)
    case .room(let name, let action):
      rooms[name]?.take(action)
      publishing[name]?.take(action)
      if publishing[name]?.isEmpty == true { publishing[name] = nil }
    case .welcome(let welcome): welcomed(welcome)
    case .resource(let id, let sender): resourceListeners.tell(of: id, by: sender)
    case .answer(let number, let answer): requests.answer(number, answer)
    case .problem(let reason): if problem != reason { problem = reason }
    case .unreadable(let id, let reason): openNotes[id]?.fail(reason)
    }
  }

  private func welcomed(_ welcome: ServerMessage.Welcome) {
    clock = (welcome.serverTime, driver?.now ?? 0)
    if personID != welcome.personID { personID = welcome.personID }
    let offered = Set(welcome.capabilities)
    if capabilities != offered { capabilities = offered }
  }
}
