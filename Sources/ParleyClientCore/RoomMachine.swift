import SocketMessages

/// A room as this client sees it: subscribes, resumes where it was, publishes until it is answered.
///
///     subscribing ──subscribed──▶ live ◀──subscribed── away        ended
///                                  └──line lost, misread──▶┘
///
/// Each publication is delivered once, in order, or a gap is reported. A publication of this
/// client's is sent under the key that the app gives it until the server answers: under one key it
/// is stored once.
struct RoomMachine: Sendable {
  /// A publication that has no answer yet.
  struct Waiting: Sendable {
    let publication: ClientMessage.Publish
    let key: String
    /// The id under which it was sent first: the key counts for that person.
    var clientID: String?
    /// The message that carries it on this connection.
    var message: Int?
    var retryAt: Int64?
  }

  /// A receipt, or a question about receipts, that has no answer yet.
  struct WaitingReceipt: Sendable {
    let offset: Int
    /// `nil` for a question.
    let state: ReceiptStage?
    var message: Int?
  }

  let name: String
  let timing: ClientTiming
  var phase = RoomStatus.Phase.subscribing
  /// Whether the app subscribes, and not only publishes.
  var isWanted = false
  var isPresent = false
  /// The place of the newest publication known.
  private(set) var position: RoomPosition?
  /// The people present, in the order of their ids' bytes.
  private(set) var people: [PersonProfile] = []
  /// The people who type.
  private(set) var typists: [String] = []
  private var subscribeMessage: Int?
  private var retryAt: Int64?
  /// Subscriptions in a row that were to mend a disagreement.
  private var mendCount = 0
  private var waiting: [Waiting] = []
  private var receipts: [WaitingReceipt] = []
  /// The time at which refused receipts are sent again.
  private var receiptsAt: Int64?
  private var isTyping = false
  private var typingMessage: Int?
  /// The time at which typing is announced again.
  private var typingAt: Int64?

  init(name: String, timing: ClientTiming) {
    self.name = name
    self.timing = timing
  }

  /// Publications that may wait for answers in one room; of more, the newest is refused.
  static let waitingMax = 1_000
  /// Receipts that may wait; of more, the oldest is dropped, for a later one says more. A question beyond
  /// them is refused.
  static let receiptsMax = 256
  /// The number of times subscribing again is tried without a publication getting through.
  static let mendsMax = 3

  /// Whether there is nothing left to do.
  var isOver: Bool { !isWanted && waiting.isEmpty && receipts.isEmpty }

  var status: RoomStatus {
    RoomStatus(phase: phase, waiting: waiting.count)
  }

  var deadline: Int64? {
    var next = earlier(earlier(retryAt, receiptsAt), typingAt)
    for publication in waiting where publication.message == nil {
      next = earlier(next, publication.retryAt)
    }
    return next
  }

  mutating func wake(_ turn: inout Turn) {
    if let time = retryAt, time <= turn.now {
      retryAt = nil
      subscribe(&turn)
    }
    if let time = typingAt, time <= turn.now {
      typingAt = nil
      if isTyping { sendTyping(true, &turn) }
    }
    if let time = receiptsAt, time <= turn.now {
      receiptsAt = nil
      if turn.isOnline {
        for index in receipts.indices where receipts[index].message == nil {
          sendReceipt(at: index, &turn)
        }
      }
    }
    for index in waiting.indices {
      guard let time = waiting[index].retryAt, time <= turn.now else { continue }
      waiting[index].retryAt = nil
    }
    publish(from: 0, &turn)
  }

  // MARK: The app

  mutating func take(_ event: RoomEvent, _ turn: inout Turn) {
    switch event {
    case .subscribe(let isPresent, let position):
      guard !isWanted || self.isPresent != isPresent || phase.isEnded else { return }
      isWanted = true
      self.isPresent = isPresent
      if self.position == nil { self.position = position }
      mendCount = 0
      become(.subscribing, &turn)
      subscribeMessage = nil
      subscribe(&turn)
    case .unsubscribe:
      guard isWanted else { return }
      isWanted = false
      if turn.isOnline { turn.send(.unsubscribe(.init(room: name))) }
      settle()
      position = nil
      clearPeople(&turn)
      become(.left, &turn)
    case .publish(let publication, let key):
      publish(publication, key, &turn)
    case .typing(let isTyping): type(isTyping, &turn)
    case .receipt(let offset, let state):
      if receipts.count >= Self.receiptsMax {
        let oldest = receipts.firstIndex { $0.state != nil } ?? 0
        refuse(receipts.remove(at: oldest), .tooMany, &turn)
      }
      wait(for: WaitingReceipt(offset: Int(clamping: offset), state: state), &turn)
    case .receipts(let offset):
      let question = WaitingReceipt(offset: Int(clamping: offset), state: nil)
      guard receipts.count < Self.receiptsMax else { return refuse(question, .tooMany, &turn) }
      wait(for: question, &turn)
    }
  }

  private mutating func publish(
    _ publication: ClientMessage.Publish, _ key: String, _ turn: inout Turn
  ) {
    guard !waiting.contains(where: { $0.key.isSame(as: key) }) else { return }
    guard waiting.count < Self.waitingMax else {
      return tell(.publishFailed(key: key, .tooMany), &turn)
    }
    waiting.append(Waiting(publication: publication, key: key))
    publish(from: waiting.count - 1, &turn)
  }

  private mutating func type(_ isTyping: Bool, _ turn: inout Turn) {
    guard self.isTyping != isTyping else { return }
    self.isTyping = isTyping
    typingAt = nil
    sendTyping(isTyping, &turn)
  }

  // MARK: The line

  mutating func online(_ turn: inout Turn) {
    dropUnsure(&turn)
    subscribe(&turn)
    publish(from: 0, &turn)
    for index in receipts.indices { sendReceipt(at: index, &turn) }
    if isTyping { sendTyping(true, &turn) }
  }

  mutating func lost(_ turn: inout Turn) {
    settle()
    for index in waiting.indices {
      waiting[index].message = nil
      waiting[index].retryAt = nil
    }
    for index in receipts.indices { receipts[index].message = nil }
    receiptsAt = nil
    clearPeople(&turn)
    if phase == .live { become(.away, &turn) }
  }

  /// Nothing is waited for any longer that the connection would bring.
  private mutating func settle() {
    subscribeMessage = nil
    retryAt = nil
    typingMessage = nil
    typingAt = nil
  }

  private mutating func clearPeople(_ turn: inout Turn) {
    guard !people.isEmpty || !typists.isEmpty else { return }
    people = []
    typists = []
    tell(.people, &turn)
  }

  // MARK: Subscribing

  /// Asks for what came after the position known, and for what is to come. One at a time.
  private mutating func subscribe(_ turn: inout Turn) {
    guard isWanted, turn.isOnline, subscribeMessage == nil, !phase.isEnded else { return }
    retryAt = nil
    if phase == .live { become(.away, &turn) }
    subscribeMessage = turn.send(
      .subscribe(.init(room: name, position: position, isPresent: isPresent)))
  }

  mutating func subscribed(
    _ reply: ServerMessage.Subscribed, answering number: Int?, _ turn: inout Turn
  ) {
    guard let number, number == subscribeMessage else { return }
    subscribeMessage = nil
    let head = reply.position
    guard head.offset >= 0 else { return mend(&turn) }
    if let known = position {
      if reply.isRecovered == true, head.epoch.isSame(as: known.epoch), head.offset >= known.offset
      {
        // Only a whole is taken.
        var last = known.offset
        for publication in reply.publications {
          guard publication.offset > last, publication.offset <= head.offset else {
            return mend(&turn)
          }
          last = publication.offset
        }
        for publication in reply.publications { see(publication, head.epoch, &turn) }
      } else if !known.epoch.isSame(as: head.epoch) || head.offset != known.offset {
        tell(.gap(after: known, through: head), &turn)
      }
    }
    position = head
    setPeople(reply.present ?? [], &turn)
    become(.live, &turn)
    tell(.position(head), &turn)
  }

  /// Recovers from a message that does not fit: subscribing again brings what was missed.
  private mutating func mend(_ turn: inout Turn) {
    guard isWanted else { return }
    tell(.outOfStep, &turn)
    mendCount += 1
    subscribeMessage = nil
    guard mendCount <= Self.mendsMax else {
      settle()
      return become(.ended(.disagreement), &turn)
    }
    subscribe(&turn)
  }

  /// A message that could not be read may have been one of this room's publications.
  mutating func misread(_ turn: inout Turn) {
    if phase == .live { mend(&turn) }
  }

  mutating func unsubscribed(_ turn: inout Turn) {
    // A push says that the right to read the room is gone. After an `unsubscribe` nothing is wanted.
    guard isWanted, phase == .live else { return }
    settle()
    clearPeople(&turn)
    become(.ended(.readingLost), &turn)
  }

  // MARK: Publications

  mutating func publication(_ push: ServerMessage.RoomPublication, _ turn: inout Turn) {
    guard phase == .live, let known = position else { return }
    guard push.epoch.isSame(as: known.epoch) else { return mend(&turn) }
    // Offsets rise; one that is left out was not meant for this client.
    guard push.publication.offset > known.offset else { return }
    mendCount = 0
    see(push.publication, push.epoch, &turn)
  }

  private mutating func see(
    _ publication: Publication, _ epoch: String, _ turn: inout Turn
  ) {
    position = RoomPosition(epoch: epoch, offset: publication.offset)
    tell(.publication(publication, epoch: epoch), &turn)
  }

  /// Sends the publications from this place on that are neither under way nor put off.
  private mutating func publish(from first: Int, _ turn: inout Turn) {
    guard turn.isOnline, let clientID = turn.clientID else { return }
    var index = first
    while index < waiting.count {
      let next = waiting[index]
      guard next.message == nil, next.retryAt == nil else {
        index += 1
        continue
      }
      let (number, bytes) = turn.encode(.publish(next.publication))
      guard bytes.count <= turn.limits.messageBytesMax else {
        // The server would end the connection over it.
        waiting.remove(at: index)
        tell(.publishFailed(key: next.key, .tooLarge), &turn)
        continue
      }
      waiting[index].clientID = clientID
      waiting[index].message = number
      turn.actions.append(.send(bytes))
      index += 1
    }
  }

  /// Gives up publications that were sent under another id: a key counts for one client, so under
  /// this one's they may be stored a second time.
  private mutating func dropUnsure(_ turn: inout Turn) {
    guard let clientID = turn.clientID else { return }
    for index in waiting.indices.reversed() {
      guard let first = waiting[index].clientID, !first.isSame(as: clientID) else { continue }
      let key = waiting.remove(at: index).key
      tell(.publishUnsure(key: key), &turn)
    }
  }

  mutating func published(
    _ reply: ServerMessage.Published, answering number: Int?, _ turn: inout Turn
  ) {
    guard let number, let index = waiting.firstIndex(where: { $0.message == number }) else {
      return
    }
    let key = waiting.remove(at: index).key
    tell(.published(key: key, reply.position, isRepeated: reply.isRepeated), &turn)
  }

  // MARK: Receipts and typing

  private mutating func wait(for receipt: WaitingReceipt, _ turn: inout Turn) {
    receipts.append(receipt)
    if turn.isOnline { sendReceipt(at: receipts.count - 1, &turn) }
  }

  private mutating func sendReceipt(at index: Int, _ turn: inout Turn) {
    let offset = receipts[index].offset
    receipts[index].message =
      if let state = receipts[index].state {
        turn.send(.receipt(.init(room: name, offset: offset, state: state)))
      } else {
        turn.send(.receipts(.init(room: name, offset: offset)))
      }
  }

  /// Reports why a request for receipts has no answer; a receipt sent by this client needs none.
  private func refuse(_ receipt: WaitingReceipt, _ code: ErrorCode, _ turn: inout Turn) {
    if receipt.state == nil { tell(.receipts(offset: receipt.offset, [], code), &turn) }
  }

  mutating func receipts(
    _ reply: ServerMessage.Receipts, answering number: Int?, _ turn: inout Turn
  ) {
    guard let number, let index = receipts.firstIndex(where: { $0.message == number }) else {
      return
    }
    let question = receipts.remove(at: index)
    tell(.receipts(offset: question.offset, reply.receipts, nil), &turn)
  }

  mutating func receipt(
    _ receipt: ServerMessage.Receipt, answering number: Int?, _ turn: inout Turn
  ) {
    if let number, let index = receipts.firstIndex(where: { $0.message == number }) {
      receipts.remove(at: index)
    } else {
      tell(.receipt(receipt), &turn)
    }
  }

  /// A publication was reported; only moderators receive this.
  func flagged(_ flag: ServerMessage.Flag, _ turn: inout Turn) { tell(.flagged(flag), &turn) }

  /// The client is another person's from here, who has read nothing.
  mutating func changePerson(_ turn: inout Turn) {
    for receipt in receipts { refuse(receipt, .unauthorised, &turn) }
    receipts = []
    receiptsAt = nil
  }

  private mutating func sendTyping(_ isTyping: Bool, _ turn: inout Turn) {
    guard turn.isOnline else { return }
    typingMessage = turn.send(.typing(.init(room: name, isTyping: isTyping)))
    // It ends by itself: said again in half the time, it does not.
    if isTyping {
      typingAt = turn.after(Int64(max(1_000, turn.limits.typingMilliseconds / 2)))
    }
  }

  mutating func typing(_ push: ServerMessage.Typing, _ turn: inout Turn) {
    let index = typists.firstIndex { $0.isSame(as: push.personID) }
    switch (index, push.isTyping) {
    case (nil, true): typists.append(push.personID)
    case (let index?, false): typists.remove(at: index)
    case (nil, false), (_?, true): return
    }
    tell(.people, &turn)
  }

  // MARK: People

  mutating func presence(_ change: PresenceChange, _ turn: inout Turn) {
    guard phase == .live else { return }
    for person in change.joined + change.updated { enter(person) }
    for id in change.left {
      let (at, isThere) = slot(of: id)
      if isThere { people.remove(at: at) }
    }
    tell(.people, &turn)
  }

  private mutating func setPeople(_ present: [PersonProfile], _ turn: inout Turn) {
    guard !present.isEmpty || !people.isEmpty else { return }
    people = []
    for person in present { enter(person) }
    tell(.people, &turn)
  }

  private mutating func enter(_ person: PersonProfile) {
    let (at, isThere) = slot(of: person.personID)
    if isThere { people[at] = person } else { people.insert(person, at: at) }
  }

  private func slot(of personID: String) -> (index: Int, isThere: Bool) {
    people.slot(of: personID) { $0.personID }
  }

  // MARK: Errors

  /// An error came in reply to a message.
  ///
  /// - Returns: whether that message was this room's.
  mutating func failed(
    _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
  ) -> Bool {
    if number == subscribeMessage {
      subscribeMessage = nil
      if error.retryable {
        retryAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        become(.ended(.refused(error.code)), &turn)
      }
      return true
    }
    if number == typingMessage {
      typingMessage = nil
      return true
    }
    if let index = receipts.firstIndex(where: { $0.message == number }) {
      receipts[index].message = nil
      if error.retryable {
        receiptsAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        refuse(receipts.remove(at: index), error.code, &turn)
      }
      return true
    }
    guard let index = waiting.firstIndex(where: { $0.message == number }) else { return false }
    if error.retryable {
      waiting[index].message = nil
      waiting[index].retryAt = turn.after(error.retryAfter, or: timing.retryAfter)
    } else {
      let key = waiting.remove(at: index).key
      tell(.publishFailed(key: key, error.code), &turn)
    }
    return true
  }

  // MARK: Telling

  private mutating func become(_ phase: RoomStatus.Phase, _ turn: inout Turn) {
    guard phase != self.phase || phase == .subscribing else { return }
    self.phase = phase
    tell(.status(status), &turn)
  }

  private func tell(_ action: RoomAction, _ turn: inout Turn) {
    turn.actions.append(.room(name, action))
  }
}
