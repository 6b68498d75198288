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
    guard let live = room.live, !room.isReadingHistory else {
      wait(.join(connection.id, messageID: messageID, resume: resume), in: room, connection)
      return
    }
    if let resume, resume.epoch == live.epoch, resume.revision < live.oldestBase,
      resume.revision >= 0, live.durableRevision - resume.revision <= settings.lagRevisionsMax
    {
      // What the client missed is still in the store: with it, nothing has to be merged.
      wait(.join(connection.id, messageID: messageID, resume: resume), in: room, connection)
      readHistory(of: room, after: resume.revision, through: live.oldestBase)
      return
    }
    finishJoin(room, resume: resume, messageID: messageID, connection)
  }

  private func wait(
    _ waiting: DocumentRoom.Waiting, in room: DocumentRoom, _ connection: Connection
  ) {
    guard room.waiting.count < settings.waitingMax else {
      switch waiting {
      case .join(_, let messageID, _):
        sendError(
          .busy, "the document is being read and too many wait for it; try again", ref: messageID,
          to: connection)
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
    let isNew = connection.subscriptions[room.id] == nil
    let subscription: Subscription
    if let old = connection.subscriptions[room.id] {
      // Joining again starts over: what follows is counted from this reply.
      subscription = old
      subscription.messageIDs.removeAll()
      subscription.isLagging = false
    } else {
      subscription = Subscription(connection: connection, room: room)
      connection.subscriptions[room.id] = subscription
      room.add(subscription)
    }
    switch connection.dialect {
    case .whaler:
      subscription.revision = live.durableRevision
      sendWhalerState(subscription, live, messageID: messageID)
    case .native:
      let missed = missedEntries(of: live, since: resume)
      subscription.revision = live.durableRevision
      let others = room.subscriptions.filter { $0 !== subscription }.map(\.participant)
      let joined = ServerMessage.Joined(
        documentID: room.id, title: live.title, epoch: live.epoch, revision: live.durableRevision,
        content: missed.map { .changes($0.map(Self.change)) }
          ?? .text(live.durableDocument.text),
        lastSequence: live.lastDurableSequence(of: connection.client), access: .write,
        presence: others)
      sendNative(.joined(joined), ref: messageID, to: connection)
    }
    if isNew {
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
    return live.durableEntries(after: resume.revision)
  }

  /// A connection no longer follows a document.
  func leave(_ subscription: Subscription) {
    let connection = subscription.connection
    let room = subscription.room
    connection.subscriptions[room.id] = nil
    room.remove(subscription, now: surroundings.clock.uptime)
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
    guard !isDraining else {
      refuse(
        submission.sequence, .unavailable,
        "the server is going down; send it again when it is back",
        of: room.id, ref: messageID, to: connection)
      return
    }
    guard room.live != nil, !room.isReadingHistory else {
      wait(.change(connection.id, messageID: messageID, submission), in: room, connection)
      return
    }
    guard
      let outcome = room.live?.submit(
        submission, scalarsMax: settings.limits.documentScalarsMax)
    else { return }
    switch outcome {
    case .accepted(let revision):
      subscription.messageIDs[revision] = messageID
      commit(room)
    case .duplicatePending:
      if let revision = room.live?.pendingRevision(of: submission.client) {
        subscription.messageIDs[revision] = messageID
      }
    case .duplicate(let revision):
      acknowledge(
        submission.sequence, revision: revision, of: room.id, ref: messageID, to: connection)
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
    switch subscription.connection.dialect {
    case .native:
      let (code, message) = Self.words(for: refusal, sequence: submission.sequence)
      refuse(
        submission.sequence, code, message, of: subscription.room.id, ref: messageID,
        to: subscription.connection)
    case .whaler:
      // The only answer such a client understands: the state to start from anew.
      resyncWhaler(subscription)
    }
  }

  /// Hands the tentative entries to the store, unless a commit is under way.
  private func commit(_ room: DocumentRoom) {
    guard let entries = room.live?.takeCommit(), let epoch = room.live?.epoch else { return }
    store(.append(id: room.id, epoch: epoch, entries: entries), for: .append(room.id))
  }

  // MARK: What the store says

  func loaded(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .document(let stored):
      room.live = LiveDocument(stored)
      room.snapshotRevision = stored.summary.revision
      admitWaiting(room)
    case .failed(.unknownDocument):
      let wantsCreation = room.waiting.contains {
        if case .join(let connection, _, _) = $0 {
          connections[connection]?.dialect == .whaler
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
    case .done, .note, .notes, .entries, .text, .history, .versions:
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
    case .done, .notes, .document, .entries, .text, .history, .versions:
      preconditionFailure("a store answers a creation with the note")
    }
  }

  func appended(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    switch reply {
    case .done:
      guard let entries = room.live?.commitSucceeded() else { return }
      deliver(entries, in: room)
      snapshotIfDue(room)
      room.live?.trim(keeping: settings.windowEntries)
      commit(room)
    case .failed(let error):
      surroundings.log.write(.error, "commit failed", [("error", error.logName)])
      guard let fallen = room.live?.commitFailed() else { return }
      refuseFallen(fallen, error, in: room)
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
    case .note, .notes, .document, .entries, .text, .history, .versions:
      preconditionFailure("a store answers an append with done")
    }
  }

  private func refuseFallen(_ fallen: [LogEntry], _ error: StoreError, in room: DocumentRoom) {
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
        }
      }
    }
  }

  func readHistory(_ id: DocumentID, _ reply: StoreReply) {
    guard let room = documents[id] else { return }
    room.isReadingHistory = false
    switch reply {
    case .entries(let entries):
      room.live?.prepend(entries)
      admitWaiting(room)
    case .failed(let error):
      for waiting in takeWaiting(room) { settle(waiting, in: room, without: error) }
    case .done, .note, .notes, .document, .text, .history, .versions:
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
    }
  }

  /// Ends a wait for older entries that cannot be read.
  private func settle(
    _ waiting: DocumentRoom.Waiting, in room: DocumentRoom, without error: StoreError
  ) {
    switch waiting {
    case .join(let id, let messageID, _):
      // With the whole text it can still join; it merges what it has pending.
      guard let connection = connections[id], connection.isReady else { return }
      finishJoin(room, resume: nil, messageID: messageID, connection)
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
    for waiting in takeWaiting(room) {
      switch waiting {
      case .join(let id, let messageID, let resume):
        guard let connection = connections[id], connection.isReady else { continue }
        finishJoin(room, resume: resume, messageID: messageID, connection)
      case .change(let id, let messageID, let submission):
        guard let subscription = connections[id]?.subscriptions[room.id] else { continue }
        submit(submission, messageID: messageID, subscription)
      }
    }
  }

  private func turnAway(_ room: DocumentRoom, _ code: ErrorCode, _ message: String) {
    documents[room.id] = nil
    for case .join(let id, let messageID, _) in takeWaiting(room) {
      guard let connection = connections[id], connection.dialect == .native else { continue }
      sendError(code, message, ref: messageID, to: connection)
    }
  }

  private func snapshotIfDue(_ room: DocumentRoom) {
    guard let live = room.live,
      live.durableRevision - room.snapshotRevision >= settings.snapshotInterval
    else { return }
    room.snapshotRevision = live.durableRevision
    store(
      .snapshot(
        id: room.id, epoch: live.epoch, revision: live.durableRevision,
        text: live.durableDocument.text), for: .snapshot)
  }
}
