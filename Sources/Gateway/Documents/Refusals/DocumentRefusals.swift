import ParleyGatewayPorts
import SocketMessages

/// The answers to changes, edits and waiting work that a document refuses.
final class DocumentRefusals: Part {
  let board: Switchboard
  private let pages: HistoryPages

  init(_ board: Switchboard, _ pages: HistoryPages) {
    self.board = board
    self.pages = pages
  }

  // MARK: Changes

  func refuse(
    _ submission: LiveDocument.Submission, _ refusal: LiveDocument.Refusal, messageID: String,
    _ subscription: Subscription
  ) {
    let (code, message) = refusal.words(sequence: submission.sequence)
    if case .outdated(let head) = refusal {
      metrics.changesRefused[code.rawValue, default: 0] += 1
      return subscription.connection.dialect.refuseOutdated(
        submission.sequence, message, head: head, of: subscription.room.id, ref: messageID,
        to: subscription.connection)
    }
    refuse(
      submission.sequence, code, message, of: subscription.room.id, ref: messageID,
      to: subscription.connection)
  }

  func refuseHistoryGone(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    refuse(
      submission.sequence, .historyGone,
      "the changes since the base revision are no longer stored, or too many; join again and rebase",
      of: subscription.room.id, ref: messageID, to: subscription.connection)
  }

  /// Refuses a change that was made in another epoch.
  func refuseForItsEpoch(
    _ sequence: Int, of id: DocumentID, ref: String, to connection: Connection
  ) {
    refuse(
      sequence, .epochChanged, "the document has another history now; join it again and rebase",
      of: id, ref: ref, to: connection)
  }

  /// Refuses a change with an error, and counts the refusal.
  func refuse(
    _ sequence: Int, _ code: ErrorCode, _ message: String, of id: DocumentID, ref: String,
    retryAfter: Int? = nil, to connection: Connection
  ) {
    metrics.changesRefused[code.rawValue, default: 0] += 1
    connection.dialect.refuse(
      sequence, code, message, of: id, ref: ref, retryAfter: retryAfter, to: connection)
  }

  /// Refuses a change because the backlog is full; the client resends it later.
  func refuseForBacklog(
    _ submission: LiveDocument.Submission, messageID: String, _ subscription: Subscription
  ) {
    countRefusalByBacklog()
    subscription.connection.dialect.putOff(
      submission.sequence, of: subscription.room.id, ref: messageID,
      to: subscription.connection)
  }

  /// Refuses the changes of a failed commit, and the changes based on it. If it is unknown whether
  /// the log contains them, followers are not refused.
  func refuseFallen(_ fallen: [LogEntry], in room: DocumentRoom, isUnknown: Bool) {
    for entry in fallen {
      if let edit = room.changes.takeEdit(entry.revision) {
        respond(
          edit.request,
          .problem(
            503, .unavailable,
            isUnknown
              ? "it is unknown whether the edit was stored; read the note before you send the edit"
                + " again, or use an Idempotency-Key"
              : "the edit could not be stored now; try again later"))
      }
    }
    guard !isUnknown else { return }
    for subscription in room.subscriptions {
      let connection = subscription.connection
      for entry in fallen where entry.client == connection.client {
        guard let messageID = subscription.messageIDs.removeValue(forKey: entry.revision) else {
          continue
        }
        refuse(
          entry.sequence, .unavailable,
          room.live?.isShared ?? false
            ? "the change could not be stored now; send it again"
            : "the change could not be written to disk and is not in the document; send it again",
          of: room.id, ref: messageID, to: connection)
      }
    }
  }

  // MARK: Edits

  /// Answers an edit that the document refuses.
  func respond(_ request: RequestID?, _ refusal: LiveDocument.Refusal) {
    let (code, message) = refusal.words(sequence: 0)
    respond(request, .problem(code == .tooLarge ? 413 : 409, code, message))
  }

  /// Answers a request with an error: too many requests wait for the document.
  func respondBusy(_ request: RequestID?) {
    respond(request, .busy("too many wait for this note; try again"))
  }

  // MARK: Waiting work

  /// Refuses work because too much waits for the document.
  func refuseAsBusy(_ waiting: WaitingWork, in room: DocumentRoom, _ connection: Connection) {
    if case .page = waiting { pages.end(of: room.id, connection) }
    switch waiting {
    case .join(_, let messageID, _), .page(_, let messageID, _):
      connection.dialect.turnAway(
        connection, .busy, "the document is being read and too many wait for it; try again",
        ref: messageID)
    case .edit(let edit): respondBusy(edit.request)
    case .version(let naming): respondBusy(naming.request)
    case .change(_, let messageID, let submission):
      refuse(
        submission.sequence, .busy, "too many changes wait for this document; send it again",
        of: room.id, ref: messageID, to: connection)
    }
  }

  /// Refuses work that waited for a read of the shared log, which has failed.
  func refuseUnread(_ asking: WaitingWork, in room: DocumentRoom) {
    switch asking {
    case .join(let id, let messageID, _):
      guard let connection = connections[id], connection.isReady else { return }
      connection.dialect.turnAway(
        connection, .unavailable, "the document's log cannot be read now; join again",
        ref: messageID)
    case .edit(let edit):
      respond(
        edit.request, .problem(503, .unavailable, "the note's log cannot be read now; try again"))
    case .page(let id, let messageID, _):
      guard let connection = connections[id], connection.isReady else { return }
      pages.refuse(.unavailable, of: room.id, ref: messageID, to: connection)
    case .change, .version: break  // This work never waits for a read.
    }
  }

  /// Refuses work for a document that was deleted or cannot be used.
  func refuse(
    _ waiting: WaitingWork, in room: DocumentRoom, _ code: ErrorCode, _ message: String
  ) {
    switch waiting {
    case .join(let id, let messageID, _), .page(let id, let messageID, _):
      guard let connection = connections[id] else { return }
      if case .page = waiting { pages.end(of: room.id, connection) }
      // A client that has only rights to folders must not learn which names are unused.
      guard
        code != .unknownDocument
          || connection.verbs(on: .document(room.id, in: FolderPath.none)).contains(.read)
      else { return connection.dialect.turnAwayUnentitled(connection, ref: messageID) }
      connection.dialect.turnAway(connection, code, message, ref: messageID)
    case .edit(let edit): respond(edit.request, refusal(code, message, under: edit.right))
    case .version(let naming):
      respond(naming.request, refusal(code, message, under: naming.right))
    case .change: break  // The change's author joins again, or is notified of the deletion.
    }
  }
}
