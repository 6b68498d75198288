import GatewayPorts
import OTCore
import SocketMessages

/// Joining documents, changing them, and what the store says of both.
extension Gateway {
  // MARK: Joining

  /// The room of a document, which is read from the store if it is not in memory.
  func room(of id: DocumentID) -> DocumentRoom {
    if let room = documents[id] { return room }
    let room = DocumentRoom(
      id: id, idleMilliseconds: settings.idleDocumentMilliseconds,
      now: surroundings.clock.uptime)
    documents[id] = room
    store(.load(id: id, recentMax: settings.windowEntries), for: .load(id))
    return room
  }

  /// A connection wants to follow a document.
  func join(_ id: DocumentID, resume: ResumePoint?, messageID: String, _ connection: Connection) {
    let room = room(of: id)
    // A client whose change is being committed is told of it first: told now that the log does not
    // hold it, it would send it again as another one.
    guard let live = room.live, !room.isBusy, live.pendingRevision(of: connection.client) == nil
    else {
      wait(.join(connection.id, messageID: messageID, resume: resume), in: room, connection)
      return
    }
    if let resume, resume.epoch == live.epoch {
      if resume.revision > live.durableRevision {
        // Somebody has seen what this log does not hold: its tail is lost. From here on it is
        // another history, and everybody is told so.
        wait(.join(connection.id, messageID: messageID, resume: resume), in: room, connection)
        renewEpoch(of: room)
        return
      }
      // The entry at the revision itself tells whether the client means the same history.
      let first = resume.revision - (resume.change == nil || resume.revision == 0 ? 0 : 1)
      if first >= 0, first < live.oldestBase,
        live.durableRevision - first <= settings.lagRevisionsMax
      {
        // What the client missed is still in the store: with it, nothing has to be merged.
        wait(.join(connection.id, messageID: messageID, resume: resume), in: room, connection)
        readHistory(of: room, after: first, through: live.oldestBase)
        return
      }
    }
    finishJoin(room, resume: resume, messageID: messageID, connection)
  }

  private func renewEpoch(of room: DocumentRoom) {
    surroundings.log.write(.error, "a client knows more than the log: its tail was lost", [])
    room.renewal = .settling
    storeEpoch(of: room)
  }

  /// Gives the store the epoch that a document waits for, once nothing else is under way to it.
  private func storeEpoch(of room: DocumentRoom) {
    guard room.renewal == .settling, let live = room.live, live.isSettled else { return }
    room.renewal = .storing
    let epoch = surroundings.names.next()
    store(
      .renewEpoch(id: room.id, from: live.epoch, to: epoch), for: .renewal(room.id, epoch))
  }

  private func wait(
    _ waiting: DocumentRoom.Waiting, in room: DocumentRoom, _ connection: Connection
  ) {
    guard room.waiting.count < settings.waitingMax else {
      switch waiting {
      case .join(_, let messageID, _):
        turnAway(
          connection, .busy, "the document is being read and too many wait for it; try again",
          ref: messageID)
      case .edit(let edit): respondBusy(edit.request)
      case .version(let request, _): respondBusy(request)
      case .change(_, let messageID, let submission):
        refuse(
          submission.sequence, .busy, "too many changes wait for this document; send it again",
          of: room.id, ref: messageID, to: connection)
      }
      return
    }
    room.waiting.append(waiting)
  }

  private func finishJoin(
    _ room: DocumentRoom, resume: ResumePoint?, messageID: String, _ connection: Connection
  ) {
    guard let live = room.live else { return }
    let verbs = verbs(of: connection, on: .document(room.id))
    guard verbs.contains(.read) else {
      // The right went while the document was being read.
      switch connection.dialect {
      case .native:
        sendError(
          .notAllowed, "the token no longer grants reading this document", ref: messageID,
          to: connection)
      case .whaler:
        close(connection, .unauthorised, "the token no longer grants reading this document")
      case .session: break
      }
      return
    }
    let isNew = connection.subscriptions[room.id] == nil
    let subscription: Subscription
    if let old = connection.subscriptions[room.id] {
      // Joining again starts over: what follows is counted from this reply.
      subscription = old
      subscription.messageIDs.removeAll()
      subscription.isLagging = false
      subscription.textRevision = 0
    } else {
      subscription = Subscription(connection: connection, room: room)
      connection.subscriptions[room.id] = subscription
      room.add(subscription)
    }
    subscription.verbs = verbs
    switch connection.dialect {
    case .whaler:
      subscription.revision = live.durableRevision
      sendWhalerState(subscription, live, messageID: messageID)
    case .native:
      let missed = missedEntries(of: live, since: resume)
      subscription.revision = live.durableRevision
      let others =
        verbs.contains(.presence)
        ? room.subscriptions.filter { $0 !== subscription && $0.verbs.contains(.presence) } : []
      let joined = ServerMessage.Joined(
        documentID: room.id, title: live.title, epoch: live.epoch, revision: live.durableRevision,
        content: missed.map { .changes($0.map(Self.change)) }
          ?? .text(live.durableDocument.text),
        lastSequence: live.lastDurableSequence(of: connection.client),
        change: Self.nameOfHead(live),
        access: verbs.contains(.write) ? .write : .read, presence: others.map(\.participant))
      sendNative(.joined(joined), ref: messageID, to: connection)
    case .session: break
    }
    if isNew, verbs.contains(.presence) {
      sendPresence(
        ServerMessage.Presence(
          documentID: room.id, joined: [subscription.participant], updated: [], left: []),
        in: room, except: connection.id)
    }
  }

  /// The entries that a resuming client has missed; `nil` when it needs the text instead.
  private func missedEntries(
    of live: LiveDocument, since resume: ResumePoint?
  ) -> ArraySlice<LogEntry>? {
    guard let resume, resume.epoch == live.epoch,
      (live.oldestBase...live.durableRevision).contains(resume.revision)
    else { return nil }
    if let known = resume.change, let entry = live.durableEntry(at: resume.revision),
      known != Self.name(of: entry, withTime: known.time != nil)
    {
      // The same number, another change: the client's tail was lost here and written over. Or the
      // same change, sent again after that and written anew, on a history that may be another.
      return nil
    }
    return live.durableEntries(after: resume.revision)
  }

  /// The change that made the durable head.
  static func nameOfHead(_ live: LiveDocument) -> ChangeName? {
    live.durableEntry(at: live.durableRevision).map { name(of: $0, withTime: true) }
  }

  /// What tells an entry from any other that was ever written at its revision. The log is only ever
  /// cut at its end, so whoever has seen this entry has seen all that stands before it.
  private static func name(of entry: LogEntry, withTime: Bool) -> ChangeName {
    ChangeName(
      clientID: entry.client, sequence: entry.sequence, time: withTime ? entry.time : nil)
  }

  /// A connection no longer follows a document.
  func leave(_ subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    connection.subscriptions[room.id] = nil
    room.remove(subscription, now: surroundings.clock.uptime)
    guard subscription.verbs.contains(.presence) else { return }
    sendPresence(
      ServerMessage.Presence(
        documentID: room.id, joined: [], updated: [], left: [connection.client]),
      in: room, except: connection.id)
  }

  // MARK: Changing

  /// A client has sent a change to a document it follows.
  func submit(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    let room = subscription.room
    let connection = subscription.connection
    guard subscription.verbs.contains(.write) else {
      switch connection.dialect {
      case .native:
        refuse(
          submission.sequence, .notAllowed, "the token grants reading this document, not writing",
          of: room.id, ref: messageID, to: connection)
      case .whaler: resyncWhaler(subscription)
      case .session: break
      }
      return
    }
    guard !isDraining else {
      refuse(
        submission.sequence, .unavailable,
        "the server is going down; send it again when it is back",
        of: room.id, ref: messageID, to: connection)
      return
    }
    guard !room.isBusy else {
      wait(.change(connection.id, messageID: messageID, submission), in: room, connection)
      return
    }
    if (0..<subscription.textRevision).contains(submission.revision), let live = room.live,
      submission.sequence >= live.nextSequence(of: connection.client)
    {
      refuseForWantOfHistory(submission, messageID: messageID, subscription)
      return
    }
    guard
      let outcome = room.live?.submit(
        submission, scalarsMax: settings.limits.documentScalarsMax)
    else { return }
    switch outcome {
    case .accepted(let revision):
      subscription.messageIDs[revision] = messageID
      room.arrivals.append(surroundings.clock.microseconds)
      commit(room)
    case .duplicatePending:
      metrics.changesRepeated += 1
      if let revision = room.live?.pendingRevision(of: submission.client) {
        subscription.messageIDs[revision] = messageID
      }
    case .duplicate(let revision):
      metrics.changesRepeated += 1
      // One that lags gets the changes up to it first, and among them its own.
      guard revision <= subscription.revision else { return }
      acknowledge(
        submission.sequence, revision: revision, time: room.live?.durableEntry(at: revision)?.time,
        of: room.id, ref: messageID, to: connection)
    case .needsHistory(let after, let through):
      guard let live = room.live,
        live.durableRevision - after <= settings.lagRevisionsMax
      else {
        refuseForWantOfHistory(submission, messageID: messageID, subscription)
        return
      }
      wait(.change(connection.id, messageID: messageID, submission), in: room, connection)
      readHistory(of: room, after: after, through: through)
    case .refused(let refusal):
      refuse(submission, refusal, messageID: messageID, subscription)
    }
  }

  private func readHistory(of room: DocumentRoom, after: Int, through: Int) {
    room.isReadingHistory = true
    store(.entries(id: room.id, after: after, through: through), for: .history(room.id))
  }

  private func refuse(
    _ submission: LiveDocument.Submission, _ refusal: LiveDocument.Refusal, messageID: String,
    _ subscription: Subscription
  ) {
    let (code, message) = Self.words(for: refusal, sequence: submission.sequence)
    refuse(
      submission.sequence, code, message, of: subscription.room.id, ref: messageID,
      to: subscription.connection)
  }

  /// Hands the tentative entries to the store, unless a commit is under way.
  private func commit(_ room: DocumentRoom) {
    guard room.renewal != .storing, let entries = room.live?.takeCommit(),
      let epoch = room.live?.epoch
    else { return }
    store(.append(id: room.id, epoch: epoch, entries: entries), for: .append(room.id))
  }

  // MARK: What the store says

  func loaded(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .document(let stored):
      room.live = LiveDocument(stored)
      admitWaiting(room)
    case .failed(.unknownDocument):
      let wantsCreation = room.waiting.contains {
        if case .join(let id, _, _) = $0, let connection = connections[id] {
          connection.dialect == .whaler
            && verbs(of: connection, on: .document(room.id)).contains(.manage)
        } else {
          false
        }
      }
      if wantsCreation, settings.whalerCreatesDocuments {
        store(
          .create(
            id: id, epoch: surroundings.names.next(), title: id, time: surroundings.clock.now),
          for: .creation(id))
      } else {
        turnAway(room, .unknownDocument, "no document has this name; create it first")
      }
    case .failed(let error):
      surroundings.log.write(.error, "document not readable", [("error", error.logName)])
      turnAway(
        room, error.isRetryable ? .unavailable : .damaged,
        error.isRetryable
          ? "the store cannot be read now; try again"
          : "the document's log is damaged; the operator has to restore it")
    case .done, .note, .notes, .entries, .text, .history, .versions, .room, .people:
      preconditionFailure("a store answers a load with a document")
    }
  }

  func created(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .note:
      publishNoteList()
      store(.load(id: id, recentMax: settings.windowEntries), for: .load(id))
    case .failed(.exists):
      store(.load(id: id, recentMax: settings.windowEntries), for: .load(id))
    case .failed:
      turnAway(room, .unavailable, "the document could not be made; try again")
    case .done, .notes, .document, .entries, .text, .history, .versions, .room, .people:
      preconditionFailure("a store answers a creation with the note")
    }
  }

  func appended(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .done:
      storeFailure = nil
      guard let entries = room.live?.commitSucceeded() else { return }
      measure(entries.count, in: room)
      deliver(entries, in: room)
      answerEdits(entries, in: room)
      room.live?.trim(keeping: settings.windowEntries)
      admitWaiting(room)
      commit(room)
      storeEpoch(of: room)
    case .failed(let error):
      surroundings.log.write(.error, "commit failed", [("error", error.logName)])
      storeFailure = error
      guard let fallen = room.live?.commitFailed() else { return }
      room.arrivals.removeAll()
      refuseFallen(fallen, error, in: room)
      admitWaiting(room)
      storeEpoch(of: room)
      if !error.isRetryable {
        // The log is not what this process thinks it is: read it again.
        documents[id] = nil
        for subscription in room.subscriptions {
          sendError(
            .unavailable, "the document is being read again; join it anew", ref: pushID(),
            to: subscription.connection)
          close(subscription.connection, .rejoin, "join again")
        }
      }
    case .note, .notes, .document, .entries, .text, .history, .versions, .room, .people:
      preconditionFailure("a store answers an append with done")
    }
  }

  /// Counts how long the oldest changes of a document took from their arrival until now.
  private func measure(_ count: Int, in room: DocumentRoom) {
    metrics.changesAccepted += count
    let now = surroundings.clock.microseconds
    for arrival in room.arrivals.prefix(count) { metrics.acknowledgement.record(now - arrival) }
    broadcasting += room.arrivals.prefix(count)
    room.arrivals.removeFirst(count)
  }

  private func refuseFallen(_ fallen: [LogEntry], _ error: StoreError, in room: DocumentRoom) {
    for entry in fallen {
      if let request = room.editRequests.removeValue(forKey: entry.revision) {
        respond(
          request, .problem(503, .unavailable, "the edit could not be written; try again later"))
      }
    }
    for subscription in room.subscriptions {
      let connection = subscription.connection
      for entry in fallen where entry.client == connection.client {
        guard let messageID = subscription.messageIDs.removeValue(forKey: entry.revision) else {
          continue
        }
        switch connection.dialect {
        case .native:
          refuse(
            entry.sequence, .unavailable,
            "the change could not be written to disk and is not in the document; send it again",
            of: room.id, ref: messageID, to: connection)
        case .whaler: resyncWhaler(subscription)
        case .session: break
        }
      }
    }
  }

  func renewed(_ id: DocumentID, to epoch: String, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    room.renewal = .none
    if case .failed(let error) = reply {
      surroundings.log.write(.error, "epoch not renewed", [("error", error.logName)])
      for waiting in takeWaiting(room) {
        // Whoever knows more than the log tries again: with the text and the old epoch it would
        // forget what nobody else can tell.
        if case .join(let id, let messageID, .some) = waiting {
          guard let connection = connections[id], connection.isReady else { continue }
          turnAway(
            connection, .unavailable, "the document cannot be given a new epoch now; try again",
            ref: messageID)
        } else {
          settle(waiting, in: room, without: error)
        }
      }
    } else {
      room.live?.renew(epoch: epoch)
      for subscription in room.subscriptions where subscription.connection.dialect == .native {
        resync(subscription, reason: .epochChanged, messageID: pushID())
      }
      refuseChangesOfAnotherEpoch(waitingFor: room)
      admitWaiting(room)
    }
    commit(room)
  }

  /// What native clients sent before they were told of the new epoch was made for the old one.
  private func refuseChangesOfAnotherEpoch(waitingFor room: DocumentRoom) {
    for waiting in takeWaiting(room) {
      if case .change(let id, let messageID, let submission) = waiting,
        let connection = connections[id], connection.dialect == .native
      {
        refuseForItsEpoch(submission.sequence, of: room.id, ref: messageID, to: connection)
      } else {
        room.waiting.append(waiting)
      }
    }
  }

  func readHistory(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    room.isReadingHistory = false
    switch reply {
    case .entries(let entries):
      guard entries.last?.revision == room.live?.oldestBase else {
        // Less than was asked for: asking again would give no more.
        for waiting in takeWaiting(room) {
          settle(waiting, in: room, without: .compacted(oldestRevision: 0))
        }
        return
      }
      room.live?.prepend(entries)
      admitWaiting(room)
    case .failed(let error):
      for waiting in takeWaiting(room) { settle(waiting, in: room, without: error) }
    case .done, .note, .notes, .document, .text, .history, .versions, .room, .people:
      preconditionFailure("a store answers a request for entries with entries")
    }
  }

  private func refuseForWantOfHistory(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    switch subscription.connection.dialect {
    case .native:
      refuse(
        submission.sequence, .historyGone,
        "the changes since the base revision are no longer kept; join again and rebase",
        of: subscription.room.id, ref: messageID, to: subscription.connection)
    case .whaler: resyncWhaler(subscription)
    case .session: break
    }
  }

  /// Ends a wait for older entries that cannot be read.
  private func settle(
    _ waiting: DocumentRoom.Waiting, in room: DocumentRoom, without error: StoreError
  ) {
    switch waiting {
    case .join(let id, let messageID, let resume):
      guard let connection = connections[id], connection.isReady else { return }
      // With the whole text it can still join; it merges what it has pending. Only if it knows more
      // than the log, the epoch comes first.
      let isAhead = resume.map {
        $0.epoch == room.live?.epoch && $0.revision > room.live?.durableRevision ?? 0
      }
      join(
        room.id, resume: isAhead == true ? resume : nil, messageID: messageID, connection)
    case .edit(let edit):
      switch error {
      case .compacted:
        respond(
          edit.request,
          .problem(410, .historyGone, "the changes since that revision are no longer kept"))
      case .unavailable, .damaged, .notNext, .exists, .unknownDocument:
        respond(
          edit.request,
          .problem(503, .unavailable, "older changes cannot be read now; try again"))
      }
    case .version(let request, let version): save(version, request, of: room)
    case .change(let id, let messageID, let submission):
      guard let connection = connections[id],
        let subscription = connection.subscriptions[room.id]
      else { return }
      switch error {
      case .compacted: refuseForWantOfHistory(submission, messageID: messageID, subscription)
      case .unavailable, .damaged, .notNext, .exists, .unknownDocument:
        refuse(
          submission.sequence, .unavailable, "older changes cannot be read now; send it again",
          of: room.id, ref: messageID, to: connection)
      }
    }
  }

  private func takeWaiting(_ room: DocumentRoom) -> [DocumentRoom.Waiting] {
    defer { room.waiting = [] }
    return room.waiting
  }

  private func admitWaiting(_ room: DocumentRoom) {
    guard !room.isBusy else { return }
    for waiting in takeWaiting(room) {
      switch waiting {
      case .join(let id, let messageID, let resume):
        guard let connection = connections[id], connection.isReady else { continue }
        join(room.id, resume: resume, messageID: messageID, connection)
      case .change(let id, let messageID, let submission):
        guard let subscription = connections[id]?.subscriptions[room.id] else { continue }
        submit(submission, messageID: messageID, subscription)
      case .edit(let edit): submit(edit, to: room)
      case .version(let request, let version): save(version, request, of: room)
      }
    }
  }

  /// Answers a join that cannot be granted.
  private func turnAway(
    _ connection: Connection, _ code: ErrorCode, _ message: String, ref: String
  ) {
    switch connection.dialect {
    case .native: sendError(code, message, ref: ref, to: connection)
    case .whaler:
      // It would wait for its state for ever; it comes back if its connection goes.
      if code.isRetryable { close(connection, .rejoin, "come back and join again") }
    case .session: break
    }
  }

  private func turnAway(_ room: DocumentRoom, _ code: ErrorCode, _ message: String) {
    documents[room.id] = nil
    for waiting in takeWaiting(room) {
      switch waiting {
      case .join(let id, let messageID, _):
        guard let connection = connections[id] else { continue }
        turnAway(connection, code, message, ref: messageID)
      case .edit(let edit):
        respond(edit.request, .problem(code == .unknownDocument ? 404 : 503, code, message))
      case .version(let request, _):
        respond(request, .problem(code == .unknownDocument ? 404 : 503, code, message))
      case .change: break  // Nobody changes what nobody could join.
      }
    }
  }

  // MARK: Edits over HTTP

  /// Edits a document as its followers do; answered once the edit is durable.
  func edit(_ id: DocumentID, _ edit: DocumentRoom.ServerEdit) {
    guard !isDraining else {
      respond(edit.request, .problem(503, .unavailable, "the server is going down"))
      return
    }
    let room = room(of: id)
    guard !room.isBusy else {
      guard room.waiting.count < settings.waitingMax else { return respondBusy(edit.request) }
      room.waiting.append(.edit(edit))
      return
    }
    submit(edit, to: room)
  }

  /// Names a revision.
  func save(_ version: NamedVersion, of id: DocumentID, for request: RequestID) {
    let room = room(of: id)
    guard !room.isBusy else {
      guard room.waiting.count < settings.waitingMax else { return respondBusy(request) }
      room.waiting.append(.version(request, version))
      return
    }
    save(version, request, of: room)
  }

  private func save(_ version: NamedVersion, _ request: RequestID, of room: DocumentRoom) {
    guard let epoch = room.live?.epoch else { return }
    store(
      .saveVersion(id: room.id, epoch: epoch, version: version),
      for: .notes(request, .saveVersion(version)))
  }

  private func respondBusy(_ request: RequestID) {
    respond(request, .problem(503, .busy, "too many wait for this note; try again"))
  }

  private func submit(_ edit: DocumentRoom.ServerEdit, to room: DocumentRoom) {
    guard let live = room.live else { return }
    if let expected = edit.expected, expected != live.headRevision {
      var response = Response.problem(
        412, .outdated,
        "the note is at revision \(live.headRevision), not at \(expected); read it again")
      response.setRevision(live.headRevision)
      respond(edit.request, response)
      return
    }
    let operation: TextOperation
    let revision: Int
    switch edit.content {
    case .text(let text):
      revision = live.durableRevision
      operation = TextOperation(replacing: live.durableDocument, by: Document(text))
    case .change(let change, let base): (operation, revision) = (change, base)
    }
    let submission = LiveDocument.Submission(
      client: surroundings.names.next(), sequence: 1, revision: revision,
      operation: operation, author: edit.author, time: surroundings.clock.now,
      isResendable: false)
    let outcome = room.live?.submit(
      submission, scalarsMax: settings.limits.documentScalarsMax)
    switch outcome {
    case .accepted(let revision):
      room.editRequests[revision] = edit.request
      room.arrivals.append(surroundings.clock.microseconds)
      commit(room)
    case .refused(let refusal):
      let (code, message) = Self.words(for: refusal, sequence: 1)
      let isTooLarge = if case .documentFull = refusal { true } else { false }
      respond(edit.request, .problem(isTooLarge ? 413 : 409, code, message))
    case .needsHistory(let after, let through):
      guard live.durableRevision - after <= settings.lagRevisionsMax else {
        respond(
          edit.request,
          .problem(410, .historyGone, "that revision is too far back; read the note again"))
        return
      }
      room.waiting.append(.edit(edit))
      readHistory(of: room, after: after, through: through)
    case .duplicate, .duplicatePending, nil:
      preconditionFailure("a new client's first change is never known already")
    }
  }

  private func answerEdits(_ entries: ArraySlice<LogEntry>, in room: DocumentRoom) {
    guard !room.editRequests.isEmpty else { return }
    for entry in entries {
      if let request = room.editRequests.removeValue(forKey: entry.revision) {
        var response = Response.json(200, NoteJSON.revision(entry.revision))
        response.setRevision(entry.revision)
        respond(request, response)
      }
    }
  }

}
