import OTCore
import SocketMessages

// Resuming after a long absence. Missed changes are read in pages, and each is applied as if it had
// been received alone, so edits remain at their positions, however much has changed.
//
//     join ─▶ behind ─▶ page ─▶ page ─▶ … ─▶ join ─▶ joined
//                         └──history gone──▶ join ─▶ joined with the text

extension NoteMachine {
  /// Requests missed changes in pages, because the server has more of them than one message may
  /// contain.
  mutating func behind(
    _ behind: ServerMessage.Behind, answering number: Int?, _ turn: inout Turn
  ) {
    guard let pendingJoin, pendingJoin.message == number else { return }
    self.pendingJoin = nil
    defer { tellStatus(&turn) }
    guard let known = replica?.synchronizer, behind.epoch.isSame(as: known.epoch),
      behind.revision > known.revision
    else { return recover(&turn) }
    // The change in flight is either stored already, or will never be stored as it was sent. It is
    // among the pages, or is sent as a new change after them.
    isRefused = true
    askForPage(&turn)
  }

  mutating func askForPage(_ turn: inout Turn) {
    guard turn.isOnline, let resume = replica?.resumePoint else { return }
    pendingPage = turn.send(.documentHistory(.init(documentID: documentID, resume: resume)))
  }

  /// Handles a page of missed changes.
  mutating func missed(
    _ page: ServerMessage.DocumentHistory, answering number: Int?, _ turn: inout Turn
  ) {
    guard let pendingPage, pendingPage == number else { return }
    self.pendingPage = nil
    defer { tellStatus(&turn) }
    guard let known = replica?.synchronizer, page.epoch.isSame(as: known.epoch),
      page.revision == known.revision + 1, page.revision <= .max - page.changes.count,
      !page.changes.isEmpty || !page.hasMore
    else { return recover(&turn) }
    guard !page.changes.isEmpty else {
      // The server announced more changes, but its log has lost them since. Join again to learn the
      // log's present state, but only a few times if the server repeats this answer.
      guard rejoinCount < Self.rejoinsMax else { return recover(&turn) }
      rejoinCount += 1
      return join(&turn)
    }
    do throws(SynchronizerError) {
      try take(page.changes, from: page.revision, isMissed: true, &turn)
    } catch {
      return recover(&turn)
    }
    replica?.change?.time = page.time
    unconfirmedMoved(&turn)
    tell(.carets, &turn)
    if page.hasMore { askForPage(&turn) } else { join(&turn) }
  }

  /// Limits changes to the size that the server accepts; larger ones are sent as several.
  mutating func limitChanges(_ turn: Turn) {
    guard let epoch = replica?.synchronizer.epoch else { return }
    // The maximum bytes around the operation and its format, with all names escaped.
    let around = (knowsFormats ? 192 : 160) + 6 * (documentID.utf8.count + epoch.utf8.count)
    let limits = turn.limits
    replica?.synchronizer.limits = OperationLimits(
      componentsMax: limits.operationComponentsMax,
      jsonBytesMax: max(0, limits.messageBytesMax) - around)
  }
}

extension NoteMachine.Replica {
  /// The point from which the server resumes.
  var resumePoint: ResumePoint {
    ResumePoint(
      epoch: synchronizer.epoch, revision: synchronizer.revision, change: change)
  }
}

extension ErrorCode {
  /// Whether the error means that the requested changes can never be read.
  var meansNoHistory: Bool {
    switch self {
    case .historyGone, .epochChanged, .futureRevision: true
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .notJoined,
      .badOperation, .lengthMismatch, .negativeRevision, .outdated, .sequenceReused, .sequenceGap,
      .keyReused, .idTaken, .notOffered, .unknownPublication, .unknownConnection, .tooLarge,
      .tooMany, .tooFast, .busy, .unavailable, .damaged:
      false
    #if !hasFeature(Embedded)
      case .conflict, .unknownValue: false
    #endif
    }
  }
}

extension TextOperation {
  /// The ranges of inserted text in the text after the operation, and an empty range for each
  /// deletion.
  var changedRanges: [Range<Int>] {
    var places: [Range<Int>] = []
    var position = 0
    forEachPacked { kind, length, _ in
      switch kind {
      case .retain: position += length
      case .delete: if places.last?.upperBound != position { places.append(position..<position) }
      case .insert:
        places.append(position..<position + length)
        position += length
      }
    }
    return places
  }
}
