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

  /// The right of a waiting client to make the document by joining it; `nil` if none of them has it.
  func rightToMake(on board: Switchboard) -> StoreRight? {
    for case .join(let id, _, _) in waiting {
      guard let connection = board.connections[id], connection.dialect.traits.createsDocuments,
        let right = StoreRight(making: self.id, in: .none, verbs: connection.verbs(on:))
      else { continue }
      return right
    }
    return nil
  }

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
      grant: .bearer(identity),
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
  func isGranted(on live: LiveDocument, _ owner: (any DocumentsOwner)?) -> Bool {
    switch grant {
    case .bearer(let identity):
      let verbs = owner?.current(identity)?
        .verbs(onNote: live.id, in: live.folder, madeAt: live.createdAt)
      return verbs?.isSuperset(of: [.read, .write]) ?? false
    case .request(let right):
      return right.condition?.rights.cover(live.folder, madeAt: live.createdAt) ?? true
    }
  }

  /// The right of its request; `nil` without one.
  var right: StoreRight? { if case .request(let right) = grant { right } else { nil } }

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
