import SocketMessages

/// The client's side of a room: subscribes, resumes from its position, and sends publications until
/// they are answered.
///
///     subscribing ──subscribed──▶ live ◀──subscribed── away        ended
///                                  └──line lost, misread──▶┘
///
/// Each publication is delivered once and in order, or a gap is reported. This client's
/// publications are sent under the app's key until the server answers; the server stores one
/// publication for each key.
struct RoomMachine: Sendable {
  /// A publication without an answer.
  struct Waiting: Sendable {
    let publication: ClientMessage.Publish
    let key: String
    /// The client id under which it was first sent: a key is unique for one client.
    var clientID: String?
    /// The number of the message that contains it, on this connection.
    var message: Int?
    var retryAt: Int64?
  }

  /// A receipt, or a request for receipts, without an answer.
  struct WaitingReceipt: Sendable {
    let offset: Int
    /// The stage; `nil` for a request.
    let state: ReceiptStage?
    var message: Int?
  }

  let name: String
  let timing: ClientTiming
  var phase = RoomStatus.Phase.subscribing
  /// Whether the app subscribes to the room, and does not only publish.
  var isWanted = false
  var isPresent = false
  /// The position of the newest publication known.
  private(set) var position: RoomPosition?
  /// The people present, sorted by the bytes of their ids.
  private(set) var people: [PersonProfile] = []
  /// The ids of the people who type.
  private(set) var typists: [String] = []
  private var subscribeMessage: Int?
  private var retryAt: Int64?
  /// Subscriptions after a disagreement since the last publication.
  private var mendCount = 0
  private var waiting: [Waiting] = []
  private var receipts: [WaitingReceipt] = []
  /// The time at which rate-limited receipts are sent again.
  private var receiptsAt: Int64?
  private var isTyping = false
  private var typingMessage: Int?
  /// The time at which typing is announced again.
  private var typingAt: Int64?
  #if !hasFeature(Embedded)
    /// The room's values; `nil` if the app does not follow them.
    var replica: ValueReplica?
    /// The changes of values without an answer, as the owner has stored them.
    private var kept: [KeptChange] = []
    /// The time at which the changes are stored again.
    private var keepAt: Int64?
  #endif

  init(name: String, timing: ClientTiming) {
    self.name = name
    self.timing = timing
  }

  /// Maximum unanswered publications of one room; further ones are refused.
  static let waitingMax = 1_000
  /// Maximum unanswered receipts. Beyond it, the oldest receipt is dropped, because a later one
  /// implies it, and a further request for receipts is refused.
  static let receiptsMax = 256
  /// Maximum subscriptions after a disagreement without a publication.
  static let recoveriesMax = 3

  /// Whether nothing is left to do.
  var isOver: Bool {
    #if !hasFeature(Embedded)
      // The app may follow values before it subscribes.
      guard replica == nil, keepAt == nil else { return false }
    #endif
    return !isWanted && waiting.isEmpty && receipts.isEmpty
  }

  var status: RoomStatus {
    RoomStatus(phase: phase, waiting: waiting.count)
  }

  var deadline: Int64? {
    var next = earlier(earlier(retryAt, receiptsAt), typingAt)
    #if !hasFeature(Embedded)
      next = earlier(next, keepAt)
    #endif
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
    #if !hasFeature(Embedded)
      if let time = keepAt, time <= turn.now { keepChanges(&turn) }
    #endif
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
      #if !hasFeature(Embedded)
        replica = nil
      #endif
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
    #if !hasFeature(Embedded)
      case .followValues: followValues(&turn)
      case .change(let publication, let key, let cause):
        publish(publication, key, cause: cause, &turn)
      case .restoreChanges(let changes): restore(changes, &turn)
      case .dropStep(let key): replica?.dropStep(key: key)
      case .signal(let signal, let data):
        if turn.isOnline, phase == .live {
          turn.send(.signal(.init(room: name, name: signal, data: data)))
        }
    #endif
    }
  }

  private mutating func publish(
    _ publication: ClientMessage.Publish, _ key: String, cause: ValueCause = .change,
    _ turn: inout Turn
  ) {
    guard !waiting.contains(where: { $0.key.isSame(as: key) }) else { return }
    guard waiting.count < Self.waitingMax else {
      return tell(.publishFailed(key: key, .tooMany), &turn)
    }
    #if hasFeature(Embedded)
      waiting.append(Waiting(publication: publication, key: key))
    #else
      var publication = publication
      if let operations = publication.values?.all {
        // The client recognises its own change by this id if the publication arrives before the
        // answer.
        publication.senderID = key
        replica?.add(operations, key: key, cause: cause)
      }
      waiting.append(Waiting(publication: publication, key: key))
      tellValues(&turn)
    #endif
    publish(from: waiting.count - 1, &turn)
  }

  #if !hasFeature(Embedded)
    /// Subscribes again, with what the app wants now.
    mutating func resubscribe(_ turn: inout Turn) {
      guard isWanted else { return }
      subscribeMessage = nil
      subscribe(&turn)
    }

    // MARK: Changes that are stored

    /// The changes of values without an answer.
    private var changes: [KeptChange] {
      waiting.compactMap { each in
        each.publication.values.map { _ in
          KeptChange(publication: each.publication, key: each.key, clientID: each.clientID)
        }
      }
    }

    /// Has the owner store the changes of values without an answer, if they differ from the stored
    /// ones.
    mutating func keepChanges(_ turn: inout Turn) {
      keepAt = nil
      let changes = changes
      guard changes != kept else { return }
      kept = changes
      tell(.keepChanges(changes), &turn)
    }

    /// Has the owner store the changes later if they were sent, because most are answered soon, and
    /// now without a connection.
    ///
    /// What is stored as not sent would be sent under any client id, so it is stored as sent before it
    /// is.
    private mutating func keepChangesSoon(_ turn: inout Turn) {
      let changes = changes
      guard changes != kept else { return }
      let isNewlySent = kept.contains { known in
        known.clientID == nil && changes.contains { $0.key == known.key && $0.clientID != nil }
      }
      guard turn.isOnline, !isNewlySent else { return keepChanges(&turn) }
      keepAt = earlier(keepAt, turn.after(Self.keepMilliseconds))
    }

    /// Has the owner remove an answered change, some time later: sent again under its key, it would be
    /// stored once.
    private mutating func forgetChange(_ turn: inout Turn) {
      guard changes != kept else { return keepAt = nil }
      keepAt = earlier(keepAt, turn.after(Self.forgetMilliseconds))
    }

    private static let keepMilliseconds: Int64 = 50
    private static let forgetMilliseconds: Int64 = 1_000

    /// Takes the changes of an earlier process, which come before those of this one.
    private mutating func restore(_ changes: [KeptChange], _ turn: inout Turn) {
      let restored = changes.filter { change in !waiting.contains { $0.key.isSame(as: change.key) }
      }
      waiting.insert(
        contentsOf: restored.map {
          Waiting(publication: $0.publication, key: $0.key, clientID: $0.clientID)
        }, at: 0)
      kept = self.changes
      tell(.keepChanges(kept), &turn)
      for change in restored {
        replica?.add(change.publication.values?.all ?? [], key: change.key, cause: nil)
      }
      tellValues(&turn)
      if turn.isOnline { dropUncertain(&turn) }
      publish(from: 0, &turn)
    }

    /// The operations of the changes without an answer, by their keys, in order.
    var pendingChanges: [(key: String, operations: [ValueOperation])] {
      waiting.compactMap { each in each.publication.values.map { (each.key, $0.all) } }
    }

    func signalled(_ signal: ServerMessage.Signal, _ turn: inout Turn) {
      tell(.signal(signal), &turn)
    }
  #endif

  private mutating func type(_ isTyping: Bool, _ turn: inout Turn) {
    guard self.isTyping != isTyping else { return }
    self.isTyping = isTyping
    typingAt = nil
    sendTyping(isTyping, &turn)
  }

  // MARK: The line

  mutating func online(_ turn: inout Turn) {
    dropUncertain(&turn)
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
    #if !hasFeature(Embedded)
      replica?.pageMessage = nil
      keepChanges(&turn)
    #endif
    clearPeople(&turn)
    if phase == .live { become(.away, &turn) }
  }

  /// Forgets pending requests and retries of the subscription and of typing.
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

  /// Subscribes from the position known. Only one subscription is pending at a time.
  private mutating func subscribe(_ turn: inout Turn) {
    guard isWanted, turn.isOnline, subscribeMessage == nil, !phase.isEnded else { return }
    retryAt = nil
    if phase == .live { become(.away, &turn) }
    #if hasFeature(Embedded)
      subscribeMessage = turn.send(
        .subscribe(.init(room: name, position: position, isPresent: isPresent)))
    #else
      var message = ClientMessage.Subscribe(
        room: name, position: position, isPresent: isPresent)
      if replica != nil { message.values = ValueNames() }
      replica?.subscribing()
      subscribeMessage = turn.send(.subscribe(message))
    #endif
  }

  mutating func subscribed(
    _ reply: ServerMessage.Subscribed, answering number: Int?, _ turn: inout Turn
  ) {
    guard let number, number == subscribeMessage else { return }
    subscribeMessage = nil
    let head = reply.position
    guard head.offset >= 0 else { return mend(&turn) }
    if let known = position {
      if reply.isRecovered == true, head.epoch == known.epoch, head.offset >= known.offset {
        // Deliver the missed publications only if all of them are valid.
        var last = known.offset
        for publication in reply.publications {
          guard publication.offset > last, publication.offset <= head.offset else {
            return mend(&turn)
          }
          last = publication.offset
        }
        for publication in reply.publications { see(publication, head.epoch, &turn) }
      } else if known.epoch != head.epoch || head.offset != known.offset {
        tell(.gap(after: known, through: head), &turn)
      }
    }
    position = head
    setPeople(reply.present ?? [], &turn)
    become(.live, &turn)
    tell(.position(head), &turn)
    #if !hasFeature(Embedded)
      beginValues(reply, &turn)
    #endif
  }

  /// Recovers from a message that does not match the local state. The reply to another subscription
  /// contains the missed publications.
  mutating func mend(_ turn: inout Turn) {
    guard isWanted else { return }
    tell(.outOfStep, &turn)
    mendCount += 1
    subscribeMessage = nil
    guard mendCount <= Self.recoveriesMax else {
      settle()
      return become(.ended(.disagreement), &turn)
    }
    subscribe(&turn)
  }

  /// Recovers from an unreadable message, which may have been a publication of this room.
  mutating func misread(_ turn: inout Turn) {
    if phase == .live { mend(&turn) }
  }

  mutating func unsubscribed(_ turn: inout Turn) {
    // A push means that the right to read the room has ended. After an `unsubscribe`, `isWanted` is
    // false.
    guard isWanted, phase == .live else { return }
    settle()
    clearPeople(&turn)
    become(.ended(.readingLost), &turn)
  }

  // MARK: Publications

  mutating func publication(_ push: ServerMessage.RoomPublication, _ turn: inout Turn) {
    guard phase == .live, let known = position else { return }
    guard push.epoch == known.epoch else { return mend(&turn) }
    // Offsets ascend. A missing offset is a publication that was not sent to this client.
    guard push.publication.offset > known.offset else { return }
    mendCount = 0
    see(push.publication, push.epoch, &turn)
  }

  private mutating func see(
    _ publication: Publication, _ epoch: Epoch, _ turn: inout Turn
  ) {
    position = RoomPosition(epoch: epoch, offset: publication.offset)
    tell(.publication(publication, epoch: epoch), &turn)
    #if !hasFeature(Embedded)
      applyValues(of: publication, &turn)
    #endif
  }

  /// Sends the publications from an index on, except those that are in flight or deferred.
  private mutating func publish(from first: Int, _ turn: inout Turn) {
    #if !hasFeature(Embedded)
      // A change that was sent is stored with the client id under which its key is known.
      if turn.isOnline, let clientID = turn.clientID {
        for index in waiting.indices.dropFirst(first)
        where waiting[index].message == nil && waiting[index].retryAt == nil {
          waiting[index].clientID = clientID
        }
      }
      keepChangesSoon(&turn)
    #endif
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
        // The server would close the connection because of it.
        waiting.remove(at: index)
        tell(.publishFailed(key: next.key, .tooLarge), &turn)
        #if !hasFeature(Embedded)
          replica?.withdraw(key: next.key)
          tellValues(&turn)
          keepChanges(&turn)
        #endif
        continue
      }
      waiting[index].clientID = clientID
      waiting[index].message = number
      turn.actions.append(.send(bytes))
      index += 1
    }
  }

  /// Gives up publications that were sent under another client id. A key is unique for one client,
  /// so they could be stored twice under the new id.
  private mutating func dropUncertain(_ turn: inout Turn) {
    guard let clientID = turn.clientID else { return }
    for index in waiting.indices.reversed() {
      guard let first = waiting[index].clientID, !first.isSame(as: clientID) else { continue }
      let key = waiting.remove(at: index).key
      tell(.publishUnsure(key: key), &turn)
      #if !hasFeature(Embedded)
        replica?.withdraw(key: key)
        tellValues(&turn)
        keepChanges(&turn)
      #endif
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
    #if !hasFeature(Embedded)
      replica?.accepted(key: key, at: reply.position)
      tellValues(&turn)
      forgetChange(&turn)
    #endif
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

  /// Reports why a request for receipts has no answer; a receipt needs no report.
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

  /// Reports a flagged publication; only moderators receive this.
  func flagged(_ flag: ServerMessage.Flag, _ turn: inout Turn) { tell(.flagged(flag), &turn) }

  /// Discards receipts, because they belong to the former person.
  mutating func changePerson(_ turn: inout Turn) {
    for receipt in receipts { refuse(receipt, .unauthorised, &turn) }
    receipts = []
    receiptsAt = nil
  }

  private mutating func sendTyping(_ isTyping: Bool, _ turn: inout Turn) {
    guard turn.isOnline else { return }
    typingMessage = turn.send(.typing(.init(room: name, isTyping: isTyping)))
    // Typing expires, so it is announced again after half of its time.
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
      let (at, isThere) = slot(of: id.text)
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
    let (at, isThere) = slot(of: person.personID.text)
    if isThere { people[at] = person } else { people.insert(person, at: at) }
  }

  private func slot(of personID: String) -> (index: Int, isThere: Bool) {
    people.slot(of: personID) { $0.personID.text }
  }

  // MARK: Errors

  /// Handles an error that answers a message.
  ///
  /// - Returns: Whether this room has sent that message.
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
    #if !hasFeature(Embedded)
      if number == replica?.pageMessage {
        replica?.pageMessage = nil
        if error.retryable { retryAt = turn.after(error.retryAfter, or: timing.retryAfter) }
        return true
      }
    #endif
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
      #if !hasFeature(Embedded)
        refuseChange(key, error, &turn)
      #endif
      tell(.publishFailed(key: key, error.code), &turn)
      #if !hasFeature(Embedded)
        keepChanges(&turn)
      #endif
    }
    return true
  }

  // MARK: Actions

  private mutating func become(_ phase: RoomStatus.Phase, _ turn: inout Turn) {
    guard phase != self.phase || phase == .subscribing else { return }
    self.phase = phase
    tell(.status(status), &turn)
  }

  func tell(_ action: RoomAction, _ turn: inout Turn) {
    turn.actions.append(.room(name, action))
  }
}
