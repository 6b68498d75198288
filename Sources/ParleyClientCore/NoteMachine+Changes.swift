import OTCore
import SocketMessages

// Changes: those received from other clients, and own ones until they are acknowledged or refused.

extension NoteMachine {
  mutating func changes(_ changes: ServerMessage.Changes, _ turn: inout Turn) {
    // Until a join is answered, the answer will hold all of this again.
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

  /// Takes changes that have become revisions, in order; those at or below the newest revision
  /// known were seen already.
  ///
  /// - Parameter isMissed: Whether they are the answer to a join. Only then can an own change be
  ///   among them that this process has not sent.
  mutating func take(
    _ changes: [ServerMessage.Change], from first: Int, isMissed: Bool, _ turn: inout Turn
  ) throws(SynchronizerError) {
    for (offset, change) in changes.enumerated() {
      let revision = first + offset
      guard let known = replica?.synchronizer, revision > known.revision else { continue }
      let name = ChangeName(clientID: change.clientID, sequence: change.sequence)
      guard let clientID, clientID.isSame(as: change.clientID) else {
        try receive(change.operation, name, revision: revision, &turn)
        continue
      }
      if known.changeInFlight?.sequence == change.sequence {
        try acknowledge(name, revision: revision, &turn)
      } else if isMissed, isRestored {
        try supersede(change.operation, name, revision: revision, &turn)
      } else if isMissed {
        // One that was given up here. What waits now has nothing to do with it, and gets a number
        // behind it.
        try receive(change.operation, name, revision: revision, &turn)
        isRefused = true
      } else {
        throw .notInFlight(sequence: change.sequence)
      }
    }
  }

  /// Applies another client's change.
  private mutating func receive(
    _ operation: TextOperation, _ name: ChangeName, revision: Int, _ turn: inout Turn
  ) throws(SynchronizerError) {
    // In place, for a copy would have both texts copied where they change. An operation that fits
    // the server's text fits after each of the steps.
    guard let length = replica?.server.scalarCount, operation.baseLength == length else {
      throw .operation(
        .lengthMismatch(expected: replica?.server.scalarCount ?? 0, found: operation.baseLength))
    }
    guard let apply = try replica?.synchronizer.receive(operation, revision: revision) else {
      return
    }
    do throws(OperationError) {
      try replica?.server.apply(operation)
      try replica?.local.apply(apply)
    } catch {
      throw .operation(error)
    }
    replica?.change = name
    movePeople(over: apply, by: name.clientID, isOwn: false)
    tell(.apply(apply, by: name.clientID, revision: Int64(revision)), &turn)
    if people.writes(name.clientID, until: turn.after(timing.writingStays)) {
      tell(.people, &turn)
    }
  }

  /// The change in flight has become a revision.
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
    rejoinCount = 0
    changeMessage = nil
    if putOff == .change {
      putOff = nil
      retryAt = nil
    }
    transmit(next ?? nil, &turn)
  }

  /// An own change that is not in flight: this note was restored from a state older than that
  /// change, which therefore has in it whatever waited then.
  private mutating func supersede(
    _ operation: TextOperation, _ name: ChangeName, revision: Int, _ turn: inout Turn
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
    } catch {
      throw .operation(error)
    }
    moved.server = server
    moved.change = name
    replica = moved
    keeping.goBeyond()
    movePeople(over: apply, by: nil, isOwn: true)
    tell(.apply(apply, by: nil, revision: Int64(revision)), &turn)
  }

  mutating func acknowledged(_ answer: ServerMessage.Acknowledged, _ turn: inout Turn) {
    guard phase == .live, let known = replica?.synchronizer,
      known.changeInFlight?.sequence == answer.sequence,
      // The answer to a change that was sent again may come after the change itself came by.
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

  /// Sends a change, after what has to be kept before it.
  mutating func transmit(_ change: ClientSynchronizer.Change?, _ turn: inout Turn) {
    guard let change, let replica, phase == .live, turn.isOnline else { return }
    let (number, bytes) = turn.encode(
      .change(
        .init(
          documentID: documentID, epoch: replica.synchronizer.epoch, revision: change.revision,
          sequence: change.sequence, operation: change.operation)))
    guard bytes.count <= turn.limits.messageBytesMax else {
      // The server would end the connection over it.
      return refused(
        change.sequence, .tooLarge, retryable: false, retryAfter: nil, &turn)
    }
    // The state on disk contains all waiting edits as one.
    if replica.synchronizer.isPart { keeping.goBeyond() }
    keepBeforeSending(&turn)
    changeMessage = (number, change.sequence)
    turn.actions.append(.send(bytes))
  }

  /// Tries again what was put off.
  mutating func resend(_ turn: inout Turn) {
    guard phase == .live, let synchronizer = replica?.synchronizer else { return }
    if synchronizer.isOvertaken {
      // It was made on a text that is no more; joining again makes it a change of the new one.
      rejoin(&turn)
    } else {
      transmit(synchronizer.retry(), &turn)
    }
  }

  // MARK: Refusals

  /// Whether joining again may cure a refusal.
  private func isCuredByJoining(_ code: ErrorCode) -> Bool {
    switch code {
    case .epochChanged, .historyGone, .futureRevision, .lengthMismatch, .notJoined, .sequenceGap:
      true
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .badOperation,
      .negativeRevision, .outdated, .sequenceReused, .keyReused, .idTaken, .notOffered,
      .unknownPublication, .unknownConnection, .tooLarge, .tooMany, .tooFast, .busy, .unavailable,
      .damaged:
      false
    }
  }

  mutating func refused(
    _ sequence: Int, _ code: ErrorCode, retryable: Bool, retryAfter: Int?, _ turn: inout Turn
  ) {
    // An edit that is refused during a join is sent once more after it; one change sent twice may
    // be refused twice.
    guard phase == .live, var replica, replica.synchronizer.changeInFlight?.sequence == sequence
    else { return }
    defer { tellStatus(&turn) }
    changeMessage = nil
    let isOvertaken = replica.synchronizer.isOvertaken
    // An overtaken change is not sent again as it was, so there is nothing to wait for but its
    // turn.
    if isOvertaken ? code == .tooFast : retryable {
      putOff = .change
      retryAt = turn.after(retryAfter, or: timing.retryAfter)
      return
    }
    if isOvertaken || isCuredByJoining(code), rejoinCount < Self.rejoinsMax {
      // The server and this client see the document differently. Joining again settles that.
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
