import ParleyGatewayPorts
import SocketMessages

extension DocumentRoom {
  /// The right by which a waiting client may create the document; `nil` if no client may.
  func rightToMake(on board: Switchboard) -> StoreRight? {
    for case .join(let id, _, _) in waiting.all {
      guard let connection = board.connections[id], connection.dialect.traits.createsDocuments,
        let right = StoreRight(making: self.id, in: .none, verbs: connection.verbs(on:))
      else { continue }
      return right
    }
    return nil
  }

  /// Replaces the waiting changes of a leaving connection by server edits if its client cannot
  /// resend them.
  ///
  /// - Complexity: O(*n*) waiting work items.
  func adoptChanges(of connection: Connection) {
    // The byte count of an edit equals the byte count of its change.
    waiting.replace { work in work.edit(insteadOf: connection).map { .edit($0) } }
  }
}

extension WaitingWork {
  /// Returns the edit that replaces a change of the connection; `nil` if its client can resend it.
  func edit(insteadOf connection: Connection) -> ServerEdit? {
    guard case .change(connection.id, _, let submission) = self, !submission.isResendable,
      let identity = connection.identity
    else { return nil }
    return ServerEdit(
      grant: .bearer(identity),
      content: .change(submission.operation, revision: submission.revision),
      author: submission.author)
  }

  /// Returns the edit that replaces a change whose connection was closed by an earlier message;
  /// otherwise the work unchanged.
  func adopted(on board: Switchboard) -> Self {
    guard case .change(let id, _, _) = self, let connection = board.connections[id],
      !connection.isReady
    else { return self }
    return edit(insteadOf: connection).map { .edit($0) } ?? self
  }
}

extension DocumentJoining {
  /// Whether the join must wait for a read of the shared log: the client may have seen newer
  /// entries at another node, or have a change in transit through another node.
  func needsNews(of live: LiveDocument, for connection: Connection) -> Bool {
    guard live.isShared, !isFresh else { return false }
    return resume != nil || unanswered != nil || connection.isReturning
  }
}

extension ServerEdit {
  /// Whether the author may apply the edit now, by the document's current folder.
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
}

extension HistoryPageRequest {
  /// Whether the page must wait for a read of the shared log: the reader has seen newer entries at
  /// another node.
  func needsNews(of live: LiveDocument) -> Bool {
    live.isShared && !isFresh && resume.epoch == live.epoch
      && resume.revision > live.durableRevision
  }
}
