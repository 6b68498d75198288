import ParleyGatewayPorts
import SocketMessages

extension DocumentRoom {
  /// The right by which a waiting client may create the document; `nil` if no client may.
  func rightToMake(on board: Switchboard) -> StoreRight? {
    for case .join(let id, _, let joining) in waiting.all {
      guard let connection = board.connections[id],
        joining.creates
          || connection.dialect.traits.createsDocuments
            && board.settings.whalerCreatesDocuments,
        let right = StoreRight(making: self.id, in: .none, verbs: connection.verbs(on:))
      else { continue }
      return right
    }
    return nil
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
