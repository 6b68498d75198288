import ParleyGatewayPorts
import SocketMessages

extension DocumentRoom {
  /// The right of a waiting client to make the document by joining it; `nil` if none of them has it.
  func rightToMake(on board: Switchboard) -> StoreRight? {
    for case .join(let id, _, _) in waiting.all {
      guard let connection = board.connections[id], connection.dialect.traits.createsDocuments,
        let right = StoreRight(making: self.id, in: .none, verbs: connection.verbs(on:))
      else { continue }
      return right
    }
    return nil
  }

  /// Turns the waiting changes of a connection that leaves into edits, if its client cannot send them
  /// again: all of them had arrived.
  ///
  /// - Complexity: O(*n*) waiting.
  func adoptChanges(of connection: Connection) {
    // An edit counts as many bytes as its change.
    waiting.replace { work in work.edit(insteadOf: connection).map { .edit($0) } }
  }
}

extension WaitingWork {
  /// The edit that replaces a connection's change after it has left, if its client cannot send it again.
  func edit(insteadOf connection: Connection) -> ServerEdit? {
    guard case .change(connection.id, _, let submission) = self, !submission.isResendable,
      let identity = connection.identity
    else { return nil }
    return ServerEdit(
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

extension ServerEdit {
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
}

extension HistoryPageRequest {
  /// Whether it has to wait until a shared log has been read: its reader knows newer entries, from another
  /// node.
  func needsNews(of live: LiveDocument) -> Bool {
    live.isShared && !isFresh && resume.epoch == live.epoch
      && resume.revision > live.durableRevision
  }
}
