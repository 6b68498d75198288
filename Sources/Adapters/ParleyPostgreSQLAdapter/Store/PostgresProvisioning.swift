public import ParleyGatewayPorts
public import ParleyStoreRecords

/// The store in a PostgreSQL database, which a server opens.
public struct PostgresProvisioning: StoreProvisioning {
  private let address: PostgresAddress
  private let isShared: Bool
  private let retention: Retention?

  /// - Parameters:
  ///   - address: The address of the database.
  ///   - isShared: Whether other nodes also use the database.
  ///   - retention: The rule for compacting long logs; `nil` disables compaction.
  public init(_ address: PostgresAddress, isShared: Bool = false, retention: Retention? = nil) {
    self.address = address
    self.isShared = isShared
    self.retention = retention
  }

  /// See ``StoreProvisioning``.
  public func exists() throws -> Bool { try PostgresStore.exists(at: address) }

  /// See ``StoreProvisioning``.
  public func open() throws -> sending any ServerStore {
    let store = try PostgresStore(address, sharing: isShared ? .shared : .alone)
    store.retention = retention
    return store
  }

  /// See ``StoreProvisioning``.
  public func openForReading() throws -> sending any DocumentStore {
    try PostgresStore(address, sharing: .reading)
  }

  /// See ``StoreProvisioning``.
  public func openIndex() throws -> any SearchIndex { try PostgresSearchIndex(address) }
}

/// Housekeeping of the store, and its state.
extension PostgresStore: RepairableStore {
  private var folding: SnapshotBuilder<PostgresDatabase> { SnapshotBuilder(store: database) }

  /// Whether a database contains a store.
  public static func exists(at address: PostgresAddress) throws(PostgresOpenError) -> Bool {
    let connection = try PostgresConnection.opened(
      address, application: "parley", answerMilliseconds: 5_000)
    do throws(PostgresFailure) {
      return try PostgresSchema.readFormat(connection) != nil
    } catch {
      throw PostgresSchema.openError(error, address)
    }
  }

  /// See ``ServerStore``.
  public var state: StoreState { database.link.state }

  /// Connects to a database and returns the durability of its commits.
  public static func state(of address: PostgresAddress) throws(PostgresOpenError) -> StoreState {
    let connection = try PostgresConnection.opened(
      address, application: "parley doctor", answerMilliseconds: 5_000)
    return StoreState(
      machines: try PostgresDurability.machines(connection, address, writes: true))
  }

  /// Connects to a database and returns its maximum number of connections.
  public static func connectionsMax(of address: PostgresAddress) throws(PostgresOpenError) -> Int {
    let connection = try PostgresConnection.opened(
      address, application: "parley doctor", answerMilliseconds: 5_000)
    do throws(PostgresFailure) {
      let found = try connection.run([
        PostgresCommand("SELECT current_setting('max_connections')::bigint")
      ])
      guard let row = found.first?.first else { throw .lost("the server sent no result") }
      return row.integer(0)
    } catch {
      throw PostgresSchema.openError(error, address)
    }
  }

  /// See ``ServerStore``.
  public func interruption() -> @Sendable () -> Void {
    let isGivenUp = database.link.isGivenUp
    return { isGivenUp.set() }
  }

  /// See ``ServerStore``.
  public func settle() -> CloseWarning? {
    database.link.leave()
    return nil
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
