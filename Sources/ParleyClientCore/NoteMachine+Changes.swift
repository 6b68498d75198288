import OTCore
import SocketMessages

// Changes: received from other clients, and own ones until they are acknowledged or refused.

extension NoteMachine {
  mutating func changes(_ changes: ServerMessage.Changes, _ turn: inout Turn) {
    // Before a join is answered, changes are ignored: the answer will contain them.
    guard phase == .live, changes.revision >= 1, changes.revision <= .max - changes.changes.count
    else { return }
    do throws(SynchronizerError) {
      try take(changes.changes, from: changes.revision, isMissed: false, &turn)
      if replica?.synchronizer.revision == changes.revision + changes.changes.count - 1 {
        replica?.change?.time = changes.time
      }
    } catch {
      recover(&turn)
    }
    unconfirmedMoved(&turn)
    tell(.carets, &turn)
    tellStatus(&turn)
  }

  /// Applies changes that have become revisions, in order. Those at or below the newest revision
  /// known were applied before.
  ///
  /// - Parameter isMissed: Whether the changes were missed and requested. Only those can contain an
  ///   own change that this process has not sent.
  mutating func take(
    _ changes: [ServerMessage.Change], from first: Int, isMissed: Bool, _ turn: inout Turn
  ) throws(SynchronizerError) {
    for (offset, change) in changes.enumerated() {
      let revision = first + offset
      guard let known = replica?.synchronizer, revision > known.revision else { continue }
      let name = ChangeName(clientID: change.clientID, sequence: change.sequence)
      guard let clientID, clientID.isSame(as: change.clientID) else {
        try receive(operation(of: change), name, revision: revision, &turn)
        continue
      }
      if known.changeInFlight?.sequence == change.sequence {
        try acknowledge(name, revision: revision, &turn)
      } else if isMissed, isRestored {
        try supersede(operation(of: change), name, revision: revision, &turn)
      } else if isMissed {
        // An own change that this client no longer waits for. The waiting edits do not contain it,
        // and get a later number.
        try receive(operation(of: change), name, revision: revision, &turn)
        isRefused = true
      } else {
        throw .notInFlight(sequence: change.sequence)
      }
    }
  }

  /// Applies another client's change.
  @inline(never)
  private mutating func receive(
    _ operation: RichOperation, _ name: ChangeName, revision: Int, _ turn: inout Turn
  ) throws(SynchronizerError) {
    // In place, because with a copy both texts would copy their changed nodes. No step can fail: an
    // operation that fits the server's text also fits in the later steps.
    guard let length = replica?.server.text.scalarCount, operation.baseLength == length else {
      throw .operation(
        .lengthMismatch(
          expected: replica?.server.text.scalarCount ?? 0, found: operation.baseLength))
    }
    guard let apply = try replica?.synchronizer.receive(operation, revision: revision) else {
      return
    }
    do throws(OperationError) {
      try replica?.server.apply(operation)
      try replica?.local.apply(apply)
      try history?.receive(apply)
    } catch {
      throw .operation(error)
    }
    replica?.change = name
    if operation.makesRich { become(.rich, &turn) }
    movePeople(over: apply.text, by: name.clientID, isOwn: false)
    tell(.apply(apply, by: name.clientID, revision: Int64(revision)), &turn)
    if people.writes(name.clientID, until: turn.after(timing.writingStays)) {
      tell(.people, &turn)
    }
  }

  /// Removes the change in flight from the unconfirmed ones, because it has become a revision.
  private mutating func acknowledge(
    _ name: ChangeName, revision: Int, _ turn: inout Turn
  ) throws(SynchronizerError) {
    guard let stored = replica?.synchronizer.unacknowledged else { return }
    let next = try replica?.synchronizer.acknowledge(sequence: name.sequence, revision: revision)
    do throws(OperationError) {
      try replica?.server.apply(stored)
    } catch {
      throw .operation(error)
    }
    replica?.change = name
    if stored.makesRich { become(.rich, &turn) }
    rejoinCount = 0
    changeMessage = nil
    if putOff == .change {
      putOff = nil
      retryAt = nil
    }
    transmit(next ?? nil, &turn)
  }

  /// Applies an own change that is not in flight: this note was restored from a state older than
  /// the change, so the change contains all edits that waited in that state.
  @inline(never)
  private mutating func supersede(
    _ operation: RichOperation, _ name: ChangeName, revision: Int, _ turn: inout Turn
  ) throws(SynchronizerError) {
    guard var moved = replica else { return }
    var server = moved.server
    do throws(OperationError) {
      try server.apply(operation)
    } catch {
      throw .operation(error)
    }
    let apply = try moved.synchronizer.supersede(
      from: moved.server, to: server, sequence: name.sequence, revision: revision)
    do throws(OperationError) {
      try moved.local.apply(apply)
      try history?.receive(apply)
    } catch {
      throw .operation(error)
    }
    moved.server = server
    moved.change = name
    replica = moved
    keeping.goBeyond()
    if operation.makesRich { become(.rich, &turn) }
    movePeople(over: apply.text, by: nil, isOwn: true)
    tell(.apply(apply, by: nil, revision: Int64(revision)), &turn)
  }

  mutating func acknowledged(_ answer: ServerMessage.Acknowledged, _ turn: inout Turn) {
    guard phase == .live, let known = replica?.synchronizer,
      known.changeInFlight?.sequence == answer.sequence,
      // A change that was sent again may be acknowledged after it was received as a revision.
      answer.revision > known.revision
    else { return }
    do throws(SynchronizerError) {
      try acknowledge(
        ChangeName(clientID: clientID ?? "", sequence: answer.sequence, time: answer.time),
        revision: answer.revision, &turn)
    } catch {
      recover(&turn)
    }
    unconfirmedMoved(&turn)
    tellStatus(&turn)
  }

  // MARK: Sending

  /// Sends a change, and stores the edits first if necessary.
  mutating func transmit(_ change: RichSynchronizer.Change?, _ turn: inout Turn) {
    guard let change, let replica, phase == .live, turn.isOnline else { return }
    let (number, bytes) = turn.encode(
      .change(
        .init(
          documentID: documentID, epoch: replica.synchronizer.epoch, revision: change.revision,
          sequence: change.sequence, operation: change.operation)))
    guard bytes.count <= turn.limits.messageBytesMax else {
      // The server would close the connection because of it.
      return refused(
        change.sequence, .tooLarge, retryable: false, retryAfter: nil, &turn)
    }
    // The stored state contains all waiting edits as one.
    if replica.synchronizer.isPart { keeping.goBeyond() }
    keepBeforeSending(&turn)
    changeMessage = (number, change.sequence)
    turn.actions.append(.send(bytes))
  }

  /// Retries a deferred change.
  mutating func resend(_ turn: inout Turn) {
    guard phase == .live, let synchronizer = replica?.synchronizer else { return }
    if synchronizer.isOvertaken {
      // The change applies to a text that is obsolete; joining again makes it a change of the new
      // one.
      rejoin(&turn)
    } else {
      transmit(synchronizer.retry(), &turn)
    }
  }

  // MARK: Refusals

  /// Whether joining again may resolve a refusal.
  private func isCuredByJoining(_ code: ErrorCode) -> Bool {
    switch code {
    case .epochChanged, .historyGone, .futureRevision, .lengthMismatch, .notJoined, .sequenceGap:
      true
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .badOperation,
      .negativeRevision, .outdated, .sequenceReused, .keyReused, .idTaken, .notOffered,
      .unknownPublication, .unknownConnection, .tooLarge, .tooMany, .tooFast, .busy, .unavailable,
      .damaged:
      false
    #if !hasFeature(Embedded)
      case .conflict, .unknownValue: false
    #endif
    }
  }

  mutating func refused(
    _ sequence: Int, _ code: ErrorCode, retryable: Bool, retryAfter: Int?, _ turn: inout Turn
  ) {
    // A change that is refused during a join is sent once more after it. A change that was sent
    // twice may be refused twice.
    guard phase == .live, var replica, replica.synchronizer.changeInFlight?.sequence == sequence
    else { return }
    defer { tellStatus(&turn) }
    changeMessage = nil
    let isOvertaken = replica.synchronizer.isOvertaken
    // An overtaken change is never sent again unaltered, so only a rate limit is a reason to wait.
    if isOvertaken ? code == .tooFast : retryable {
      putOff = .change
      retryAt = turn.after(retryAfter, or: timing.retryAfter)
      return
    }
    if isOvertaken || isCuredByJoining(code), rejoinCount < Self.rejoinsMax {
      // Server and client see different documents; joining again resolves that.
      rejoinCount += 1
      return rejoin(&turn)
    }
    do throws(SynchronizerError) {
      try replica.synchronizer.refuse(sequence: sequence)
    } catch {
      return recover(&turn)
    }
    self.replica = replica
    keeping.goBeyond()
    refusal = code
    keepNow(&turn)
  }
}
