import SocketMessages

extension DocumentRoom {
  /// The number of those who wait, bounded by `GatewaySettings.waitingMax`.
  var waitingCount: Int { waiting.count + asking.count + (logRead?.asking.count ?? 0) }

  /// The waiters for a read of the log.
  var allAsking: [Waiting] { (logRead?.asking ?? []) + asking }

  /// Takes out those who wait for a read of the log.
  func takeAsking() -> [Waiting] {
    defer {
      asking = []
      logRead = nil
    }
    return allAsking
  }
}

extension DocumentJoining {
  /// Whether it has to wait until a shared log has been read: its client may have seen more of it at
  /// another node, or have a change on its way through one.
  func needsNews(of live: LiveDocument, for connection: Connection) -> Bool {
    guard live.isShared, !isFresh else { return false }
    return resume != nil || unanswered != nil || connection.isReturning
  }
}

extension DocumentRoom.ServerEdit {
  /// Whether it has to wait until a shared log has been read: its author knows of another head.
  func needsNews(of live: LiveDocument) -> Bool {
    guard live.isShared, !isFresh else { return false }
    if let expected, expected != live.headRevision { return true }
    return content.revision ?? 0 > live.durableRevision
  }
}

extension HistoryPageRequest {
  /// Whether it has to wait until a shared log has been read: its reader knows of more of it, from another node.
  func needsNews(of live: LiveDocument) -> Bool {
    live.isShared && !isFresh && resume.epoch == live.epoch
      && resume.revision > live.durableRevision
  }
}
