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
