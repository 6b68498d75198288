import OTCore
import ParleyClientCore
import ParleyJSON
import SocketMessages

/// Connects a `ClientMachine` to its environment: performs the machine's actions, and returns
/// what the owner has to show.
///
/// It runs in its owner's isolation, the main actor or another. Waiting work is started by `spawn`,
/// and its result is an event that the owner passes to ``handle(_:)``.
///
///     owner ──event──▶ driver ──▶ ClientMachine
///       ▲ │                          │ actions
///       │ └◀── outputs ──────────────┤
///       └──── event ◀── spawn ◀──────┴──▶ lane: connection and storage, in order
///
/// **The lane.** Actions on connection and storage are performed in order, so that a state is on
/// disk before any later message is sent. Above ``laneMax`` waiting steps the disk is too slow: the
/// connection is closed, and opened again later.
final class ClientDriver {
  /// An external event.
  enum Event: Sendable {
    case core(ClientEvent)
    /// The stored identity of the client was read, if there is one, and the stored person.
    case identified(ClientClaim?, person: String?)
    /// A note's stored state was read, or reading failed. The number identifies the opening.
    case recalled(String, Int, Result<KeptNote?, StorageFailure>)
    /// The changes of a room's values that an earlier process has stored were read.
    case recalledChanges(String, [(change: KeptChange, time: Int?)])
    /// A token was fetched. The number identifies the request.
    case token(Int, String?)
    /// The token function has thrown; contains the error as text. It is called again after a pause.
    case tokenFailed(Int, String, pause: Int64)
    /// The storage was searched for edits of the former person.
    case searched(holdsEdits: Bool)
    case connected(Int, Result<any ClientConnection, ConnectFailure>)
    case received(Int, Result<[UInt8], ConnectionEnd>)
    case woken(Int)
    /// The waits of callers must be checked. The number identifies the timer, if one has caused it.
    case waited(Int?)
    /// A write of the lane has ended.
    case stored(note: String?, took: Int64, hasFailed: Bool)
  }

  /// The reason why a connection could not be opened, as text for users.
  struct ConnectFailure: Error { let reason: String }

  /// The reason why the storage could not be read.
  struct StorageFailure: Error { let reason: String }

  /// An output for the owner to show.
  enum Output {
    case line(LineState)
    case note(String, NoteAction)
    case room(String, RoomAction)
    /// The server has accepted the client.
    indirect case welcome(ServerMessage.Welcome)
    /// A room without history has reported a changed resource; `by` is the sender's id, if known.
    case resource(String, by: String?)
    /// The answer to the request with this number.
    indirect case answer(Int64, Result<RoomReply, RoomRequestFailure>)
    /// The reason why there is no connection; `nil` once the server has accepted the client.
    case problem(String?)
    /// A note's stored state could not be read; contains the reason as text.
    case unreadable(String, String)
  }

  typealias Work = @Sendable () async -> Event?

  private enum Step: Sendable {
    case connect(Int)
    case disconnect
    case send([UInt8], Int)
    case keep(KeptNote, isRequired: Bool)
    case forget(String)
    case claim(ClientClaim, person: String?)
    case recall(String, Int)
    case keepChanges(String, [KeptChange], times: [String: Int])
    case recallChanges(String)

    /// Whether the step writes to the storage.
    var isStorage: Bool {
      switch self {
      case .keep, .forget, .claim, .keepChanges: true
      case .connect, .disconnect, .send, .recall, .recallChanges: false
      }
    }
  }

  /// Maximum steps that wait for the disk.
  static let laneMax = 4_096

  private let transport: any ClientTransport
  private let storage: any ClientStorage
  private let time: any ClientTime
  private let token: TokenSource?
  private let log: ClientLog?
  private let spawn: @Sendable (@escaping Work) -> Task<Void, Never>
  private var settings: ClientSettings
  private let seed: UInt64

  private var machine: ClientMachine?
  /// Events received before the client's identity was read.
  private var early: [ClientEvent] = []
  private var lane: [Step] = []
  private var laneHead = 0
  /// The write that is running.
  private var storing: Task<Void, Never>?
  /// The notes that are being opened, with the numbers of their openings.
  private var opening: [String: Int] = [:]
  /// The notes that are opened with formats.
  private var formatted: Set<String> = []
  private var openingCount = 0
  /// The events of rooms whose stored changes are being read.
  private var recalling: [String: [RoomEvent]] = [:]
  /// The times at which changes of values were first sent, in seconds since 1970, by room and key.
  private var sentTimes: [String: [String: Int]] = [:]
  /// The number of the current connection; events of earlier ones are ignored.
  private var generation = 0
  private var connection: (any ClientConnection)?
  private var timer: Task<Void, Never>?
  private var timerCount = 0
  private var tokenTask: Task<Void, Never>?
  private var tokenCount = 0
  private var waits: Waits
  private var waitTimer: (task: Task<Void, Never>, at: Int64)?
  private var waitTimerCount = 0
  /// Whether all waits end in the next step, because the client has stopped.
  private var isEndingWaits = false
  /// Whether the storage is being searched for edits of the former person.
  private var isSearching = false
  private var problem: String?

  init(
    settings: ClientSettings, transport: any ClientTransport, storage: any ClientStorage,
    time: any ClientTime, token: TokenSource?, timeout: Duration, log: ClientLog?, seed: UInt64,
    spawn: @escaping @Sendable (@escaping Work) -> Task<Void, Never>
  ) {
    self.settings = settings
    self.settings.isOnePersons = true
    self.transport = transport
    self.storage = storage
    self.time = time
    self.token = token
    self.log = log
    self.seed = seed
    self.spawn = spawn
    let (seconds, attoseconds) = timeout.components
    waits = Waits(timeout: seconds * 1_000 + attoseconds / 1_000_000_000_000_000, now: time.now)
  }

  deinit {
    connection?.close()
    timer?.cancel()
    tokenTask?.cancel()
    waitTimer?.task.cancel()
    // The newest edits may still be waiting for their delayed write.
    for action in machine?.handle(.suspending, now: time.now) ?? [] {
      if case .note(_, .keep(let kept, let isRequired)) = action {
        keep(kept, isRequired: isRequired)
      }
    }
    Self.finish(lane[laneHead...].filter(\.isStorage), after: storing, in: storage)
  }

  /// Completes the writes that were queued, in order, after the driver is gone.
  private static func finish(
    _ steps: [Step], after earlier: Task<Void, Never>?, in storage: any ClientStorage
  ) {
    guard !steps.isEmpty else { return }
    Task {
      await earlier?.value
      for step in steps { try? await store(step, in: storage) }
    }
  }

  // MARK: The owner

  /// Reads the client's identity; other events wait for it.
  func begin() {
    _ = spawn { [storage] in
      // Without a claim the server assigns a new identity, which also sends restored edits.
      let value = try? await storage.read(StoredForm.claimKey)
      return .identified(
        value.flatMap { StoredForm.claim($0) }, person: await Self.person(in: storage))
    }
  }

  /// Returns the person whose edits are stored. If reading fails this is an empty name, which no
  /// person has, so that edits are not sent under another person's.
  private static func person(in storage: any ClientStorage) async -> String? {
    do {
      return try await storage.read(StoredForm.personKey)
        .flatMap { String(validating: $0, as: UTF8.self) }
    } catch {
      return ""
    }
  }

  /// Opens a note with its stored state.
  func open(_ documentID: String, formats: Bool) {
    if formats { formatted.insert(documentID) } else { formatted.remove(documentID) }
    // After the queued writes: the note may just have been closed.
    openingCount += 1
    opening[documentID] = openingCount
    lane.append(.recall(documentID, openingCount))
    runLane()
  }

  private func recall(_ documentID: String, _ number: Int) {
    _ = spawn { [storage] in
      do {
        let value = try await storage.read(StoredForm.noteKey(documentID))
        return .recalled(documentID, number, .success(try value.map { try StoredForm.note($0) }))
      } catch {
        return .recalled(documentID, number, .failure(StorageFailure(reason: "\(error)")))
      }
    }
  }

  /// Handles an event; returns the outputs in order.
  func handle(_ event: Event) -> [Output] {
    var outputs: [Output] = []
    switch event {
    case .core(let event):
      switch event {
      case .note(let id, .leave): opening[id] = nil
      case .stop: tokenCount += 1
      case .room(let name, let event) where isDeferred(event, of: name): return outputs
      default: break
      }
      take(event, &outputs)
    case .identified(let claim, let person):
      guard machine == nil else { break }
      machine = ClientMachine(settings: settings, claim: claim, person: person, seed: seed)
      let waiting = early
      early = []
      for event in waiting { take(event, &outputs) }
    case .recalled(let id, let number, let result):
      // The note was closed or opened again meanwhile.
      guard opening[id] == number else { break }
      opening[id] = nil
      switch result {
      case .success(let kept):
        take(.note(id, .open(kept, formats: formatted.contains(id))), &outputs)
      case .failure(let failure): outputs.append(.unreadable(id, failure.reason))
      }
    case .token(let number, let token):
      // The answer to an earlier request may be another person's token.
      if number == tokenCount { take(.token(token), &outputs) }
    case .tokenFailed(let number, let reason, let pause):
      guard number == tokenCount else { break }
      show("the token function failed: \(reason); it is called again", &outputs)
      askForToken(after: pause)
    case .recalledChanges(let room, let changes): recalled(changes, of: room, &outputs)
    case .searched(let holdsEdits):
      isSearching = false
      if !holdsEdits, machine?.waitingCount == 0 { take(.changePerson, &outputs) }
      reviewWaits()
    case .connected(let number, let result): connected(number, result, &outputs)
    case .received(let number, let result):
      guard number == generation else { break }
      switch result {
      case .success(let bytes):
        receive()
        take(.received(bytes), &outputs)
      case .failure(let end): ended(end, &outputs)
      }
    case .woken(let number):
      if number == timerCount { take(.wake, &outputs) }
    case .waited(let number): waited(number)
    case .stored(let note, let took, let hasFailed):
      storing = nil
      if let note {
        take(.note(note, hasFailed ? .keepFailed : .kept(took: took)), &outputs)
      }
      runLane()
    }
    return outputs
  }

  /// The machine, to read people, texts and states; `nil` before the client's identity was read.
  var view: ClientMachine? { machine }

  /// Milliseconds since an arbitrary start.
  var now: Int64 { time.now }

  private func take(_ event: ClientEvent, _ outputs: inout [Output]) {
    guard machine != nil else {
      early.append(event)
      return
    }
    perform(machine?.handle(event, now: time.now) ?? [], &outputs)
    guard lane.count - laneHead > Self.laneMax else { return }
    // The disk is too slow. Messages not sent yet are sent again over the next connection.
    let steps = lane[laneHead...].filter { step in
      if case .send = step { false } else { true }
    }
    lane = steps
    laneHead = 0
    drop()
    perform(machine?.handle(.closed(code: 1006), now: time.now) ?? [], &outputs)
  }

  private func perform(_ actions: [ClientAction], _ outputs: inout [Output]) {
    for action in actions {
      switch action {
      case .connect:
        generation += 1
        lane.append(.connect(generation))
      case .disconnect:
        // From now on events of the old connection are ignored, whenever the lane closes it.
        generation += 1
        lane.append(.disconnect)
      case .send(let bytes): lane.append(.send(bytes, generation))
      case .wake(let at): wake(at)
      case .needToken: askForToken()
      case .claim(let claim): lane.append(.claim(claim, person: machine?.person))
      case .line(let state):
        outputs.append(.line(state))
        if state == .stopped(.otherPerson) { searchForEdits() }
        lineChanged(state, &outputs)
      case .welcome(let welcome):
        show(nil, &outputs)
        outputs.append(.welcome(welcome))
      case .resource(let id, let sender): outputs.append(.resource(id, by: sender))
      case .answer(let number, let answer): outputs.append(.answer(number, answer))
      case .refreshed(let code?):
        show("the server refused the new token: \(Refusal(code))", &outputs)
      case .refreshed(nil): show(nil, &outputs)
      case .tokenEnds: break
      case .note(_, .keep(let kept, let isRequired)):
        keep(kept, isRequired: isRequired)
      case .note(let id, .forget): lane.append(.forget(id))
      case .note(let id, let action):
        // While a note is being opened again, actions from before it was closed are not shown.
        if opening[id] == nil { outputs.append(.note(id, action)) }
      case .room(let name, let action):
        if case .keepChanges(let changes) = action { keep(changes, of: name) }
        outputs.append(.room(name, action))
      }
    }
    runLane()
  }

  // MARK: The lane

  /// Queues a write of a note's state. It replaces a queued write of the same note at that write's
  /// position, so that even a slow disk has at most one state of a note to write.
  private func keep(_ kept: KeptNote, isRequired: Bool) {
    for index in lane[laneHead...].indices.reversed() {
      switch lane[index] {
      case .keep(let earlier, let wasRequired)
      where Self.isSame(earlier.documentID, kept.documentID):
        lane[index] = .keep(kept, isRequired: isRequired || wasRequired)
        return
      case .forget(let id) where Self.isSame(id, kept.documentID):
        lane.append(.keep(kept, isRequired: isRequired))
        return
      case .recall(let id, _) where Self.isSame(id, kept.documentID):
        lane.append(.keep(kept, isRequired: isRequired))
        return
      default: break
      }
    }
    lane.append(.keep(kept, isRequired: isRequired))
  }

  // MARK: Changes of values

  /// The seconds for which the server surely knows a key: a day by default.
  private static let keySeconds = 20 * 3_600

  /// Whether an event waits until the room's stored changes were read.
  private func isDeferred(_ event: RoomEvent, of room: String) -> Bool {
    if recalling[room] != nil {
      recalling[room]?.append(event)
      return true
    }
    guard case .followValues = event else { return false }
    recalling[room] = [event]
    // After the queued writes: the room may just have been closed.
    lane.append(.recallChanges(room))
    runLane()
    return true
  }

  private func recallChanges(_ room: String) {
    _ = spawn { [storage] in
      let value = try? await storage.read(StoredForm.changesKey(room))
      let changes = value.flatMap { try? StoredForm.changes($0, in: room) }
      return .recalledChanges(room, changes ?? [])
    }
  }

  private func recalled(
    _ changes: [(change: KeptChange, time: Int?)], of room: String, _ outputs: inout [Output]
  ) {
    var fresh: [KeptChange] = []
    var unsure: [String] = []
    if !changes.isEmpty {
      outputs.append(.room(room, .keepChanges(changes.map(\.change))))
    }
    for (change, time) in changes {
      if let time { sentTimes[room, default: [:]][change.key] = time }
      if change.clientID != nil, SystemTime.seconds - (time ?? 0) > Self.keySeconds {
        // The server may have forgotten the key, and would store the change twice.
        unsure.append(change.key)
      } else {
        fresh.append(change)
      }
    }
    outputs += unsure.map { .room(room, .publishUnsure(key: $0)) }
    if !changes.isEmpty { take(.room(room, .restoreChanges(fresh)), &outputs) }
    for event in recalling.removeValue(forKey: room) ?? [] { take(.room(room, event), &outputs) }
  }

  /// Queues a write of a room's changes without an answer. It replaces a queued one.
  private func keep(_ changes: [KeptChange], of room: String) {
    var times: [String: Int] = [:]
    for change in changes where change.clientID != nil {
      times[change.key] = sentTimes[room]?[change.key] ?? SystemTime.seconds
    }
    sentTimes[room] = times.isEmpty ? nil : times
    let step = Step.keepChanges(room, changes, times: times)
    for index in lane[laneHead...].indices.reversed() {
      switch lane[index] {
      case .keepChanges(let other, _, _) where Self.isSame(other, room):
        lane[index] = step
        return
      case .recallChanges(let other) where Self.isSame(other, room):
        lane.append(step)
        return
      default: break
      }
    }
    lane.append(step)
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.isExactly(other)
  }

  private func runLane() {
    while storing == nil, laneHead < lane.count {
      let step = lane[laneHead]
      laneHead += 1
      if laneHead == lane.count {
        lane.removeAll(keepingCapacity: true)
        laneHead = 0
      } else if laneHead >= 64, laneHead * 2 > lane.count {
        lane.removeFirst(laneHead)
        laneHead = 0
      }
      perform(step)
    }
  }

  private func perform(_ step: Step) {
    switch step {
    case .connect(let number): if number == generation { connect(number) }
    case .disconnect:
      connection?.close()
      connection = nil
    case .send(let bytes, let number): if number == generation { connection?.send(bytes) }
    case .recall(let id, let number): recall(id, number)
    case .recallChanges(let room): recallChanges(room)
    case .keep(let kept, _): store(step, note: kept.documentID)
    case .forget, .claim, .keepChanges: store(step, note: nil)
    }
  }

  private func store(_ step: Step, note: String?) {
    storing = spawn { [storage, time] in
      let start = time.now
      var hasFailed = false
      do { try await Self.store(step, in: storage) } catch { hasFailed = true }
      return .stored(note: note, took: time.now - start, hasFailed: hasFailed)
    }
  }

  private static func store(_ step: Step, in storage: any ClientStorage) async throws {
    switch step {
    case .keep(let kept, let isRequired):
      let key = StoredForm.noteKey(kept.documentID)
      do {
        try await storage.write(StoredForm.bytes(of: kept), for: key)
      } catch {
        // A process that restored the older state might send edits twice.
        if isRequired { try await storage.remove(key) }
        throw error
      }
    case .forget(let id): try await storage.remove(StoredForm.noteKey(id))
    case .claim(let claim, let person):
      // The person first: a claim without a person could be any person's.
      if let person {
        try await storage.write(Array(person.utf8), for: StoredForm.personKey)
      } else {
        try await storage.remove(StoredForm.personKey)
      }
      try await storage.write(StoredForm.bytes(of: claim), for: StoredForm.claimKey)
    case .keepChanges(let room, let changes, let times):
      let key = StoredForm.changesKey(room)
      if changes.isEmpty {
        try await storage.remove(key)
      } else {
        try await storage.write(StoredForm.bytes(of: changes, times: times), for: key)
      }
    case .connect, .disconnect, .send, .recall, .recallChanges: break
    }
  }

  /// Checks for edits of the former person: only without them may another person continue.
  private func searchForEdits() {
    isSearching = true
    _ = spawn { [storage] in
      let notes = try? await storage.keys(beginningWith: StoredForm.notePrefix)
      let rooms = try? await storage.keys(beginningWith: StoredForm.changesPrefix)
      return .searched(holdsEdits: notes?.isEmpty != true || rooms?.isEmpty != true)
    }
  }

  // MARK: The connection

  private func connect(_ number: Int) {
    _ = spawn { [transport] in
      do {
        return .connected(number, .success(try await transport.open()))
      } catch {
        return .connected(number, .failure(ConnectFailure(reason: "\(error)")))
      }
    }
  }

  private func connected(
    _ number: Int, _ result: Result<any ClientConnection, ConnectFailure>,
    _ outputs: inout [Output]
  ) {
    switch result {
    case .success(let connection):
      guard number == generation else { return connection.close() }
      self.connection = connection
      receive()
      take(.opened, &outputs)
    case .failure(let failure):
      guard number == generation else { return }
      show(failure.reason, &outputs)
      take(.closed(code: 1006), &outputs)
    }
  }

  private func receive() {
    guard let connection else { return }
    _ = spawn { [generation] in
      do throws(ConnectionEnd) {
        return .received(generation, .success(try await connection.receive()))
      } catch {
        return .received(generation, .failure(error))
      }
    }
  }

  private func ended(_ end: ConnectionEnd, _ outputs: inout [Output]) {
    connection = nil
    // A lost connection is no problem yet: the next one may open at once.
    if machine?.state != .online || end.code >= 4500 {
      show("the server ended the connection: \(StopCause.words(ofClose: end.code))", &outputs)
    }
    take(.closed(code: end.code), &outputs)
  }

  private func drop() {
    generation += 1
    connection?.close()
    connection = nil
  }

  // MARK: Time and tokens

  private func wake(_ at: Int64?) {
    timer?.cancel()
    timer = nil
    timerCount += 1
    guard let at else { return }
    timer = spawn { [time, timerCount] in
      await time.wait(until: at)
      return Task.isCancelled ? nil : .woken(timerCount)
    }
  }

  private func askForToken(after pause: Int64 = 0) {
    guard let token else { return }
    tokenTask?.cancel()
    tokenCount += 1
    tokenTask = spawn { [time, tokenCount] in
      if pause > 0 { await time.wait(until: time.now + pause) }
      guard !Task.isCancelled else { return nil }
      do {
        return .token(tokenCount, try await token())
      } catch {
        // The login server may be unreachable, which is no reason to stop for good.
        let next = min(max(1_000, 2 * pause), 30_000)
        return Task.isCancelled ? nil : .tokenFailed(tokenCount, "\(error)", pause: next)
      }
    }
  }

  // MARK: Problems, and callers that wait

  /// Outputs the reason why there is no connection; `nil` if there is one.
  private func show(_ problem: String?, _ outputs: inout [Output]) {
    self.problem = problem
    outputs.append(.problem(problem))
    guard let problem else { return }
    log?(.init(level: .info, message: "connection problem", details: ["problem": problem]))
  }

  private func lineChanged(_ state: LineState, _ outputs: inout [Output]) {
    waits.connectionChanged(isOnline: state == .online, now: time.now)
    log?(
      .init(
        level: .debug, message: "connection changed",
        details: ["state": "\(ConnectionState(state))"]))
    if case .stopped(let cause) = ConnectionState(state), cause != .asked {
      show("\(cause)", &outputs)
      log?(.init(level: .error, message: "connection stopped", details: ["cause": "\(cause)"]))
    }
    reviewWaits()
  }

  /// Ends a caller's feed if the server gives no answer. Every call is followed by one of
  /// ``endWait(_:)``.
  func beginWait(on feed: Feed<some Sendable>) -> Int {
    let number = waits.begin(now: time.now) { feed.finish() }
    reviewWaits()
    return number
  }

  /// Returns why a wait has ended without an answer; `nil` if it has not.
  func endWait(_ number: Int) -> NoAnswer? { waits.remove(number) }

  /// The reason why the client does not connect any more.
  private var stopCause: StopCause? {
    guard !isSearching, let state = machine?.state,
      case .stopped(let cause) = ConnectionState(state)
    else { return nil }
    return cause
  }

  /// Arranges the next check of the waits.
  private func reviewWaits() {
    guard let deadline = waits.deadline() else { return }
    // Not at once: the app may stop and start the connection in one step.
    if stopCause != nil {
      if !isEndingWaits { _ = spawn { .waited(nil) } }
      isEndingWaits = true
      return
    }
    if let waitTimer, waitTimer.at <= deadline { return }
    waitTimer?.task.cancel()
    waitTimerCount += 1
    let task = spawn { [time, waitTimerCount] in
      await time.wait(until: deadline)
      return Task.isCancelled ? nil : .waited(waitTimerCount)
    }
    waitTimer = (task, deadline)
  }

  private func waited(_ number: Int?) {
    if let number {
      guard number == waitTimerCount else { return }
      waitTimer = nil
    } else {
      isEndingWaits = false
    }
    if let stopCause {
      waits.end(.stopped(stopCause))
    } else {
      waits.expire(now: time.now, problem: problem)
      reviewWaits()
    }
  }
}
