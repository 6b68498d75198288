public import OTCore
public import SocketMessages

/// A `parley.v1` client without I/O: events in, actions out.
///
///     app, socket, disk, clock ──ClientEvent──▶ ClientMachine ──ClientAction──▶ screen, disk, socket
///
/// It contains the rules of a client: the connection (hello, resume, back-off, tokens), open notes
/// (join, change, refusals, recovery, stored edits), the people in them, and subscribed rooms. It
/// reads no clock, takes randomness only from its seed, and never waits.
///
/// Laws for its owner: 1. **Actions are performed in order**, those of one call before those of the
/// next. 2. **A `keep` is on disk before the next `send`** leaves. If it fails, pass
/// ``NoteEvent/keepFailed``; if it was required, delete the state stored before. Then perform the
/// actions after it in any case. 3. **Screen actions never wait for the disk.** Actions for the
/// screen (``NoteAction`` except `keep` and `forget`, ``RoomAction``, `line`) form one sequence,
/// the rest another. Each is performed in order, and neither waits for the other. 4. **Time is
/// monotonic**: `now` is in milliseconds of a clock that is never set. The clock may stop while the
/// device sleeps, and a wake may be late. A `now` that is earlier than a previous one is replaced
/// by the previous one. 5. **A connection ends with `disconnect`**: pass no event of it afterwards.
/// 6. **The machine runs on the text view's thread.** An edit changes the screen before the machine
/// receives it; nothing may happen in between.
///
/// Every input is handled: a malformed, unordered or wrong message results in a typed state, and no
/// typed text is lost.
public struct ClientMachine: Sendable {
  var line: Line
  var notes: [NoteMachine] = []
  var rooms: [RoomMachine] = []
  private var requests: RequestMachine
  private var now: Int64 = .min
  private var messageCount = 0
  private var scheduledWake: Int64?

  /// Creates a stopped client.
  ///
  /// - Parameters:
  ///   - settings: The person's name and colour, and whether tokens are used.
  ///   - claim: The client's identity before its process ended, from ``ClientAction/claim(_:)``.
  ///   - person: The person of that client, from ``person``.
  ///   - seed: The seed of the back-off. With one seed, all clients would reconnect at once.
  public init(
    settings: ClientSettings, claim: ClientClaim? = nil, person: String? = nil, seed: UInt64
  ) {
    line = Line(settings: settings, claim: claim, person: person, seed: seed)
    requests = RequestMachine(timing: settings.timing)
  }

  /// Handles an event, and returns the actions that it causes.
  ///
  /// - Parameter now: Milliseconds of a monotonic clock.
  /// - Complexity: O(event + open notes and rooms).
  public mutating func handle(_ event: ClientEvent, now: Int64) -> [ClientAction] {
    var turn = begin(now)
    take(event, &turn)
    return end(&turn)
  }

  /// Handles a decoded message, as ``ClientEvent/received(_:)`` handles its bytes.
  package mutating func receive(
    _ message: ServerMessage, named messageID: String, now: Int64
  ) -> [ClientAction] {
    var turn = begin(now)
    line.heard(&turn)
    take(message, answering: MessageNumber.read(messageID), &turn)
    return end(&turn)
  }

  private mutating func begin(_ now: Int64) -> Turn {
    self.now = max(self.now, now)
    var turn = Turn(now: self.now, messageCount: messageCount)
    turn.enter(line)
    return turn
  }

  private mutating func end(_ turn: inout Turn) -> [ClientAction] {
    for index in notes.indices.reversed() where notes[index].isClosed {
      notes[index].leaveIfDone(&turn)
      if notes[index].isLeft { notes.remove(at: index) }
    }
    messageCount = turn.messageCount
    let next = deadline
    if next != scheduledWake {
      scheduledWake = next
      turn.actions.append(.wake(at: next))
    }
    return turn.actions
  }

  private mutating func take(_ event: ClientEvent, _ turn: inout Turn) {
    switch event {
    case .start: line.start(&turn)
    case .stop: follow(line.stop(&turn), &turn)
    case .opened: line.opened(&turn)
    case .received(let bytes): receive(bytes, &turn)
    case .closed(let code): follow(line.closed(code, &turn), &turn)
    case .reachable: line.reachable(&turn)
    case .token(let token): line.token(token, &turn)
    case .changePerson: changePerson(&turn)
    case .profile(let name, let color): line.profile(name, color, &turn)
    case .wake:
      // This wake was the requested one, so the next one must be requested.
      scheduledWake = nil
      follow(line.wake(&turn), &turn)
      for index in notes.indices { notes[index].wake(&turn) }
      for index in rooms.indices { rooms[index].wake(&turn) }
      requests.wake(&turn)
    case .suspending:
      for index in notes.indices { notes[index].keepNow(&turn) }
      #if !hasFeature(Embedded)
        for index in rooms.indices { rooms[index].keepChanges(&turn) }
      #endif
    case .note(let id, let event): take(event, of: id, &turn)
    case .room(let name, let event): take(event, of: name, &turn)
    case .ask(let request, let id): requests.ask(request, as: id, &turn)
    case .giveUp(let id): requests.giveUp(id, &turn)
    }
  }

  /// Discards the requests of the former person, and starts again.
  private mutating func changePerson(_ turn: inout Turn) {
    guard state == .stopped(.otherPerson) else { return }
    requests.changePerson(&turn)
    for index in rooms.indices { rooms[index].changePerson(&turn) }
    dropRooms()
    line.changePerson(&turn)
  }

  /// The next time at which the client must be woken.
  private var deadline: Int64? {
    var next = line.deadline
    // By index, because iteration would copy each note, and a copy takes longer than its deadline.
    for index in notes.indices { next = earlier(next, notes[index].deadline) }
    for index in rooms.indices { next = earlier(next, rooms[index].deadline) }
    return earlier(next, requests.deadline)
  }

  /// Forwards a change of the connection to notes and rooms.
  private mutating func follow(_ signal: Line.Signal?, _ turn: inout Turn) {
    switch signal {
    case .online:
      turn.enter(line)
      for index in notes.indices { notes[index].online(&turn) }
      for index in rooms.indices { rooms[index].online(&turn) }
      dropRooms()
      requests.online(&turn)
    case .lost:
      turn.enter(line)
      for index in notes.indices { notes[index].lost(&turn) }
      for index in rooms.indices { rooms[index].lost(&turn) }
      requests.lost()
    case nil: break
    }
  }

  // MARK: Messages

  private mutating func receive(_ bytes: [UInt8], _ turn: inout Turn) {
    line.heard(&turn)
    let decoded = bytes.withUnsafeBytes { bytes in
      do throws(MessageError) {
        return Result<(messageID: String, message: ServerMessage), MessageError>.success(
          try ServerMessage.decode(bytes))
      } catch {
        return .failure(error)
      }
    }
    switch decoded {
    case .success(let (messageID, message)):
      take(message, answering: MessageNumber.read(messageID), &turn)
    case .failure(let error):
      misread(error.messageID.flatMap(MessageNumber.read), &turn)
    }
  }

  private mutating func take(_ message: ServerMessage, answering number: Int?, _ turn: inout Turn) {
    switch message {
    case .welcome, .refreshed, .tokenExpiring, .goodbye, .pong:
      follow(line.receive(message, answering: number, &turn), &turn)
    case .error(let error):
      guard let number else { return }
      if let signal = line.failed(error, answering: number, &turn) {
        return follow(signal.line, &turn)
      }
      failed(error, answering: number, &turn)
    case .joined(let joined):
      withNote(joined.documentID) { $0.joined(joined, answering: number, &turn) }
    case .behind(let behind):
      withNote(behind.documentID) { $0.behind(behind, answering: number, &turn) }
    case .documentHistory(let page):
      withNote(page.documentID) { $0.missed(page, answering: number, &turn) }
    case .changes(let changes):
      withNote(changes.documentID) { $0.changes(changes, &turn) }
    case .numberedChanges(let changes):
      // Ignore the number of a note that is not open here, like an unknown id.
      guard let index = notes.firstIndex(where: { $0.numbers?.document == changes.run.document })
      else { return }
      notes[index].changes(changes, &turn)
    case .acknowledged(let answer):
      withNote(answer.documentID) { $0.acknowledged(answer, &turn) }
    case .refused(let refusal):
      withNote(refusal.documentID) {
        $0.refused(
          refusal.sequence, refusal.code, retryable: refusal.retryable,
          retryAfter: refusal.retryAfter, &turn)
      }
    case .resync(let resync):
      withNote(resync.documentID) { $0.resync(resync, &turn) }
    case .selections(let selections):
      withNote(selections.documentID) { $0.selections(selections, &turn) }
    case .presence(let presence):
      withNote(presence.documentID) { $0.presence(presence, &turn) }
    case .accessChanged(let change):
      withNote(change.documentID) { $0.accessChanged(change.access, &turn) }
    case .documentChanged(let change):
      withNote(change.documentID) { $0.documentChanged(change, &turn) }
    case .subscribed(let reply):
      withRoom(reply.room) { $0.subscribed(reply, answering: number, &turn) }
    case .unsubscribed(let reply): withRoom(reply.room) { $0.unsubscribed(&turn) }
    case .published(let reply):
      withRoom(reply.room) { $0.published(reply, answering: number, &turn) }
    case .publication(let push): withRoom(push.room) { $0.publication(push, &turn) }
    case .roomPresence(let change): withRoom(change.room.text) { $0.presence(change, &turn) }
    case .typing(let push): withRoom(push.room) { $0.typing(push, &turn) }
    case .receipt(let receipt):
      withRoom(receipt.room) { $0.receipt(receipt, answering: number, &turn) }
    case .roomHistory(let reply): requests.answered(.history(reply), to: number, &turn)
    case .receipts(let reply):
      if !requests.answered(.receipts(reply), to: number, &turn) {
        withRoom(reply.room) { $0.receipts(reply, answering: number, &turn) }
      }
    case .lastOnline(let reply): requests.answered(.lastOnline(reply), to: number, &turn)
    case .blocks(let reply): requests.answered(.blocks(reply), to: number, &turn)
    case .flags(let reply): requests.answered(.flags(reply), to: number, &turn)
    case .following(let reply): requests.answered(.following(reply), to: number, &turn)
    case .flag(let flag):
      if !requests.answered(.flag(flag), to: number, &turn) {
        withRoom(flag.room) { $0.flagged(flag, &turn) }
      }
    case .resourceUpdate(let update):
      turn.actions.append(.resource(update.resourceID, by: update.senderID))
    #if !hasFeature(Embedded)
      case .values(let reply):
        withRoom(reply.room) { $0.values(reply, answering: number, &turn) }
      case .signal(let signal): withRoom(signal.room) { $0.signalled(signal, &turn) }
    #endif
    case .left, .granted, .created, .unknown: break
    }
  }

  /// Passes an error to the note, room or request whose message it answers.
  ///
  /// - Returns: Whether there is one.
  @discardableResult
  private mutating func failed(
    _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
  ) -> Bool {
    for index in notes.indices where notes[index].failed(error, answering: number, &turn) {
      return true
    }
    for index in rooms.indices where rooms[index].failed(error, answering: number, &turn) {
      dropRooms()
      return true
    }
    return requests.failed(error, answering: number, &turn)
  }

  /// Handles a message that could not be read. If it answers a request, the request fails.
  /// Otherwise it may have been part of a stream, so notes and rooms are joined again.
  private mutating func misread(_ number: Int?, _ turn: inout Turn) {
    let error = ServerMessage.Failure(
      code: .badMessage, message: "", retryable: false, retryAfter: nil)
    if let number {
      if let signal = line.misread(answering: number, &turn)
        ?? line.failed(error, answering: number, &turn)
      {
        return follow(signal.line, &turn)
      }
      if failed(error, answering: number, &turn) { return }
    }
    for index in notes.indices { notes[index].misread(&turn) }
    for index in rooms.indices { rooms[index].misread(&turn) }
  }

  // MARK: Notes

  private mutating func withNote(_ id: String, _ body: (inout NoteMachine) -> Void) {
    guard let index = place(of: id) else { return }
    body(&notes[index])
  }

  private func place(of id: String) -> Int? {
    notes.firstIndex { $0.documentID.isSame(as: id) }
  }

  private mutating func take(_ event: NoteEvent, of id: String, _ turn: inout Turn) {
    if case .open(let kept, let formats) = event {
      if let index = place(of: id) { return notes[index].openAgain(formats: formats, &turn) }
      var note = NoteMachine(documentID: id, timing: line.settings.timing)
      note.open(kept, formats: formats, &turn)
      notes.append(note)
      return
    }
    guard let index = place(of: id) else { return }
    notes[index].take(event, &turn)
  }

  // MARK: Rooms

  private mutating func withRoom(_ name: String, _ body: (inout RoomMachine) -> Void) {
    guard let index = rooms.firstIndex(where: { $0.name.isSame(as: name) }) else { return }
    body(&rooms[index])
    dropRooms()
  }

  private mutating func take(_ event: RoomEvent, of name: String, _ turn: inout Turn) {
    if let index = rooms.firstIndex(where: { $0.name.isSame(as: name) }) {
      rooms[index].take(event, &turn)
    } else {
      var room = RoomMachine(name: name, timing: line.settings.timing)
      room.take(event, &turn)
      rooms.append(room)
    }
    dropRooms()
  }

  /// Removes the rooms that have nothing left to do.
  private mutating func dropRooms() { rooms.removeAll { $0.isOver } }

  // MARK: State

  /// The connection's state.
  public var state: LineState { line.state }

  /// The client's identity on the server; `nil` before the first welcome.
  public var claim: ClientClaim? { line.claim }

  /// The person of the client, as the server has identified it; `nil` if it names none.
  public var person: String? { line.person }

  /// The number of edits and publications that the server has not confirmed, in all open notes and
  /// rooms.
  public var waitingCount: Int {
    var count = 0
    for note in notes { count += note.unconfirmed }
    for room in rooms { count += room.status.waiting }
    return count
  }

  /// Returns a note's text with all local edits; `nil` before the note was first joined.
  public func document(of documentID: String) -> Document? {
    content(of: documentID)?.text
  }

  /// Returns a note's text with all local edits and its attributes; `nil` before the note was first
  /// joined. Without attributes if the note was not opened with formats.
  public func content(of documentID: String) -> RichDocument? {
    place(of: documentID).flatMap { notes[$0].replica?.local }
  }

  /// Returns a note's kind; `nil` if it is not open.
  public func kind(of documentID: String) -> NoteKind? {
    place(of: documentID).map { notes[$0].kind }
  }

  /// Whether the server knows formatting; `true` before the first welcome.
  public var hasFormats: Bool { line.hasFormats }

  /// Whether there are edits of a note to undo and to redo.
  public func steps(in documentID: String) -> (canUndo: Bool, canRedo: Bool) {
    guard let history = place(of: documentID).flatMap({ notes[$0].history }) else {
      return (false, false)
    }
    return (history.canUndo, history.canRedo)
  }

  /// Returns a copy of a note with the server's newest text, for opening the note later without a
  /// connection; `nil` before the note was first joined. It does not contain unconfirmed edits.
  ///
  /// - Complexity: O(1), because texts are shared.
  package func copy(of documentID: String) -> KeptNote? {
    place(of: documentID).flatMap { notes[$0].copy }
  }

  /// Returns the newest revision of a note known from the server, and its epoch.
  public func revision(of documentID: String) -> (epoch: String, revision: Int64)? {
    guard let place = place(of: documentID), let epoch = notes[place].replica?.synchronizer.epoch,
      let revision = notes[place].replica?.synchronizer.revision
    else { return nil }
    return (epoch, Int64(revision))
  }

  /// Returns a note's state; `nil` if it is not open.
  public func status(of documentID: String) -> NoteStatus? {
    place(of: documentID).map { notes[$0].status }
  }

  /// Returns the other people in a note with their carets, sorted by client id.
  public func people(in documentID: String) -> [NotePerson] {
    place(of: documentID).map { notes[$0].people.all } ?? []
  }

  /// Returns the number of people in a note, this one included; `nil` if all are named.
  public func peopleCount(in documentID: String) -> Int? {
    place(of: documentID).flatMap { notes[$0].people.count }
  }

  /// Returns a room's state; `nil` if the app does not use the room and nothing of it waits.
  public func status(ofRoom name: String) -> RoomStatus? { room(name)?.status }

  /// Returns the position of the newest publication known in a room.
  public func position(inRoom name: String) -> RoomPosition? { room(name)?.position }

  #if !hasFeature(Embedded)
    /// The values of a room; `nil` if the client does not follow them.
    package func values(ofRoom name: String) -> ValueReplica? { room(name)?.replica }

    /// Whether the client has all values of a room, if it follows them.
    package func hasAllValues(ofRoom name: String) -> Bool {
      room(name)?.replica.map { $0.nextPage == nil } ?? true
    }
  #endif

  /// Returns the people present in a room, sorted by id.
  public func people(inRoom name: String) -> [PersonProfile] { room(name)?.people ?? [] }

  /// Returns the ids of the people who type in a room.
  public func typists(inRoom name: String) -> [String] { room(name)?.typists ?? [] }

  private func room(_ name: String) -> RoomMachine? {
    rooms.first { $0.name.isSame(as: name) }
  }
}

/// Returns the earlier of two optional times.
func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
  guard let one else { return other }
  guard let other else { return one }
  return min(one, other)
}
