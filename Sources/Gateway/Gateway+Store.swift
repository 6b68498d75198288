public import ParleyGatewayPorts

/// Handling the store's replies, and reporting the backlog of store requests.
extension Gateway {
  /// Passes a reply of the store to the part that made the request.
  public func stored(_ ticket: StoreTicket, reply: StoreReply) {
    switch board.finish(ticket) {
    case .document(let id): documents.loaded(id, reply.outcome(of: \.document))
    case .creation(let id): documents.created(id, reply.outcome(of: \.note))
    case .renewal(let id, let epoch): documents.renewed(id, to: epoch, reply.outcome(of: \.done))
    case .commit(let id): documents.committed(id, reply.outcome(of: \.appending), ticket)
    case .news(let id): documents.heard(of: id, reply.outcome(of: \.news), ticket)
    case .fences(let id): documents.fenced(id, reply.outcome(of: \.sessions), ticket)
    case .heads(let ids): documents.compareHeads(of: ids, reply.outcome(of: \.heads))
    case .probe: probed(reply.outcome(of: \.done))
    case .wiping(let id): documents.wiped(id, reply.outcome(of: \.done))
    case .history(let id): documents.readHistory(of: id, reply.outcome(of: \.entries), ticket)
    case .catchUp(let id, let connection):
      documents.delivery.readForCatchUp(id, connection, reply.outcome(of: \.entries), ticket)
    case .documentPage(let reading):
      documents.pages.finish(reading, reply.outcome(of: \.entries), ticket)
    case .making(let id, let messageID):
      native.creation.finish(for: id, messageID: messageID, reply.outcome(of: \.making))
    case .publication(let work): rooms.published(work, reply.outcome(of: \.publication))
    case .recovery(let work): rooms.recovered(work, reply.outcome(of: \.recovery))
    case .repeatedRecovery(let work): rooms.renewed(work, reply.outcome(of: \.recovery))
    case .page(let work): rooms.read(work, reply.outcome(of: \.page))
    case .endingValues(let which): rooms.endValues(which, reply.outcome(of: \.ending))
    case .values(let work): rooms.readValues(work, reply.outcome(of: \.values))
    case .roomPlace(let room): rooms.foundPlace(in: room, reply.outcome(of: \.recovery))
    case .roomNews(let room, let reading):
      rooms.readNewPublications(of: room, reading, reply.outcome(of: \.page))
    case .roomHeads(let names): rooms.compareHeads(of: names, reply.outcome(of: \.roomHeads))
    case .notes(let request, let kind): http.notes.answer(request, kind, reply)
    case .removal: http.notes.removed(reply.outcome(of: \.done))
    case .answer(let request): http.once.foundAnswer(reply.outcome(of: \.answer), to: request)
    case .keeping(let request, let response): http.once.finish(request, response)
    case .groups(let request, let work):
      http.groups.answer(request, work, reply.outcome(of: \.groups))
    case .logins(let number): sessions.finish(number, reply.outcome(of: \.logins))
    case .links(let number): links.finish(number, reply.outcome(of: \.links))
    case .notices(let number): notices.finish(number, reply.outcome(of: \.notices))
    case .audit(let number): audit.finish(number, reply.outcome(of: \.audit))
    case .title(let number): links.foundTitle(number, reply.outcome(of: \.note))
    case .folders(let request, let work):
      folders.finish(request, work, reply.outcome(of: \.folders))
    case .files(let work): files.finish(work, reply.outcome(of: \.files))
    case .comments(let work): comments.finish(work, reply.outcome(of: \.comments))
    case .people(let number): rooms.storage.finish(number, PeopleReply(reply.outcome(of: \.people)))
    }
  }

  /// Sends the store a probe commit each second while the last commit has failed. Without probes,
  /// recovery would stay unnoticed until a client makes a change.
  func probeStore(now: Int64) {
    guard storeFailure != nil, !board.isProbing, now >= board.nextProbe else { return }
    board.isProbing = true
    board.nextProbe = now + 1_000
    store(.probe, under: .housekeeping, then: .probe)
  }

  private func probed(_ outcome: StoreOutcome<Void>) {
    board.isProbing = false
    if case .success = outcome { storeFailure = nil }
  }

  /// Passes on the reply of the word index to one step of a search.
  public func searched(_ request: RequestID, reply: SearchReply) { search.replied(request, reply) }

  /// Notifies the rooms that the word index contains notes with changed tags.
  public func tagsChanged() { rooms.publishTags() }

  /// The requests and bytes that wait for the store, and the wait of the oldest request.
  package var storeBacklog: (requests: Int, bytes: Int, waitMilliseconds: Int64) {
    (backlog.requests, backlog.bytes, backlog.wait(at: dependencies.clock.uptime))
  }

  /// Why changes are rejected because of the store's backlog; `nil` if they are accepted.
  var backlogProblem: String? {
    let wait = backlog.wait(at: dependencies.clock.uptime)
    if wait >= settings.storeStallMilliseconds {
      return "the store has not responded for \(wait / 1_000) s: check the disk; reading continues"
    }
    return backlog.isFull ? "too many requests wait for the store: check the disk" : nil
  }

  /// Answers the requests that were rejected before they reached the store.
  func answerRejected() {
    for (ticket, error) in board.takeRejected() { stored(ticket, reply: .failed(error)) }
  }
}

extension PeopleReply {
  /// Converts the outcome of a request about people; the store's failure becomes a reply.
  init(_ outcome: StoreOutcome<PeopleReply>) {
    switch outcome {
    case .success(let reply): self = reply
    case .failure(let error): self = .failed(error)
    }
  }
}
