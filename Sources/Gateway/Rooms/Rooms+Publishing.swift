import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// Publishing in rooms, and reading their histories.
///
/// Publications are committed before they are sent. The store numbers them and replies in this
/// order, in which subscribers receive them.
extension Rooms {
  func handle(
    _ publish: ClientMessage.Publish, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(publish.room)
    try checks.check(.publish, "publishing in", in: room, connection)
    var request = PublishRequest(
      room: room, data: publish.data, key: publish.key, senderID: publish.senderID,
      person: connection.person, pushes: publish.pushes)
    request.client = connection.client
    request.ifPosition = publish.ifPosition
    if publish.values != nil || publish.ifOffsets != nil {
      request.change = ValueChange(
        publish.values?.all ?? [], ifOffsets: publish.ifOffsets?.all ?? [:])
    }
    // Refusals contain current values, or the head.
    if request.hasConditions { try checks.checkRight(.read, "reading", in: room, connection) }
    self.publish(request, for: .native(connection.id, ref: ref))
  }

  /// Publishes unless a limit is exceeded. The caller has checked the publisher's right.
  func publish(_ request: PublishRequest, for publisher: Publisher) {
    let draft = draft(of: request)
    if let (code, message) = problem(of: request, draft.publication) {
      answer(publisher, .refused(code, message), in: request.room)
      return
    }
    publishing += 1
    let room = request.room
    var work = StoreRequest.room(
      .publish(
        room, draft, retention: retentionLimits(of: room), keyAge: settings.keyMilliseconds))
    if case .request(let whole) = publisher {
      work = owner?.keepingAnswer(of: work, in: room, to: whole) ?? work
    }
    store(
      work, under: .token,
      then: .publication(
        RoomPublishing(
          room: room, publication: draft.publication, pushes: draft.pushes,
          change: draft.change, client: draft.client,
          publisher: publisher)))
  }

  private func draft(of request: PublishRequest) -> PublicationDraft {
    var draft = PublicationDraft(
      key: request.key, time: dependencies.clock.now, personID: request.person,
      senderID: request.senderID, data: request.data, change: request.change,
      pushes: request.pushes && request.data != nil)
    draft.ifPosition = request.ifPosition
    draft.client = request.client
    draft.limits = settings.valueLimits
    return draft
  }

  /// Handles the store's reply to a publication.
  func published(_ work: RoomPublishing, _ outcome: StoreOutcome<PublicationReply>) {
    publishing -= 1
    switch outcome {
    case .success(.published(let position, let time, let isRepeated)):
      storeFailure = nil
      answer(work.publisher, .published(position, isRepeated: isRepeated), in: work.room)
      noteLifetimes(in: work.change, of: work.client, at: time)
      guard !isRepeated else { return }
      var publication = work.publication
      publication.offset = position.offset
      publication.time = time
      if settings.sharesStore {
        arrived(publication, epoch: position.epoch, in: work.room)
      } else {
        deliver(publication, epoch: position.epoch, in: work.room)
      }
      if work.pushes, !settings.pushesFromOutbox {
        notify(publication, epoch: position.epoch, in: work.room)
      }
    case .success(.keyReused):
      answer(
        work.publisher,
        .refused(.keyReused, "the key was used for another publication; take a new one"),
        in: work.room)
    case .success(.outdated(let head)):
      answer(work.publisher, .unmet(.position(head)), in: work.room)
    case .success(.valuesRefused(.conflict(let conflicts))):
      let words = ValueRefusal.conflict(conflicts).description
      answer(work.publisher, .unmet(UnmetCondition(conflicts, words)), in: work.room)
    case .success(.valuesRefused(let refusal)):
      answer(work.publisher, .refused(refusal.code, refusal.description), in: work.room)
    case .failure(let error):
      dependencies.log.write(.error, "commit failed", [("error", error.logName)])
      failed(error)
      answer(
        work.publisher,
        .refused(
          error.isRetryable ? .unavailable : .damaged,
          "the store cannot write now; publish again later, with the same key"),
        in: work.room)
      // The publication may have been stored nevertheless.
      if case .unknownOutcome = error { hear(of: .max, in: work.room) }
      noteUnknownOutcome(of: work)
    }
  }

  /// Notifies a publisher of the outcome.
  private func answer(_ publisher: Publisher, _ result: PublishResult, in room: RoomName) {
    switch publisher {
    case .native(let id, let ref):
      if let connection = connections[id] { answer(connection, ref, result, in: room) }
    case .service: break
    case .request, .part, .backend, .groupChat, .socketIO, .bayeux, .pusher:
      owner?.answer(publisher, result, in: room)
    }
  }

  private func answer(
    _ connection: Connection, _ ref: String, _ result: PublishResult, in room: RoomName
  ) {
    switch result {
    case .published(let position, let isRepeated):
      send(
        .published(.init(room: room.text, position: position, isRepeated: isRepeated)), ref: ref,
        to: connection)
    case .refused(let code, let message):
      sendError(code, message, ref: ref, to: connection)
    case .unmet(let condition):
      var failure = ServerMessage.Failure(
        code: condition.code, message: condition.message, retryable: false, retryAfter: nil)
      switch condition {
      case .position(let head): failure.position = head
      case .values(let values, _): failure.values = values
      }
      send(.error(failure), ref: ref, to: connection)
    }
  }

  private func problem(
    of request: PublishRequest, _ publication: Publication
  ) -> (ErrorCode, String)? {
    let limits = settings.limits
    if board.isDraining {
      return (.unavailable, "the server is shutting down; publish again after reconnecting")
    }
    if backlog.isFull {
      countRefusalByBacklog()
      return (.busy, StoreBacklog.words)
    }
    if let problem = checks.problem(ofRoom: request.room) { return (.tooLarge, problem) }
    if let problem = problem(ofContentIn: request, publication) { return problem }
    for text in [request.key, request.senderID].compactMap(\.self)
    where text.utf8.count > limits.keyBytesMax {
      return (
        .tooLarge,
        "a key or sender's name may have \(limits.keyBytesMax) bytes; this one has "
          + "\(text.utf8.count)"
      )
    }
    return nil
  }

  private func problem(
    ofContentIn request: PublishRequest, _ publication: Publication
  ) -> (ErrorCode, String)? {
    guard request.data != nil || !(request.change?.operations ?? []).isEmpty else {
      return (.badMessage, "a publication has data, values or both")
    }
    if let problem = checks.problem(ofData: request.data?.utf8.count ?? 0) {
      return (.tooLarge, problem)
    }
    guard let change = request.change else { return nil }
    let bytesMax = settings.limits.publicationBytesMax
    let byteCount = publication.values?.utf8.count ?? 0
    guard byteCount <= bytesMax else {
      return (
        .tooLarge, "operations on values may have \(bytesMax) bytes; these have \(byteCount)"
      )
    }
    if change.needsConnection, request.client == nil {
      return (
        .notAllowed,
        "only a client with a WebSocket can bind values to its connection; use ttl instead"
      )
    }
    return nil
  }

  /// Sends a committed publication to all subscribers of its room.
  func deliver(_ publication: Publication, epoch: Epoch, in name: RoomName) {
    if publication.data != nil {
      owner?.deliverToSessions(publication, epoch: epoch, in: name)
    }
    tell(
      RoomEvent(room: name, content: .publication(publication, epoch: epoch)),
      by: publication.personID)
  }

  // MARK: History

  func handle(
    _ history: ClientMessage.RoomHistory, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let room = RoomName(history.room)
    try checks.check(.read, "reading", in: room, connection)
    guard
      let range = Self.range(since: history.since, before: history.before),
      let limit = limit(history.limit)
    else {
      throw MessageRefusal(
        .badMessage,
        "expected at most one of since and before, and a limit from 1 to \(settings.limits.pageMax)"
      )
    }
    read(
      room, range, limit: limit, visibleTo: connection.person,
      takesValues: rooms[room]?.takesValues(connection.id) ?? false,
      for: .native(connection.id, ref: ref))
  }

  /// Sends the page that a reader requested.
  func send(_ outcome: StoreOutcome<RoomPage>, of room: RoomName, ref: String, to id: ConnectionID)
  {
    guard let connection = connections[id] else { return }
    switch outcome {
    case .success(let page):
      send(
        .roomHistory(
          .init(
            room: room.text, position: page.head, publications: page.publications,
            hasGap: page.hasGap,
            hasMore: page.hasMore)), ref: ref, to: connection)
    case .failure(let error): checks.sendUnavailable(error, ref: ref, to: connection)
    }
  }

  static func range(since: Int?, before: Int?) -> RoomRange? {
    switch (since, before) {
    case (nil, nil): .newest
    case (let since?, nil) where since >= 0: .since(since)
    case (nil, let before?) where before >= 0: .before(before)
    default: nil
    }
  }

  /// Returns the number of publications of a page; `nil` if the requested number is out of range.
  func limit(_ asked: Int?) -> Int? {
    guard let asked else { return min(settings.pageDefault, settings.limits.pageMax) }
    return (1...settings.limits.pageMax).contains(asked) ? asked : nil
  }
}
