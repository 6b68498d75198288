public import ParleyGatewayPorts
public import ParleyStoreRecords

/// Opens the SQLite store at a path for a server.
public struct SQLiteProvisioning: StoreProvisioning {
  private let path: String
  private let retention: Retention?

  /// - Parameters:
  ///   - path: The database file, as for ``SQLiteStore/init(path:)``.
  ///   - retention: The rule for compacting long logs; `nil` disables compaction.
  public init(path: String, retention: Retention? = nil) {
    self.path = path
    self.retention = retention
  }

  /// See ``StoreProvisioning``.
  public func exists() throws -> Bool { try SQLiteStore.exists(at: path) }

  /// See ``StoreProvisioning``.
  public func open() throws -> sending any ServerStore {
    let store = try SQLiteStore(path: path)
    store.retention = retention
    // Ignore a failure: if the disk is full, no change can be stored either, so a copy without the
    // log loses nothing.
    try? store.markRunning()
    return store
  }

  /// See ``StoreProvisioning``.
  public func openForReading() throws -> sending any DocumentStore {
    try SQLiteStore(reading: path)
  }

  /// See ``StoreProvisioning``.
  public func openIndex() throws -> any SearchIndex { try SQLiteSearchIndex(beside: path) }
}

/// Housekeeping of the store, and its state.
extension SQLiteStore: RepairableStore {
  private var folding: SnapshotBuilder<SQLiteDatabase> { SnapshotBuilder(store: database) }

  /// The state of the store: whether its files were moved or replaced.
  public var state: StoreState { StoreState(problem: database.watch?.problem) }

  /// See ``ServerStore``.
  public func settle() -> CloseWarning? {
    do throws(StoreError) {
      // Remove the mark first: a log that cannot be emptied remains, and contains the removal.
      try? unmarkRunning()
      try emptyLog()
      return nil
    } catch {
      let reason = if case .unavailable(let words) = error { words } else { "\(error)" }
      return CloseWarning(
        message: "store closed with its log beside it", reason: reason,
        hint: "copy \(path) and \(path)-wal together; the next start merges them")
    }
  }

  /// See ``ServerStore``.
  public var runsChoresElsewhere: Bool {
    get { database.context.foldsOnSecondConnection }
    set { database.context.foldsOnSecondConnection = newValue }
  }

  /// See ``ServerStore``.
  public func takeChores() -> [StoreChore] {
    folding.takeFoldOrders().map { StoreChore($0.id, $0) }
  }

  /// See ``ServerStore``.
  public func work(on chore: StoreChore) throws(StoreError) -> StoreChore.Result? {
    guard let order = chore.content as? FoldOrder else { return nil }
    return try folding.fold(order).map { StoreChore.Result($0) }
  }

  /// See ``ServerStore``.
  public func keep(_ result: StoreChore.Result) throws(StoreError) {
    if let folded = result.content as? FoldedSnapshots { try folding.keep(folded) }
  }

  /// See ``ServerStore``.
  public func postpone(_ chore: StoreChore) {
    if let order = chore.content as? FoldOrder { database.context.upkeep.postpone(order) }
  }

  /// See ``ServerStore``.
  public var hasFailedChores: Bool { database.context.upkeep.awaitsRetry }

  /// See ``ServerStore``.
  public func retryChores() { database.context.upkeep.retry() }
}
