public import ParleyGatewayPorts
import Glibc
public import ParleyStoreRecords

/// The source or target of a move: a database that no other process uses.
///
/// Its connection has the exclusive lock of a store. If the connection is lost, the move fails.
public final class PostgresMove: UnfinishedStore {
  /// The address of the database.
  public let address: PostgresAddress

  private let connection: PostgresConnection
  private let isTarget: Bool

  /// The maximum milliseconds until a reply; counting a table's rows takes longest.
  private static let answerMilliseconds: Int64 = 600_000
  /// The milliseconds in which the server should notice that a gateway has ended.
  private static let patienceMilliseconds = 2_000

  /// Opens a store as the source of a move. The store is not changed.
  public init(from address: PostgresAddress) throws(PostgresOpenError) {
    self.address = address
    isTarget = false
    connection = try Self.connect(address)
    _ = try PostgresDurability.machines(connection, address, writes: false)
    try Self.hold(connection, address)
    try PostgresSchema.verify(connection, address: address)
  }

  /// Creates a store that is marked as unfinished. Replaces an unfinished or empty store; throws
  /// `notEmpty` for any other.
  public init(to address: PostgresAddress) throws(PostgresOpenError) {
    self.address = address
    isTarget = true
    connection = try Self.connect(address)
    _ = try PostgresDurability.machines(connection, address, writes: true)
    try Self.hold(connection, address)
    do throws(PostgresFailure) {
      guard try Self.isDisposable(connection) else { throw .refused(state: Self.notEmpty) }
      try PostgresSchema.makeUnfinished(connection)
      // The last commit is synchronous, so it waits until all earlier commits are durable.
      _ = try connection.run([PostgresCommand("SET synchronous_commit = off")])
    } catch {
      if case .refused(Self.notEmpty) = error { throw .notEmpty(address: address.description) }
      throw PostgresSchema.openError(error, address)
    }
  }

  private static let notEmpty = "not empty"

  private static func connect(
    _ address: PostgresAddress
  ) throws(PostgresOpenError) -> PostgresConnection {
    let connection = try PostgresConnection.opened(
      address, application: "parley migrate", answerMilliseconds: answerMilliseconds)
    var settings = [
      ("idle_in_transaction_session_timeout", "0"), ("statement_timeout", "0"),
      ("lock_timeout", "0"), ("search_path", "pg_catalog, parley"),
      ("client_min_messages", "error"),
      // Reads must use the key's index even before the table has statistics.
      ("enable_seqscan", "off"), ("enable_bitmapscan", "off"), ("jit", "off"),
    ]
    if connection.serverVersion >= 140_000 { settings.append(("idle_session_timeout", "0")) }
    do throws(PostgresFailure) {
      _ = try connection.run(
        settings.map { PostgresCommand("SELECT set_config('\($0.0)', '\($0.1)', false)") })
    } catch {
      throw PostgresSchema.openError(error, address)
    }
    return connection
  }

  /// Takes the exclusive lock of a store; throws `inUseBy` with the processes that hold it.
  private static func hold(
    _ connection: PostgresConnection, _ address: PostgresAddress
  ) throws(PostgresOpenError) {
    let (space, lock) = (PostgresSchema.lockSpace, PostgresSchema.Lock.store.rawValue)
    do throws(PostgresFailure) {
      for _ in stride(from: 0, to: patienceMilliseconds, by: 100) {
        let held = try connection.run([
          PostgresCommand("SELECT pg_try_advisory_lock(\(space), \(lock))")
        ])
        if held.first?.first?.bool(0) == true { return }
        poll(nil, 0, 100)
      }
      let holders = try connection.run([
        PostgresCommand(
          """
          SELECT coalesce(nullif(a.application_name, ''), 'a program') || ' at '
            || coalesce(host(a.client_addr), 'the database''s machine')
            || ' (PostgreSQL''s process ' || l.pid || ')'
          FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
          WHERE l.locktype = 'advisory' AND l.granted AND l.classid = \(space) AND l.objid = \(lock)
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          ORDER BY l.pid LIMIT 4
          """)
      ])
      throw PostgresFailure.refused(
        state: holders.first?.rows { $0.text(0) }.joined(separator: ", ") ?? "")
    } catch {
      // Codes of PostgreSQL have five characters.
      if case .refused(let holders) = error, holders.utf8.count != 5 {
        throw .inUseBy(address: address.description, holders: holders)
      }
      throw PostgresSchema.openError(error, address)
    }
  }

  /// Whether there is no store, or one that is unfinished or empty.
  private static func isDisposable(
    _ connection: PostgresConnection
  ) throws(PostgresFailure) -> Bool {
    guard let format = try PostgresSchema.readFormat(connection),
      format.version != UnfinishedFormat.number
    else { return true }
    // An empty store also has the epoch of rooms, and numbers that were assigned to deleted rows.
    let names =
      StoreTable.all.filter { $0.name != "room_epoch" && $0 != .sequences }.map(\.name)
      + ["revocations"]
    for name in names {
      let found = try connection.run([
        PostgresCommand("SELECT to_regclass('parley.\(name)') IS NOT NULL")
      ])
      guard found.first?.first?.bool(0) == true else { continue }
      let rows = try connection.run([PostgresCommand("SELECT 1::int8 FROM parley.\(name) LIMIT 1")])
      if rows.first?.count != 0 { return false }
    }
    return true
  }

  /// See ``MovableStore``.
  public func check() throws -> StoreFindings {
    try PostgresStore(verifying: address, isUnfinished: isTarget).check()
  }

  // MARK: Reading

  /// See ``MovableStore``.
  public func count(of table: StoreTable) throws(StoreError) -> Int {
    guard table != .sequences else { return StoreTable.numbered.count }
    let found = try run([PostgresCommand("SELECT count(*) FROM parley.\(table.name)")])
    return found.first?.first?.integer(0) ?? 0
  }

  /// See ``MovableStore``.
  public func read(
    _ table: StoreTable, _ body: ([[StoreCell]]) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard table != .sequences else { return try body(sequences()) }
    let first = PostgresMoveSQL.page(of: table, isFirst: true)
    let next = PostgresMoveSQL.page(of: table, isFirst: false)
    var place: [StoreCell]?
    while true {
      let command =
        place.map { place in
          PostgresCommand(next, zip(table.columns, place).map { Self.value($1, $0.kind) })
        } ?? PostgresCommand(first)
      let rows =
        try run([command]).first?.rows { row in
          table.columns.indices.map { Self.cell(row, Int32($0), table.columns[$0]) }
        } ?? []
      guard let last = rows.last else { return }
      try body(rows)
      place = Array(last.prefix(table.keyCount))
    }
  }

  private func sequences() throws(StoreError) -> [[StoreCell]] {
    try StoreTable.numbered.map { name throws(StoreError) in
      let found = try run([
        PostgresCommand(
          "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('parley.\(name)', 'number')), 0)"
        )
      ])
      return [.bytes(Array(name.utf8)), .integer(Int64(found.first?.first?.integer(0) ?? 0))]
    }
  }

  private static func cell(
    _ row: PostgresRow, _ place: Int32, _ column: StoreTable.Column
  ) -> StoreCell {
    guard !row.isNull(place) else { return .none }
    return column.kind == .integer
      ? .integer(Int64(bitPattern: row.bits(place))) : .bytes(row.bytes(place))
  }

  // MARK: Writing

  /// See ``UnfinishedStore``.
  public func write(_ rows: [[StoreCell]], to table: StoreTable) throws(StoreError) {
    precondition(isTarget, "a source is only read")
    guard !rows.isEmpty else { return }
    guard table != .sequences else { return try writeSequences(rows) }
    let columns = table.columns.enumerated().map { place, column in
      Self.values(of: rows.lazy.map { $0[place] }, column.kind)
    }
    _ = try run([PostgresCommand(PostgresMoveSQL.insertion(into: table), columns)])
  }

  /// See ``UnfinishedStore``.
  public func finish() throws(StoreError) {
    _ = try run([
      // Numbers in queues must continue to ascend.
      PostgresCommand(
        """
        SELECT setval(pg_get_serial_sequence('parley.outbox', 'number'), max(number))
        FROM parley.outbox HAVING max(number) > 0
        """),
      PostgresCommand("SET synchronous_commit = on"),
    ])
    _ = try run([
      PostgresCommand(
        """
        UPDATE parley.format SET version = \(PostgresSchema.version), oldest = \(PostgresSchema.oldest)
        """)
    ])
    // Best effort: PostgreSQL updates its statistics itself after a while.
    _ = try? run([PostgresCommand("ANALYZE")])
  }

  private func writeSequences(_ rows: [[StoreCell]]) throws(StoreError) {
    for row in rows where row[1].integer > 0 {
      _ = try run([
        PostgresCommand(
          "SELECT setval(pg_get_serial_sequence('parley.\(row[0].text)', 'number'), $1)",
          [row[1].integer])
      ])
    }
  }

  private static func value(_ cell: StoreCell, _ kind: StoreTable.Kind) -> any StoredValue {
    kind == .integer ? cell.integer : Blob(cell.bytes)
  }

  private static func values(
    of cells: some Sequence<StoreCell>, _ kind: StoreTable.Kind
  ) -> any StoredValue {
    guard kind == .integer else {
      return cells.map { cell in
        if case .bytes(let bytes) = cell { Blob(bytes) } else { Blob?.none }
      }
    }
    return cells.map { cell in
      if case .integer(let value) = cell { value } else { Int64?.none }
    }
  }

  // MARK: Revocations

  /// Returns the revocations that nodes have exchanged through the database.
  public func revocations() throws(StoreError) -> [Revocation] {
    let found = try run([
      PostgresCommand("SELECT is_user, name, before FROM parley.revocations ORDER BY number")
    ])
    return found.first?.rows { Revocation(kind: $0.integer(0), $0.text(1), $0.integer(2)) }
      ?? []
  }

  /// Adds revocations. Must be called before ``finish()``.
  public func keep(_ revocations: [Revocation]) throws(StoreError) {
    guard !revocations.isEmpty else { return }
    _ = try run([Revocation.insertion(of: revocations)])
  }

  private func run(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    do throws(PostgresFailure) {
      return try connection.run(commands)
    } catch {
      throw error.storeError
    }
  }
}
