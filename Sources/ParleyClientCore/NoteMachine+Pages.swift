import OTCore
import SocketMessages

// Resuming after a long absence: missed changes are read in pages, and each is applied as if it had
// been received by itself. So edits remain where they were typed, however much has happened.
//
//     join ─▶ behind ─▶ page ─▶ page ─▶ … ─▶ join ─▶ joined
//                         └──history gone──▶ join ─▶ joined with the text

extension NoteMachine {
  /// The server has more than it sends at once: it is asked for in pages.
  mutating func behind(
    _ behind: ServerMessage.Behind, answering number: Int?, _ turn: inout Turn
  ) {
    guard let pendingJoin, pendingJoin.message == number else { return }
    self.pendingJoin = nil
    defer { tellStatus(&turn) }
    guard let known = replica?.synchronizer, behind.epoch.isSame(as: known.epoch),
      behind.revision > known.revision
    else { return recover(&turn) }
    // The change in flight was stored by now, or never will be as it was sent: it comes by in the
    // pages, or goes out as a new change once they are read.
    isRefused = true
    askForPage(&turn)
  }

  mutating func askForPage(_ turn: inout Turn) {
    guard turn.isOnline, let resume = replica?.resumePoint else { return }
    pendingPage = turn.send(.documentHistory(.init(documentID: documentID, resume: resume)))
  }

  /// A page has come.
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
      // The server announced more changes, which its log has lost since. Joining again says how the
      // log continues, unless the server repeats its answer.
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

  /// Has changes be as large as the server takes them; what is larger goes as several.
  mutating func limitChanges(_ turn: Turn) {
    guard let epoch = replica?.synchronizer.epoch else { return }
    // All bytes around the operation, names escaped at worst.
    let around = 160 + 6 * (documentID.utf8.count + epoch.utf8.count)
    let limits = turn.limits
    replica?.synchronizer.limits = OperationLimits(
      componentsMax: limits.operationComponentsMax,
      jsonBytesMax: max(0, limits.messageBytesMax) - around)
  }
}

extension NoteMachine.Replica {
  /// The point from which the server is to resume.
  var resumePoint: ResumePoint {
    ResumePoint(
      epoch: synchronizer.epoch, revision: synchronizer.revision, change: change)
  }
}

extension ErrorCode {
  /// Whether the changes asked for cannot be read, now or later.
  var meansNoHistory: Bool {
    switch self {
    case .historyGone, .epochChanged, .futureRevision: true
    case .badMessage, .unknownType, .notAllowed, .unauthorised, .unknownDocument, .notJoined,
      .badOperation, .lengthMismatch, .negativeRevision, .outdated, .sequenceReused, .sequenceGap,
      .keyReused, .idTaken, .notOffered, .unknownPublication, .unknownConnection, .tooLarge,
      .tooMany, .tooFast, .busy, .unavailable, .damaged:
      false
    }
  }
}

extension TextOperation {
  /// The places in the text after the operation where it has inserted, and where it has deleted.
  var changedPlaces: [Range<Int>] {
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
