import ParleyGatewayPorts
import OTCore
import SocketMessages
import ParleyWebSocketFrames

/// The server side of `parley.v1`.
final class NativeDialect: ConnectionDialect, DocumentMessaging, RoomMessaging {
  let documents: Documents
  let rooms: Rooms
  let access: Access
  let creation: NoteCreation
  /// The capabilities listed in `welcome`, sorted.
  let capabilities: [String]
  /// The receiver of calls that concern other parts.
  unowned var owner: (any NativeDialectOwner)?

  init(_ board: Switchboard, _ documents: Documents, _ rooms: Rooms, _ access: Access) {
    self.documents = documents
    self.rooms = rooms
    self.access = access
    creation = NoteCreation(board, rooms)
    let own = [
      "create", "documentHistory", "documents", "exact", "folders", "numbers", "presence",
      "publish",
      "resume", "rich", "roomHistory", "rooms", "selections", "signals", "values",
    ]
    capabilities = (own + rooms.people.capabilities).sorted()
    super.init(
      board, Traits(listing: .native, hearsOfPeople: true, knowsEpochs: true, sharesTexts: true))
  }

  // MARK: Messages

  func received(
    _ bytes: UnsafeRawBufferPointer, kind: MessageKind, excess: Excess?,
    on connection: Connection
  ) {
    guard kind == .text else {
      sendError(
        .badMessage, "expected a text frame with JSON; got a binary frame", ref: "",
        to: connection)
      close(connection, .badMessage, "binary frame")
      return
    }
    let message: ClientMessage
    let ref: String
    do {
      (ref, message) = try ClientMessage.decode(
        bytes, operationComponentsMax: settings.limits.operationComponentsMax)
    } catch {
      metrics.received["malformed", default: 0] += 1
      if let change = error.change, case .ready = connection.phase {
        documents.refusals.refuse(
          change.sequence, error.code, error.description, of: DocumentID(change.documentID),
          ref: error.messageID ?? "", to: connection)
        return
      }
      sendError(error.code, error.description, ref: error.messageID ?? "", to: connection)
      // An undecodable change has no sequence to reject, so the error refers to the message's id.
      return
    }
    metrics.received[message.metricName, default: 0] += 1
    if let excess {
      refuse(message, excess, ref: ref, connection)
      return
    }
    do throws(MessageRefusal) {
      switch connection.phase {
      case .greeting:
        guard case .hello(let hello) = message else {
          throw MessageRefusal(
            .notAllowed, "expected hello as the first message; say hello, then the rest")
        }
        try greet(hello, ref: ref, connection)
      case .ready: try handle(message, ref: ref, connection)
      case .closing: break
      }
    } catch {
      sendError(
        error.code, error.message, ref: ref, retryAfter: error.retryAfter, to: connection)
    }
  }

  func oversized(_ connection: Connection, bytesMax: Int) {
    let words =
      connection.identity == nil && bytesMax < settings.limits.messageBytesMax
      ? "until a token is accepted, a message may have at most \(bytesMax) bytes; send hello first"
      : "a message may have at most \(bytesMax) bytes; send the change in smaller pieces"
    sendError(.tooLarge, words, ref: "", to: connection)
    board.close(connection, .messageTooLarge, "message too large")
  }

  func droppedForMemory(_ connection: Connection) {
    let pause = settings.retryAfterMilliseconds
    sendError(
      .busy, "too much is being received from this client at once; wait, then send it again",
      ref: "", retryAfter: pause, to: connection)
    sendGoodbye(reason: "busy", reconnectAfter: pause...(4 * pause), to: connection)
    closeCrowded(connection)
  }

  func sendError(
    _ code: ErrorCode, _ message: String, ref: String, retryAfter: Int? = nil,
    to connection: Connection
  ) {
    // At info level once per connection and code: a client in a loop must not fill the log.
    let isFirst = connection.refusals.insert(code).inserted
    log(isFirst ? .info : .debug, "message refused", code.rawValue)
    send(
      .error(
        .init(
          code: code, message: message, retryable: code.isRetryable,
          retryAfter: pause(after: code, retryAfter))),
      ref: ref, to: connection)
  }

  /// Milliseconds after which to retry a rejected message; `nil` if a retry is useless.
  private func pause(after code: ErrorCode, _ known: Int?) -> Int? {
    code.isRetryable ? known ?? settings.retryAfterMilliseconds : nil
  }

  // MARK: Documents

  func joined(_ subscription: Subscription, _ join: DocumentJoin, messageID: String) {
    let live = join.live
    let room = subscription.room
    let connection = subscription.connection
    subscription.revision = live.durableRevision
    let joined = ServerMessage.Joined(
      documentID: room.id.text, title: live.title, epoch: live.epoch.text,
      revision: live.durableRevision,
      content: join.missed.map { .changes($0.changes(formats: subscription.formats)) } ?? .text(""),
      lastSequence: live.lastDurableSequence(of: connection.client), change: live.nameOfHead,
      settled: join.settled, access: join.verbs.contains(.write) ? .write : .read, presence: [],
      people: join.verbs.contains(.presence) ? room.people.presence.announcedCount : nil,
      numbers: connection.numbersMax > 0 && room.numbers.areRetained(by: connection.numbersMax)
        ? room.numbers.all : nil,
      kind: live.shownKind)
    subscription.numberKnown = room.numbers.last
    func appendOthers(_ buffer: inout [UInt8]) {
      (join.others ?? EncodedParticipants([])).append(to: &buffer, leavingOut: connection.client)
    }
    if join.missed == nil {
      sendText(
        to: subscription, in: .joined(joined), ref: messageID, presence: appendOthers)
    } else {
      let frame = Frame {
        ServerMessage.joined(joined).encode(
          messageID: messageID, into: &$0, text: nil, presence: appendOthers)
      }
      board.send(frame, to: connection)
    }
  }

  func behind(
    _ live: LiveDocument, settled: ChangeName?, messageID: String, _ connection: Connection
  ) {
    send(
      .behind(
        .init(
          documentID: live.id.text, epoch: live.epoch.text, revision: live.durableRevision,
          lastSequence: live.lastDurableSequence(of: connection.client), settled: settled)),
      ref: messageID, to: connection)
  }

  func made(
    _ note: NoteSummary, isRepeated: Bool, ref: String, _ connection: Connection
  ) {
    send(
      .created(
        .init(
          documentID: note.id.text, title: note.title,
          folder: note.folder.isNone ? nil : note.folder.text, isRepeated: isRepeated)),
      ref: ref, to: connection)
  }

  func page(
    _ entries: ArraySlice<LogEntry>, after revision: Int, of live: LiveDocument, ref: String,
    _ connection: Connection
  ) {
    send(
      .documentHistory(
        .init(
          documentID: live.id.text, epoch: live.epoch.text, revision: revision + 1,
          changes: entries.changes(formats: connection.knowsFormats), time: entries.last?.time,
          hasMore: revision + entries.count < live.durableRevision)),
      ref: ref, to: connection)
  }

  /// Sends a message with the document's newest text, with its attributes to clients that know
  /// formatting. The encoded text is cached for further clients until the next revision.
  private func sendText(
    to subscription: Subscription, in message: ServerMessage, ref: String,
    presence: ((inout [UInt8]) -> Void)? = nil
  ) {
    let room = subscription.room
    guard let live = room.live else { return }
    let isFormatted = subscription.formats && live.durableContent.document.hasAttributes
    let now = dependencies.clock.uptime
    var text: SharedText
    if let kept = room.sharedTexts[isFormatted: isFormatted],
      kept.revision == live.durableRevision
    {
      text = kept
      text.usedAt = now
    } else {
      text = SharedText(live, isFormatted: isFormatted, now: now)
    }
    room.sharedTexts[isFormatted: isFormatted] = text
    board.send(
      text.frames(of: message, ref: ref, presence: presence), to: subscription.connection)
  }

  func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {
    sendError(code, message, ref: ref, to: connection)
  }

  /// Does nothing: `turnAway` has already sent the reason.
  func turnAwayFromDeleted(_ connection: Connection) {}

  /// Returns no frames: one frame contains all entries of a delivery.
  func frames(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) -> [Frame] { [] }

  func deliver(
    _ delivery: inout Delivery, to subscription: Subscription, on connection: Connection
  ) {
    if delivery.entries.count == 1, !subscription.messageIDs.isEmpty,
      delivery.first.client == connection.client,
      let messageID = subscription.messageIDs.removeValue(forKey: delivery.first.revision)
    {
      let first = delivery.first
      acknowledge(
        first.sequence, revision: first.revision, time: first.time, of: subscription.room.id,
        ref: messageID, to: connection)
      return
    }
    subscription.forgetMessageIDs(through: delivery.revisions.upperBound)
    if let frame = numberedFrame(&delivery, for: subscription, on: connection) {
      return board.push(frame, to: connection)
    }
    let formats = delivery.hasFormats && subscription.formats
    let entries = delivery.entries
    let frame = delivery.shared.frame(formatted: formats) {
      changesFrame(entries, of: subscription.room.id, formats: formats)
    }
    board.push(frame, to: connection)
  }

  /// Returns the frame of a delivery with authors' numbers instead of client ids. Followers that
  /// already know all earlier numbers share one frame.
  ///
  /// - Returns: `nil` if the delivery has more authors than can be numbered, or the follower stores
  ///   fewer numbers.
  private func numberedFrame(
    _ delivery: inout Delivery, for subscription: Subscription, on connection: Connection
  ) -> Frame? {
    let most = connection.numbersMax
    guard most > 0 else { return nil }
    if delivery.numbered == nil, subscription.room.numbers.areRetained(by: most) {
      delivery.numbered = numbered(delivery.entries, in: subscription.room)
    }
    guard let newest = delivery.numbered?.newest, let known = delivery.numbered?.numberKnown,
      let kept = delivery.numbered?.keptMin, most >= kept
    else { return nil }
    let before = subscription.numberKnown
    subscription.numberKnown = newest
    let formats = delivery.hasFormats && subscription.formats
    if before < known, let run = delivery.numbered?.run {
      // The follower has lagged, and does not know some authors' numbers.
      let missed = subscription.room.numbers.authors(after: before)
      return frame(run, missed, formats ? delivery.entries : nil)
    }
    let entries = delivery.entries
    guard let run = delivery.numbered?.run, let authors = delivery.numbered?.authors else {
      return nil
    }
    return delivery.numbered?.frames.frame(formatted: formats) {
      frame(run, authors, formats ? entries : nil)
    }
  }

  /// Encodes numbered changes, with the formatting of entries unless these are `nil`.
  private func frame(
    _ run: ServerMessage.NumberedChanges.Run, _ authors: [ServerMessage.Author],
    _ entries: ArraySlice<LogEntry>?
  ) -> Frame {
    var run = run
    for (index, entry) in (entries ?? []).enumerated() {
      run.changes[index].format = entry.format.map(FormatJSON.init)
    }
    return frame(.numberedChanges(.init(run: run, authors: authors)), ref: "")
  }

  /// Numbers the authors of entries.
  private func numbered(
    _ entries: ArraySlice<LogEntry>, in room: DocumentRoom
  ) -> Delivery.NumberedFrames? {
    let known = room.numbers.last
    guard let run = room.numbers.run(of: entries) else { return nil }
    return .init(
      run: run, authors: room.numbers.authors(after: known), numberKnown: known,
      newest: room.numbers.last, keptMin: room.numbers.usedMax)
  }

  func send(_ entries: ArraySlice<LogEntry>, to subscription: Subscription) {
    guard let last = entries.last else { return }
    let frame = changesFrame(
      entries, of: subscription.room.id, formats: subscription.formats)
    board.push(frame, to: subscription.connection)
    subscription.forgetMessageIDs(through: last.revision)
  }

  private func changesFrame(
    _ entries: ArraySlice<LogEntry>, of id: DocumentID, formats: Bool
  ) -> Frame {
    let first = entries.first?.revision ?? 0
    return frame(
      .changes(
        .init(
          documentID: id.text, revision: first, changes: entries.changes(formats: formats),
          time: entries.last?.time)),
      ref: pushID())
  }

  func resync(
    _ subscription: Subscription, _ live: LiveDocument, reason: ServerMessage.ResyncReason,
    messageID: String
  ) {
    metrics.resyncs[reason.rawValue, default: 0] += 1
    subscription.revision = live.durableRevision
    subscription.textRevision = live.durableRevision
    subscription.messageIDs.removeAll()
    sendText(
      to: subscription,
      in: .resync(
        ServerMessage.Resync(
          documentID: live.id.text, reason: reason, epoch: live.epoch.text,
          revision: live.durableRevision, text: "",
          lastSequence: live.lastDurableSequence(of: subscription.connection.client),
          change: live.nameOfHead, kind: live.shownKind)),
      ref: messageID)
  }

  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int? = nil, to connection: Connection
  ) {
    send(
      .refused(
        .init(
          documentID: id.text, sequence: sequence, code: code, message: message,
          retryable: code.isRetryable, retryAfter: pause(after: code, retryAfter))),
      ref: ref, to: connection)
  }

  func refuseOutdated(
    _ sequence: Int, _ message: String, head: Int, of id: DocumentID, ref: String,
    to connection: Connection
  ) {
    var refused = ServerMessage.Refused(
      documentID: id.text, sequence: sequence, code: .outdated, message: message,
      retryable: false, retryAfter: nil)
    refused.revision = head
    send(.refused(refused), ref: ref, to: connection)
  }

  func putOff(
    _ sequence: Int, of id: DocumentID, ref: String, to connection: Connection
  ) {
    metrics.changesRefused[ErrorCode.busy.rawValue, default: 0] += 1
    refuse(sequence, .busy, StoreBacklog.words, of: id, ref: ref, to: connection)
  }

  func acknowledge(
    _ sequence: Int, revision: Int, time: Timestamp?, of id: DocumentID, ref: String,
    to connection: Connection
  ) {
    send(
      .acknowledged(
        .init(documentID: id.text, sequence: sequence, revision: revision, time: time)), ref: ref,
      to: connection)
  }

  func changedAccess(
    to access: ServerMessage.AccessChanged.Access, of id: DocumentID, _ connection: Connection
  ) {
    send(.accessChanged(.init(documentID: id.text, access: access)), ref: pushID(), to: connection)
  }

  // MARK: Rooms

  func frame(of news: RoomEvent) -> Frame? {
    let message: ServerMessage? =
      switch news.content {
      case .publication(let publication, let epoch):
        .publication(.init(room: news.room.text, epoch: epoch, publication: publication))
      case .update(let update): .resourceUpdate(update)
      // The protocol has no message for events of other members.
      case .event: nil
      case .signal(let signal):
        .signal(
          .init(
            room: news.room.text, clientID: signal.client, personID: signal.person,
            name: signal.name, data: signal.data))
      }
    return message.map { frame($0, ref: pushID()) }
  }

  func sender(of news: RoomEvent) -> ConnectionID? { nil }

  func frames(of change: PresenceChange) -> [Frame] {
    let isEmpty = change.joined.isEmpty && change.updated.isEmpty && change.left.isEmpty
    return isEmpty ? [] : [frame(.roomPresence(change), ref: pushID())]
  }

  func lostReading(
    ofRoom room: RoomName, _ connection: Connection
  ) {
    rooms.leave(room: room, connection)
    send(.unsubscribed(.init(room: room.text)), ref: pushID(), to: connection)
  }

  // MARK: The connection

  func warn(_ connection: Connection, ofEnd end: Timestamp) {
    connection.isWarned = true
    send(.tokenExpiring(.init(expiresAt: end)), ref: pushID(), to: connection)
  }

  func sendGoodbye(
    reason: String, reconnectAfter: ClosedRange<Int>, to connection: Connection
  ) {
    send(
      .goodbye(.init(reason: reason, reconnectAfter: reconnectAfter)), ref: pushID(),
      to: connection)
  }
}

/// The rights part's interface for the `parley.v1` dialect.
protocol NativeDialectOwner: AnyObject {
  /// Replaces a connection's identity by that of a renewed token.
  func renew(_ connection: Connection, with identity: Identity)
  /// Applies a connection's current rights to all its subscriptions.
  func applyRights(to connection: Connection)
  /// Sends a possibly changed name and colour to the other participants.
  func shareProfile(of connection: Connection)
}

extension Sequence<LogEntry> {
  /// Returns the entries of a log as the changes that followers receive.
  ///
  /// - Parameter formats: Whether the follower knows formatting.
  fileprivate func changes(formats: Bool) -> [ServerMessage.Change] {
    map { entry in
      ServerMessage.Change(
        clientID: entry.client, sequence: entry.sequence, operation: entry.operation,
        format: formats ? entry.format.map(FormatJSON.init) : nil)
    }
  }
}

extension LiveDocument {
  /// The kind that messages state: none of a plain note.
  fileprivate var shownKind: NoteKind? { durableKind == .plain ? nil : durableKind }
}
