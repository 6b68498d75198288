public import Observation
import ParleyClientCore

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
  /// The person's name as shown to others.
  public private(set) var name: String
  /// The person's colour, `#rrggbb`.
  public private(set) var color: String?

  @ObservationIgnored private var driver: ClientDriver?
  @ObservationIgnored private var notes: [String: Note] = [:]
  @ObservationIgnored private var rooms: [String: Room] = [:]
  /// Callers that wait for answers from rooms that are closed.
  @ObservationIgnored private var publishing: [String: Publishing] = [:]
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
    if let room = rooms[name] { return room }
    let room = Room(name: name, parley: self)
    rooms[name] = room
    handle(.core(.room(name, .subscribe(isPresent: isPresent, from: position?.point))))
    return room
  }

  /// The number of edits in open notes that the server has not confirmed.
  public var unsaved: Int { notes.values.reduce(0) { $0 + $1.unsaved } }

  func open(_ note: Note) { driver?.open(note.id) }

  func forget(_ note: Note) { if notes[note.id] === note { notes[note.id] = nil } }

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

  /// Ends the connection until ``start()``. Notes can still be written in.
  public func stop() { handle(.core(.stop)) }

  /// Asks for a token again, after the person has signed in.
  ///
  /// It may be another person only while nothing of the former one's waits: then notes and rooms go
  /// on as theirs. Otherwise the connection stops with ``StopCause/otherPerson``.
  public func signedIn() {
    handle(.core(.stop))
    handle(.core(.start))
  }

  /// The network has come back, or the device has woken up: the connection is probed, or opened at
  /// once. On Apple's systems changes of the network are noticed without this.
  public func networkChanged() { handle(.core(.reachable)) }

  /// The process may end soon: unconfirmed edits are stored now.
  public func willSuspend() { handle(.core(.suspending)) }

  /// Changes the person's name and colour.
  public func rename(_ name: String, color: String? = nil) {
    self.name = name
    self.color = color
    handle(.core(.profile(name: name, color: color)))
  }

  // MARK: The machine

  var machine: ClientMachine? { driver?.view }

  func handle(_ event: ClientDriver.Event) {
    guard let driver else { return }
    outputs += driver.handle(event)
    // What a view does while news are shown comes after them.
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
    case .problem(let reason): if problem != reason { problem = reason }
    case .unreadable(let id, let reason): notes[id]?.fail(reason)
    }
  }
}
