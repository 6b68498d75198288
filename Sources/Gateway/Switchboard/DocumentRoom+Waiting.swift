import GatewayPorts
import SocketMessages

extension DocumentRoom {
  /// The number of waiting requests, bounded by `GatewaySettings.waitingMax`.
  var waitingCount: Int { waiting.count + asking.count + (logRead?.asking.count ?? 0) }

  /// Whether changes or edits are waiting.
  var hasWaitingChanges: Bool {
    waiting.contains { waiting in
      switch waiting {
      case .change, .edit: true
      case .join, .page, .version: false
      }
    }
  }

  /// The requests that wait for a read of the log.
  var allAsking: [Waiting] { (logRead?.asking ?? []) + asking }

  /// Removes and returns the requests that wait for a read of the log.
  func takeAsking() -> [Waiting] {
    defer {
      asking = []
      logRead = nil
    }
    return allAsking
  }
}

extension DocumentRoom.Waiting {
  /// The edit that replaces a connection's change after it has left, if its client cannot send it again.
  func edit(insteadOf connection: Connection) -> DocumentRoom.ServerEdit? {
    guard case .change(connection.id, _, let submission) = self, !submission.isResendable,
      let identity = connection.identity
    else { return nil }
    return DocumentRoom.ServerEdit(
      bearer: identity,
      content: .change(submission.operation, revision: submission.revision),
      author: submission.author)
  }

  /// The edit that replaces a change whose connection was closed because of an earlier message; other work
  /// unchanged.
  func adopted(on board: Switchboard) -> Self {
    guard case .change(let id, _, _) = self, let connection = board.connections[id],
      !connection.isReady
    else { return self }
    return edit(insteadOf: connection).map { .edit($0) } ?? self
  }
}

extension DocumentJoining {
  /// Whether it has to wait until a shared log has been read: its client may have seen a newer log at
  /// another node, or have a change on its way through one.
  func needsNews(of live: LiveDocument, for connection: Connection) -> Bool {
    guard live.isShared, !isFresh else { return false }
    return resume != nil || unanswered != nil || connection.isReturning
  }
}

extension DocumentRoom.ServerEdit {
  /// Whether its author may make it now, by the document's present folder.
  func isGranted(
    on live: LiveDocument, _ board: Switchboard, _ owner: (any DocumentsOwner)?
  ) -> Bool {
    if let bearer {
      let verbs = owner?.current(bearer)?
        .verbs(onNote: live.id, in: live.folder, madeAt: live.createdAt)
      return verbs?.isSuperset(of: [.read, .write]) ?? false
    }
    guard let condition = request.flatMap(board.condition) else { return true }
    return condition.rights.cover(live.folder, madeAt: live.createdAt)
  }

  /// Whether it has to wait until a shared log has been read: its author knows another head.
  func needsNews(of live: LiveDocument) -> Bool {
    guard live.isShared, !isFresh else { return false }
    if let expected, expected != live.headRevision { return true }
    return content.revision ?? 0 > live.durableRevision
  }
}

extension HistoryPageRequest {
  /// Whether it has to wait until a shared log has been read: its reader knows newer entries, from another
  /// node.
  func needsNews(of live: LiveDocument) -> Bool {
    live.isShared && !isFresh && resume.epoch == live.epoch
      && resume.revision > live.durableRevision
  }
}
