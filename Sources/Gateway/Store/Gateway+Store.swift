public import GatewayPorts

/// Giving work to the store, and going on with its replies.
extension Gateway {
  /// Gives the store a task.
  ///
  /// - Returns: By which the reply is known.
  @discardableResult
  func store<Value>(_ task: StoreTask<Value>, for purpose: StorePurpose<Value>) -> StoreTicket {
    store(task.request, for: purpose.awaited)
  }

  /// Gives the store what a request about notes asks for.
  func store(_ request: StoreRequest, for purpose: NotesPurpose) {
    switch purpose {
    case .notes(let asked, let kind):
      let ticket = store(request, for: Awaited.notes(asked, kind))
      if request.isAside { reads[asked] = ticket }
    }
  }

  private func store(_ request: StoreRequest, for purpose: Awaited) -> StoreTicket {
    let ticket = StoreTicket(rawValue: nextTicket)
    nextTicket += 1
    guard !backlog.isFull || Self.passesBacklog(request) else {
      awaited[ticket] = Waiting(purpose: purpose, weight: nil)
      turnedAway.append(ticket)
      return ticket
    }
    let weight = Self.weight(of: request)
    if let weight { backlog.add(bytes: weight) }
    // A long read beside the commits does not mean that the disk hangs.
    if !request.isAside { backlog.begin(ticket.rawValue, at: surroundings.clock.uptime) }
    awaited[ticket] = Waiting(purpose: purpose, weight: weight)
    act(.store(ticket, request))
    return ticket
  }

  /// Has a read that nobody waits for any more not be done, for others wait behind it.
  func forgetRead(of request: RequestID) {
    if let ticket = reads.removeValue(forKey: request) { act(.forget(ticket)) }
  }

  /// The store has done a piece of work.
  public func stored(_ ticket: StoreTicket, reply: StoreReply) {
    guard let waiting = awaited.removeValue(forKey: ticket) else {
      preconditionFailure("no work with ticket \(ticket.rawValue) was given to the store")
    }
    if let weight = waiting.weight { backlog.remove(bytes: weight) }
    backlog.end(ticket.rawValue)
    switch waiting.purpose {
    case .document(let id): loaded(id, reply.outcome(of: .document))
    case .creation(let id): created(id, reply.outcome(of: .note))
    case .renewal(let id, let epoch): renewed(id, to: epoch, reply.outcome(of: .done))
    case .commit(let id): committed(id, reply.outcome(of: .done))
    case .history(let id): readHistory(of: id, reply.outcome(of: .entries), ticket)
    case .catchUp(let id, let connection):
      readForCatchUp(id, connection, reply.outcome(of: .entries), ticket)
    case .publication(let work): published(work, reply.outcome(of: .publication))
    case .recovery(let work): recovered(work, reply.outcome(of: .recovery))
    case .recoveryAnew(let work): finish(work, reply.outcome(of: .recovery))
    case .page(let work): read(work, reply.outcome(of: .page))
    case .notes(let request, let kind):
      if reads[request] == ticket { reads[request] = nil }
      answer(request, kind, reply)
    case .answer(let request, let head): foundAnswer(reply.outcome(of: .answer), to: request, head)
    case .keeping(let request, let response): finishOnce(request, response)
    case .people(let goOn): goOn(PeopleReply(reply.outcome(of: .people)))
    }
  }

  /// Work that was given to the store.
  struct Waiting {
    let purpose: Awaited
    /// The bytes that it counts for by itself; `nil` for none.
    let weight: Int?
  }
}

extension PeopleReply {
  /// Joins the two ways in which work with people can fail.
  init(_ outcome: StoreOutcome<PeopleReply>) {
    switch outcome {
    case .success(let reply): self = reply
    case .failure(let error): self = .failed(error)
    }
  }
}
