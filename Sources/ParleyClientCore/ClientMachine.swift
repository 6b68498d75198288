public import OTCore
public import SocketMessages

/// A `parley.v1` client without I/O: events in, actions out.
///
///     app, socket, disk, clock ──ClientEvent──▶ ClientMachine ──ClientAction──▶ screen, disk, socket
///
/// It holds the rules of a client once: the connection (hello, resume, back-off, tokens), the notes
/// that are open (join, change, refusals, recovery, what is kept on disk), the people in them, and
/// the rooms that are subscribed to. It reads no clock, draws no randomness but from its seed, and
/// never waits.
///
/// Laws for the owner that drives it:
/// 1. **Actions are done in their order**, those of one call before those of the next.
/// 2. **A `keep` is on disk before the `send` behind it** leaves. If it fails, pass
///    ``NoteEvent/keepFailed``; if it was required, remove what was kept before; then do the
///    actions behind it all the same.
/// 3. **Screen actions never wait for the disk**: actions for the screen (``NoteAction`` but for
///    `keep` and `forget`, ``RoomAction``, `line`) keep their order among themselves, and so do the
///    others; one lane does not wait for the other.
/// 4. **Time is monotonic**: `now` is in milliseconds of a clock that is never set. A clock that
///    stops while a device sleeps will do; waking late is fine. An earlier `now` counts as the
///    latest one.
/// 5. **A connection ends with `disconnect`**: nothing of it is passed on afterwards.
/// 6. **The machine lives where the text view lives**, for an edit has happened on the screen before
///    the machine hears of it: nothing may come in between.
///
/// It is total: a message that is malformed, out of order or a lie ends in a typed state, and never
/// in the loss of what was typed.
public struct ClientMachine: Sendable {
  var line: Line
  var notes: [NoteMachine] = []
  var rooms: [RoomMachine] = []
  private var requests: RequestMachine
  private var now: Int64 = .min
  private var messageCount = 0
  private var scheduledWake: Int64?

  /// Makes a client that is stopped.
  ///
  /// - Parameters:
  ///   - settings: The person's name and colour, and whether tokens are used.
  ///   - claim: The client's identity before its process ended, from ``ClientAction/claim(_:)``.
  ///   - person: The person whose client it was then, from ``person``.
  /// - seed: For the back-off. Use another one for each client, or all of them reconnect at once.
  public init(
    settings: ClientSettings, claim: ClientClaim? = nil, person: String? = nil, seed: UInt64
  ) {
    line = Line(settings: settings, claim: claim, person: person, seed: seed)
    requests = RequestMachine(timing: settings.timing)
  }

  /// Takes what has happened, and returns what to do.
  ///
  /// - Parameter now: Milliseconds of a monotonic clock.
  /// - Complexity: In proportion to the event and to what is open.
  public mutating func handle(_ event: ClientEvent, now: Int64) -> [ClientAction] {
    var turn = begin(now)
    take(event, &turn)
    return end(&turn)
  }

  /// Takes a message that is read already, as ``ClientEvent/received(_:)`` takes its bytes.
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
      // An earlier wake has had its time: the next one is scheduled again.
      scheduledWake = nil
      follow(line.wake(&turn), &turn)
      for index in notes.indices { notes[index].wake(&turn) }
      for index in rooms.indices { rooms[index].wake(&turn) }
      requests.wake(&turn)
    case .suspending:
      for index in notes.indices { notes[index].keepNow(&turn) }
    case .note(let id, let event): take(event, of: id, &turn)
    case .room(let name, let event): take(event, of: name, &turn)
    case .ask(let request, let id): requests.ask(request, as: id, &turn)
    case .giveUp(let id): requests.giveUp(id, &turn)
    }
  }

  /// Discards what the former person has asked for, and starts again.
  private mutating func changePerson(_ turn: inout Turn) {
    guard state == .stopped(.otherPerson) else { return }
    requests.changePerson(&turn)
    for index in rooms.indices { rooms[index].changePerson(&turn) }
    dropRooms()
    line.changePerson(&turn)
  }

  /// The next time at which something is to be done.
  private var deadline: Int64? {
    var next = line.deadline
    // By their places: a copy of a note takes longer than its deadline.
    for index in notes.indices { next = earlier(next, notes[index].deadline) }
    for index in rooms.indices { next = earlier(next, rooms[index].deadline) }
    return earlier(next, requests.deadline)
  }

  /// Passes a change of the line on to notes and rooms.
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
      // A number of no note here is ignored, as an unknown id is.
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
    case .roomPresence(let change): withRoom(change.room) { $0.presence(change, &turn) }
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
    case .left, .granted, .created, .unknown: break
    }
  }

  /// An error answers a message of a note's or a room's, or a request.
  ///
  /// - Returns: whether it did.
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

  /// A message that could not be read: an answer to a request ends it; anything else may have been
  /// part of a stream, which is taken up again by joining.
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
    if case .open(let kept) = event {
      if let index = place(of: id) { return notes[index].openAgain(&turn) }
      var note = NoteMachine(documentID: id, timing: line.settings.timing)
      note.open(kept, &turn)
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

  /// Forgets rooms in which nothing is wanted any longer.
  private mutating func dropRooms() { rooms.removeAll { $0.isOver } }

  // MARK: What there is to see

  /// The connection's state.
  public var state: LineState { line.state }

  /// The client's identity to the server; `nil` before its first welcome.
  public var claim: ClientClaim? { line.claim }

  /// The person that the server has taken the client for; `nil` where it names none.
  public var person: String? { line.person }

  /// The number of edits, and of publications, in what is open that the server has not confirmed.
  public var waitingCount: Int {
    var count = 0
    for note in notes { count += note.unconfirmed }
    for room in rooms { count += room.status.waiting }
    return count
  }

  /// A note's text with all edits made here; `nil` before it was joined once.
  public func document(of documentID: String) -> Document? {
    place(of: documentID).flatMap { notes[$0].replica?.local }
  }

  /// A copy of a note's newest text of the server, for opening the note later without a line; `nil`
  /// before it was joined once. Unconfirmed edits are not in it.
  ///
  /// - Complexity: O(1), for texts are shared.
  package func copy(of documentID: String) -> KeptNote? {
    place(of: documentID).flatMap { notes[$0].copy }
  }

  /// A note's newest revision of the server, and the epoch that it counts in.
  public func revision(of documentID: String) -> (epoch: String, revision: Int64)? {
    guard let place = place(of: documentID), let epoch = notes[place].replica?.synchronizer.epoch,
      let revision = notes[place].replica?.synchronizer.revision
    else { return nil }
    return (epoch, Int64(revision))
  }

  /// A note's state; `nil` if it is not open.
  public func status(of documentID: String) -> NoteStatus? {
    place(of: documentID).map { notes[$0].status }
  }

  /// The others who have a note open, with their carets, in the order of their client ids.
  public func people(in documentID: String) -> [NotePerson] {
    place(of: documentID).map { notes[$0].people.all } ?? []
  }

  /// The number of people in a note, this one included, where they are too many to be named.
  public func peopleCount(in documentID: String) -> Int? {
    place(of: documentID).flatMap { notes[$0].people.count }
  }

  /// A room's state; `nil` if nothing is wanted of it.
  public func status(ofRoom name: String) -> RoomStatus? { room(name)?.status }

  /// The place of a room's newest publication known.
  public func position(inRoom name: String) -> RoomPosition? { room(name)?.position }

  /// The people present in a room, in the order of their ids.
  public func people(inRoom name: String) -> [PersonProfile] { room(name)?.people ?? [] }

  /// The ids of the people who type in a room.
  public func typists(inRoom name: String) -> [String] { room(name)?.typists ?? [] }

  private func room(_ name: String) -> RoomMachine? {
    rooms.first { $0.name.isSame(as: name) }
  }
}

/// The earlier of two times, each of which may be missing.
func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
  guard let one else { return other }
  guard let other else { return one }
  return min(one, other)
}
