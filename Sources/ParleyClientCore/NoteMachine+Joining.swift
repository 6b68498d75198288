import OTCore
import SocketMessages

// Joining, resuming, and joining again after client and server have disagreed.

extension NoteMachine {
  /// Requests the document: the missed changes, or the whole text.
  ///
  /// Only one join is pending at a time: the reply to a second one would repeat changes.
  ///
  /// - Parameter pages: Whether missed changes are read in pages if one message is too small for
  ///   them. If `false`, the server then sends the whole text.
  mutating func join(
    fresh isFresh: Bool = false, pages: Bool = true, _ turn: inout Turn
  ) {
    guard turn.isOnline, pendingJoin == nil, pendingPage == nil, phase != .left else { return }
    // The answer makes any deferred work unnecessary.
    putOff = nil
    retryAt = nil
    changeMessage = nil
    phase = replica == nil ? .joining : .away
    let resume = isFresh ? nil : replica?.resumePoint
    let number = turn.send(
      .join(
        .init(
          documentID: documentID, resume: resume,
          unanswered: unanswered,
          pages: resume != nil && pages, formats: knowsFormats)))
    pendingJoin = PendingJoin(
      message: number, isFresh: isFresh, pages: pages, formats: knowsFormats)
  }

  /// The change whose outcome a reply to a join must report: the one in flight, or the one that an
  /// earlier process may have sent after its state was last stored.
  private var unanswered: ChangeName? {
    guard let clientID, let synchronizer = replica?.synchronizer else { return nil }
    if let change = synchronizer.changeInFlight {
      return ChangeName(clientID: clientID, sequence: change.sequence)
    }
    // Without a client id, nothing was ever sent.
    guard isRestored, synchronizer.unconfirmedCount > 0, !clientID.isSame(as: KeptNote.noClientID)
    else { return nil }
    return ChangeName(clientID: clientID, sequence: synchronizer.numberOfNext)
  }

  /// Returns the number of the last stored change under the former client id, from a reply; `nil`
  /// if the id has not changed, in which case the reply's `lastSequence` applies.
  private func formerSequence(_ settled: ChangeName?, _ turn: Turn) -> Int? {
    guard let clientID, !isSame(clientID, turn.clientID) else { return nil }
    // Without this field, the server has no change under the new id, and may have some under the
    // former id.
    guard let settled, clientID.isSame(as: settled.clientID) else { return 0 }
    return max(settled.sequence, 0)
  }

  /// Joins again because the change in flight cannot be stored as it was sent. A copy of it may
  /// still be on its way; the reply to the join says whether the server has stored it.
  mutating func rejoin(_ turn: inout Turn) {
    isRefused = true
    replica?.synchronizer.disconnect()
    join(&turn)
  }

  /// Recovers from a message that does not match the local state: a message was lost, or one side
  /// is wrong. The first recovery requests what was missed, later ones the whole text.
  mutating func recover(_ turn: inout Turn) {
    tell(.outOfStep, &turn)
    replica?.synchronizer.disconnect()
    pendingJoin = nil
    pendingPage = nil
    if phase == .live { phase = .away }
    rejoinCount += 1
    if rejoinCount <= Self.rejoinsMax {
      join(fresh: rejoinCount > 1, &turn)
    } else {
      settle()
      phase = .failed(.disagreement)
      keepNow(&turn)
    }
  }

  /// Recovers from an unreadable message, which may have concerned this note.
  mutating func misread(_ turn: inout Turn) {
    guard phase == .live else { return }
    recover(&turn)
    tellStatus(&turn)
  }

  mutating func joined(
    _ joined: ServerMessage.Joined, answering number: Int?, _ turn: inout Turn
  ) {
    guard let pendingJoin, pendingJoin.message == number else { return }
    self.pendingJoin = nil
    defer { tellStatus(&turn) }
    guard joined.revision >= 0, joined.lastSequence >= 0, joined.revision < .max,
      joined.lastSequence < .max
    else { return recover(&turn) }
    limitChanges(turn)
    numbers = joined.numbers.map { NoteNumbers($0) }
    dropFormatsUnlessKnown(&turn)
    if pendingJoin.formats, needsFormats(joined) { return join(fresh: true, &turn) }
    become(joined.kind ?? .plain, &turn)
    do throws(SynchronizerError) {
      switch joined.content {
      case .text(let text): try take(content(text, joined.format), joined, &turn)
      case .changes(let changes): try resume(changes, joined, &turn)
      }
    } catch {
      return recover(&turn)
    }
    replica?.hasFormats = pendingJoin.formats
    access = joined.access
    retitle(joined.title, &turn)
    people.removeAll()
    listPeople(
      joined: joined.presence, updated: [], left: [], count: joined.people, hasSelections: true,
      &turn)
    selectionIsUnsent = true
    scheduleSelection(&turn)
    unconfirmedMoved(&turn)
    if knowsFormats, !pendingJoin.formats { joinForFormats(&turn) }
  }

  /// Applies the whole text: the first one, or one that replaces a text whose missed changes are
  /// too many or of another history.
  private mutating func take(
    _ text: RichDocument, _ joined: ServerMessage.Joined, _ turn: inout Turn
  ) throws(SynchronizerError) {
    guard replica != nil else {
      clientID = turn.clientID
      replica = Replica(
        local: text, server: text, change: joined.change,
        synchronizer: RichSynchronizer(
          epoch: joined.epoch, revision: joined.revision, nextSequence: joined.lastSequence + 1))
      limitChanges(turn)
      phase = .live
      tell(.reset(text), &turn)
      return
    }
    phase = .live
    let former = formerSequence(joined.settled, turn)
    clientID = turn.clientID
    try rebase(
      onto: text, epoch: joined.epoch, revision: joined.revision,
      lastSequence: joined.lastSequence, formerSequence: former, change: joined.change,
      isSameConnection: false, &turn)
  }

  /// Applies the missed changes, in order. Own changes among them are acknowledgements. A change
  /// that is still in flight is then sent again.
  private mutating func resume(
    _ missed: [ServerMessage.Change], _ joined: ServerMessage.Joined, _ turn: inout Turn
  ) throws(SynchronizerError) {
    guard let known = replica?.synchronizer, joined.epoch.isSame(as: known.epoch),
      joined.revision - missed.count == known.revision
    else {
      throw .outOfOrder(expected: replica?.synchronizer.revision ?? 0, found: joined.revision)
    }
    phase = .live
    try take(missed, from: known.revision + 1, isMissed: true, &turn)
    if let change = joined.change { replica?.change = change }
    // The server no longer knew this client. Its stored edits have just been received under the old
    // id, so the others can be sent under the new one, from the number that the server expects.
    // Refused edits get new numbers, too: sent unaltered, they would be refused again.
    let isMoved = !isSame(clientID, turn.clientID)
    clientID = turn.clientID
    if isMoved || isRefused {
      replica?.synchronizer.renumber(lastSequence: joined.lastSequence)
    }
    if isMoved || isRefused || isRestored { keeping.goBeyond() }
    isRefused = false
    isRestored = false
    refusal = nil
    transmit(replica?.synchronizer.reconnect(), &turn)
  }

  private func isSame(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.isSame(as: other)
  }

  mutating func resync(_ resync: ServerMessage.Resync, _ turn: inout Turn) {
    guard phase == .live, resync.revision >= 0, resync.lastSequence >= 0,
      resync.revision < .max, resync.lastSequence < .max
    else { return }
    do throws(SynchronizerError) {
      become(resync.kind ?? .plain, &turn)
      try rebase(
        onto: content(resync.text, resync.format), epoch: resync.epoch, revision: resync.revision,
        lastSequence: resync.lastSequence, formerSequence: nil, change: resync.change,
        isSameConnection: true, &turn)
      unconfirmedMoved(&turn)
      tell(.carets, &turn)
    } catch {
      recover(&turn)
    }
    tellStatus(&turn)
  }

  /// Moves the unconfirmed edits onto another text.
  private mutating func rebase(
    onto text: RichDocument, epoch: String, revision: Int, lastSequence: Int, formerSequence: Int?,
    change: ChangeName?, isSameConnection: Bool, _ turn: inout Turn
  ) throws(SynchronizerError) {
    guard var moved = replica else { return }
    let count = moved.synchronizer.unconfirmedCount
    let (apply, next) = try moved.synchronizer.rebase(
      from: moved.server, to: text, epoch: epoch, revision: revision, lastSequence: lastSequence,
      formerSequence: formerSequence, isSameConnection: isSameConnection)
    do throws(OperationError) {
      try moved.local.apply(apply)
      try history?.receive(apply)
    } catch {
      throw .operation(error)
    }
    moved.server = text
    moved.change = change
    replica = moved
    keeping.goBeyond()
    isRefused = false
    isRestored = false
    refusal = nil
    // A change that was refused and then overtaken gets no further answer. Its retry time becomes
    // the time of the next join.
    if putOff != .change || !moved.synchronizer.isOvertaken {
      putOff = nil
      retryAt = nil
    }
    if !apply.isIdentity {
      movePeople(over: apply.text, by: nil, isOwn: false)
      tell(.apply(apply, by: nil, revision: Int64(revision)), &turn)
    }
    transmit(next, &turn)
    if count > 0, let pending = replica?.synchronizer.pending {
      tell(.rebased(pending.text.changedRanges), &turn)
    }
  }

  /// Handles an error that answers a message.
  ///
  /// - Returns: Whether this note has sent that message.
  mutating func failed(
    _ error: ServerMessage.Failure, answering number: Int, _ turn: inout Turn
  ) -> Bool {
    defer { tellStatus(&turn) }
    if pendingPage == number, error.code.meansNoHistory {
      pendingPage = nil
      join(pages: false, &turn)
      return true
    }
    if pendingJoin?.message == number || pendingPage == number {
      let join = pendingJoin
      pendingJoin = nil
      pendingPage = nil
      if error.retryable {
        putOff = join.map { .join(fresh: $0.isFresh, pages: $0.pages) } ?? .page
        retryAt = turn.after(error.retryAfter, or: timing.retryAfter)
      } else {
        phase = error.code == .unknownDocument ? .deleted : .failed(.refused(error.code))
        keepNow(&turn)
      }
      return true
    }
    if let changeMessage, changeMessage.number == number {
      refused(
        changeMessage.sequence, error.code, retryable: error.retryable,
        retryAfter: error.retryAfter, &turn)
      return true
    }
    guard selectMessage == number else { return false }
    selectMessage = nil
    if error.retryable {
      selectionIsUnsent = true
      selectAt = turn.after(error.retryAfter, or: timing.retryAfter)
    }
    return true
  }

  // MARK: The document itself

  mutating func accessChanged(_ access: ServerMessage.AccessChanged.Access, _ turn: inout Turn) {
    switch access {
    case .none:
      keepNow(&turn)
      phase = .failed(.readingLost)
      lost(&turn)
    case .read: self.access = .read
    case .write: self.access = .write
    }
    tellStatus(&turn)
  }

  mutating func documentChanged(_ change: ServerMessage.DocumentChanged, _ turn: inout Turn) {
    if change.deleted {
      keepNow(&turn)
      phase = .deleted
      lost(&turn)
    } else if let title = change.title {
      retitle(title, &turn)
    }
    tellStatus(&turn)
  }
}
