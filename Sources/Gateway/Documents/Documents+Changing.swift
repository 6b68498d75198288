import ParleyGatewayPorts
import SocketMessages

/// Changes by the followers of a document.
extension Documents {
  /// Handles a change from a follower.
  ///
  /// - Parameter hasWaited: Whether the change has waited. A change that has waited and cannot be
  ///   resent is accepted even if the server is stopping or the backlog is full.
  func submit(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription,
    hasWaited: Bool = false
  ) {
    let (room, connection) = (subscription.room, subscription.connection)
    let isTaken = hasWaited && !submission.isResendable
    let reason: (ErrorCode, String)? =
      if !subscription.verbs.contains(.write) {
        (.notAllowed, "the token grants reading this document, not writing")
      } else if board.isDraining, !isTaken {
        (.unavailable, "the server is stopping; resend after it has restarted")
      } else {
        nil
      }
    if let (code, words) = reason {
      return refusals.refuse(
        submission.sequence, code, words, of: room.id, ref: messageID, to: connection)
    }
    guard isTaken || hasRoom(for: submission, in: room) else {
      return refusals.refuseForBacklog(submission, messageID: messageID, subscription)
    }
    let change = WaitingWork.change(connection.id, messageID: messageID, submission)
    guard mayBegin(change, in: room) else { return wait(change, in: room, connection) }
    let isBarred =
      subscription.isFenced || (0..<subscription.textRevision).contains(submission.revision)
    if isBarred, let live = room.live,
      submission.sequence >= live.nextSequence(of: connection.client)
    {
      return refusals.refuseHistoryGone(submission, messageID: messageID, subscription)
    }
    var submission = submission
    submission.session = subscription.session
    guard let outcome = sequence(submission, in: room) else { return }
    sequenced(submission, outcome, messageID: messageID, subscription)
  }

  /// Answers a change by its outcome, or defers it until older entries are read.
  private func sequenced(
    _ submission: LiveDocument.Submission, _ outcome: LiveDocument.Outcome, messageID: String,
    _ subscription: Subscription
  ) {
    let (room, connection) = (subscription.room, subscription.connection)
    switch outcome {
    case .accepted(let revision):
      subscription.messageIDs[revision] = messageID
      room.changes.add(submission, at: dependencies.clock.microseconds, to: &backlog)
      people.recordAct(of: subscription)
      commit(room)
    case .duplicatePending:
      metrics.changesRepeated += 1
      if let revision = room.live?.pendingRevision(of: submission.client) {
        subscription.messageIDs[revision] = messageID
      }
    case .duplicate(let revision):
      metrics.changesRepeated += 1
      // A lagging follower receives its own change with the entries that it still lacks.
      guard revision <= subscription.revision else { return }
      connection.dialect.acknowledge(
        submission.sequence, revision: revision, time: room.live?.durableEntry(at: revision)?.time,
        of: room.id, ref: messageID, to: connection)
    case .needsHistory(let after, let through):
      guard let live = room.live, live.durableRevision - after <= settings.lagRevisionsMax else {
        return refusals.refuseHistoryGone(submission, messageID: messageID, subscription)
      }
      wait(.change(connection.id, messageID: messageID, submission), in: room, connection)
      readHistory(of: room, after: after, through: through)
    case .tooMuchHistory:
      refusals.refuseHistoryGone(submission, messageID: messageID, subscription)
    case .undecided:
      // The end of the commit admits it again.
      wait(.change(connection.id, messageID: messageID, submission), in: room, connection)
    case .refused(let refusal):
      refusals.refuse(submission, refusal, messageID: messageID, subscription)
    }
  }

  /// Submits a change within the configured limits; `nil` if the document is not loaded.
  func sequence(
    _ submission: LiveDocument.Submission, in room: DocumentRoom
  ) -> LiveDocument.Outcome? {
    turn.spend(
      room.live?.work(on: submission.operation, submission.format, from: submission.revision) ?? 0)
    return room.live?.submit(
      submission, scalarsMax: settings.limits.documentScalarsMax,
      componentsMax: settings.limits.operationComponentsMax,
      historyComponentsMax: settings.historyComponentsMax)
  }

  /// Whether the backlog has capacity for a client's change. A repeated change always passes.
  func hasRoom(for submission: LiveDocument.Submission, in room: DocumentRoom) -> Bool {
    guard backlog.isFull else { return true }
    guard submission.isResendable, let live = room.live else { return false }
    return submission.sequence < live.nextSequence(of: submission.client)
  }
}
