import ParleyGatewayPorts
import Glibc
import ParleyHashing
import ParleyStoreRecords
import Synchronization

/// The connection of a store, which reconnects when it is lost, and the statements to be sent next.
struct PostgresLink: ~Copyable {
  /// The id of this store's row in the table `writers`.
  let writer: String

  private let address: PostgresAddress
  private let sharing: PostgresStore.Sharing
  private let timeouts: StoreTimeouts
  /// Whether the tables may be unfinished, since a move is still filling them.
  private let isUnfinished: Bool
  /// Set when callers no longer wait for the database.
  let isGivenUp = Flag()
  private var connection: PostgresConnection?
  /// The previous connection, while a commit on it waits for a standby. New commits would wait
  /// behind it, and each that is given up would remain on the server.
  private var former: PostgresConnection?
  private var pending: [PostgresCommand] = []

  /// The failure of the connection or of a statement in the current transaction.
  private(set) var failure: PostgresFailure?
  /// Whether the commit had been sent when the failure occurred.
  private(set) var wasCommitting = false
  /// The database's durability at the last connect, and the number of reconnections.
  private(set) var state = StoreState()
  /// The timeline of the connected database, which changes when a standby is promoted.
  private(set) var life = 0
  /// The time of the next attempt to connect, after one has failed. Until then, requests fail.
  private var nextAttempt: Int64?
  /// The time of the next check of the server's settings.
  private var nextCheck: Int64 = 0

  init(
    _ address: PostgresAddress, sharing: PostgresStore.Sharing, timeouts: StoreTimeouts,
    isUnfinished: Bool = false
  ) throws(PostgresOpenError) {
    self.isUnfinished = isUnfinished
    self.address = address
    self.sharing = sharing
    self.timeouts = timeouts
    writer = randomBytes(count: 12).hexadecimal
    let connection = try Self.open(
      address, sharing, timeouts, &state.machines, &life, isUnfinished: isUnfinished)
    do throws(PostgresFailure) {
      if sharing != .reading {
        _ = try connection.run([
          PostgresCommand("DELETE FROM parley.writers WHERE seen < now() - interval '1 day'"),
          PostgresCommand("INSERT INTO parley.writers (id, batch) VALUES ($1, 0)", [writer]),
        ])
      }
    } catch {
      throw PostgresSchema.openError(error, address)
    }
    self.connection = connection
    nextCheck = monotonicMilliseconds() + timeouts.looking
  }

  // MARK: Statements

  mutating func add(_ command: PostgresCommand) { pending.append(command) }

  mutating func query(_ command: PostgresCommand) throws(StoreError) -> PostgresResult {
    let results = try queries([command])
    return results[0]
  }

  /// Runs pending statements and these in one pipeline, and returns the results of these.
  mutating func queries(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    pending += commands
    do throws(PostgresFailure) {
      let results = try send()
      guard results.count >= commands.count else { throw .lost("the server sent no result") }
      return Array(results.suffix(commands.count))
    } catch {
      failure = failure ?? error
      throw error.storeError
    }
  }

  /// Runs statements as a separate transaction.
  mutating func run(_ commands: [PostgresCommand]) throws(PostgresFailure) -> [PostgresResult] {
    guard let connection else { throw .unreachable("there is no connection") }
    return try connection.run(commands)
  }

  mutating func commit() throws(StoreError) {
    wasCommitting = true
    pending.append(PostgresCommand("COMMIT"))
    do throws(PostgresFailure) {
      _ = try send()
      wasCommitting = false
    } catch {
      failure = failure ?? error
      throw error.storeError
    }
  }

  private mutating func send() throws(PostgresFailure) -> [PostgresResult] {
    if let failure { throw failure }
    guard let connection else { throw .unreachable("there is no connection") }
    defer { pending = [] }
    return try connection.run(pending)
  }

  /// Records the failure of a statement that ran outside of the pending ones.
  mutating func note(_ failure: PostgresFailure) { self.failure = failure }

  /// Ends a transaction without a commit.
  mutating func abandon() {
    pending = []
    failure = nil
    guard let connection else { return }
    if connection.isBroken {
      releaseConnection()
    } else if connection.isInTransaction {
      do throws(PostgresFailure) {
        _ = try connection.run([PostgresCommand("ROLLBACK")])
      } catch {
        self.connection = nil
      }
    }
  }

  // MARK: Connecting

  /// Ensures that there is a connection. Returns whether it is a new one.
  ///
  /// Connecting is retried for some time, with random delays, so that nodes do not overload a
  /// database that has restarted. Delays grow with the duration of the outage, so the additional
  /// delay for a caller is proportional to it. After that time, requests fail at once, except for
  /// one attempt every second or two. Once given up, each call makes one attempt.
  ///
  /// - Parameter isEndless: Whether to retry as long as the error may be temporary.
  @discardableResult
  mutating func connect(isEndless: Bool = false) throws(PostgresFailure) -> Bool {
    wasCommitting = false
    failure = nil
    if let connection, !connection.isBroken, keepsItsPromise(connection) { return false }
    releaseConnection()
    if !isEndless, let nextAttempt, monotonicMilliseconds() < nextAttempt {
      throw .unreachable("it was not there a moment ago")
    }
    let began = monotonicMilliseconds()
    let deadline = nextAttempt == nil ? began + timeouts.reconnecting : 0
    while true {
      let pause = min(max((monotonicMilliseconds() - began) / 8, 20), 1_000)
      do throws(PostgresOpenError) {
        try awaitFormer()
        connection = try Self.open(
          address, sharing, timeouts, &state.machines, &life, isUnfinished: isUnfinished,
          isFirst: false)
        try bringToStandby()
        nextAttempt = nil
        nextCheck = monotonicMilliseconds() + timeouts.looking
        state.reconnections += 1
        return true
      } catch {
        guard Self.mayPass(error), !isGivenUp.isSet,
          isEndless || monotonicMilliseconds() + pause < deadline
        else {
          nextAttempt = monotonicMilliseconds() + 1_000 + Int64.random(in: 0...1_000)
          throw .unreachable(error.description)
        }
      }
      Self.wait(Int64.random(in: pause / 2...pause))
    }
  }

  /// Whether the server's settings still make acknowledged commits durable, checked periodically
  /// since they may change. Updates the number of machines.
  private mutating func keepsItsPromise(_ connection: PostgresConnection) -> Bool {
    guard sharing != .reading, monotonicMilliseconds() >= nextCheck else { return true }
    do throws(PostgresOpenError) {
      state.machines = try PostgresDurability.machines(connection, address, writes: true)
      nextCheck = monotonicMilliseconds() + timeouts.looking
      return true
    } catch {
      // The next attempt to connect reports the reason.
      return false
    }
  }

  /// Waits until the standby has all commits that the database shows.
  ///
  /// If a database crashes while a commit waits for the standby, it shows the commit after the
  /// restart, although only its own disk contains it. Reporting this commit, on any connection,
  /// would acknowledge what a promotion loses. A new commit waits for the standby, and therefore
  /// for all earlier ones.
  private mutating func bringToStandby() throws(PostgresOpenError) {
    guard state.machines > 1, let connection else { return }
    do throws(PostgresFailure) {
      if sharing == .reading {
        // A read-only store writes to no table. A standby itself needs no wait.
        _ = try connection.run([
          PostgresCommand(
            """
            SELECT CASE WHEN pg_is_in_recovery() THEN '0/0'::pg_lsn
              ELSE pg_logical_emit_message(true, 'parley', '') END
            """)
        ])
        return
      }
      _ = try connection.run([
        PostgresCommand(
          """
          INSERT INTO parley.writers (id, batch) VALUES ($1, 0)
          ON CONFLICT (id) DO UPDATE SET seen = now()
          """, [writer])
      ])
    } catch {
      releaseConnection()
      throw PostgresSchema.openError(error, address)
    }
  }

  /// Closes the connection, or sets it aside if a commit on it may be waiting for a standby.
  private mutating func releaseConnection() {
    if let connection, connection.isSilent, state.machines > 1 {
      former = connection
    }
    connection = nil
  }

  /// Throws if a commit of the former connection may still be waiting for a standby.
  private mutating func awaitFormer() throws(PostgresOpenError) {
    guard let former else { return }
    if former.isOver(within: isGivenUp.isSet ? 0 : min(timeouts.answer, 1_000)) {
      self.former = nil
      return
    }
    // The connection may be silent for another reason, such as a broken line: ask the server.
    let asking = try PostgresConnection.opened(
      address, application: "parley", answerMilliseconds: timeouts.answer)
    let found = try? asking.run([
      PostgresCommand(
        "SELECT 1::bigint FROM pg_catalog.pg_stat_activity WHERE pid = $1::int AND wait_event = 'SyncRep'",
        [former.processID])
    ])
    guard found?.first?.first == nil else {
      throw .unreachable(
        address: address.description, reason: "a commit waits there for the standby")
    }
    self.former = nil
  }

  /// Returns the number of this store's newest commit. Waits for a commit that is still running.
  mutating func settle() throws(PostgresFailure) -> Int {
    // The row may be missing: the database may have lost its newest commits, or the row was deleted
    // after long inactivity and the running commit restores it.
    let found = try run([
      PostgresCommand(
        "INSERT INTO parley.writers (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO NOTHING",
        [writer]),
      PostgresCommand("SELECT batch FROM parley.writers WHERE id = $1 FOR UPDATE", [writer]),
    ])
    return found.last?.first?.integer(0) ?? 0
  }

  /// Deletes this store's row, when the store is closed.
  mutating func leave() {
    guard sharing != .reading else { return }
    _ = try? run([PostgresCommand("DELETE FROM parley.writers WHERE id = $1", [writer])])
    connection = nil
    former = nil
  }

  private static func mayPass(_ error: PostgresOpenError) -> Bool {
    switch error {
    case .unreachable, .inUse, .readOnly, .failed: true
    case .malformedAddress, .noStore, .newer, .older, .unreleased, .unsafe, .pooled,
      .unsupportedServer, .inUseBy, .unfinished, .notEmpty:
      false
    }
  }

  /// Connects, and verifies the database's settings and tables.
  private static func open(
    _ address: PostgresAddress, _ sharing: PostgresStore.Sharing, _ timeouts: StoreTimeouts,
    _ machines: inout Int, _ life: inout Int, isUnfinished: Bool, isFirst: Bool = true
  ) throws(PostgresOpenError) -> PostgresConnection {
    let connection = try PostgresConnection.opened(
      address, application: sharing == .reading ? "parley reading" : "parley",
      answerMilliseconds: timeouts.answer)
    machines = try PostgresDurability.machines(connection, address, writes: sharing != .reading)
    do throws(PostgresFailure) {
      try configure(connection, sharing, timeouts)
    } catch {
      throw PostgresSchema.openError(error, address)
    }
    life = PostgresDurability.life(connection)
    guard sharing != .reading else {
      try PostgresSchema.verify(connection, address: address, isUnfinished: isUnfinished)
      return connection
    }
    try hold(connection, address, sharing, timeouts)
    // An existing database that has lost its tables must not be treated as new.
    if isFirst {
      try PostgresSchema.prepare(connection, address: address)
    } else {
      try PostgresSchema.verify(connection, address: address)
    }
    return connection
  }

  private static func configure(
    _ connection: PostgresConnection, _ sharing: PostgresStore.Sharing, _ timeouts: StoreTimeouts
  ) throws(PostgresFailure) {
    var settings = [
      // A process that stops while it holds locks loses them soon. A slow one retries its
      // transaction.
      (
        "idle_in_transaction_session_timeout",
        String(sharing == .shared ? timeouts.holding : timeouts.answer)
      ),
      ("statement_timeout", "0"), ("lock_timeout", "0"),
      ("default_transaction_isolation", "read committed"),
      ("search_path", "pg_catalog, parley"),
      // Every query has an index, and compiling a statement takes longer than running it.
      ("enable_seqscan", "off"), ("jit", "off"),
      // Release locks of machines that vanish. The server ignores this for Unix domain sockets.
      ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"),
      ("tcp_keepalives_count", "3"),
      ("tcp_user_timeout", "15000"),
    ]
    if connection.serverVersion >= 140_000 {
      // A commit that waits for a standby must continue even if this process has ended.
      settings += [("client_connection_check_interval", "0"), ("idle_session_timeout", "0")]
    }
    _ = try connection.run(
      settings.map { PostgresCommand("SELECT set_config('\($0.0)', '\($0.1)', false)") }
        // Fix the setting for this session: later changes of the configuration must not affect it.
        + [
          PostgresCommand(
            "SELECT set_config('synchronous_commit', current_setting('synchronous_commit'), false)")
        ])
  }

  /// Takes the advisory lock that excludes stores which do not share the database.
  private static func hold(
    _ connection: PostgresConnection, _ address: PostgresAddress, _ sharing: PostgresStore.Sharing,
    _ timeouts: StoreTimeouts
  ) throws(PostgresOpenError) {
    let function =
      sharing == .shared ? "pg_try_advisory_lock_shared" : "pg_try_advisory_lock"
    let deadline = monotonicMilliseconds() + timeouts.opening
    var pause: Int64 = 2
    while true {
      do throws(PostgresFailure) {
        let held = try connection.run([
          PostgresCommand(
            "SELECT \(function)(\(PostgresSchema.lockSpace), \(PostgresSchema.Lock.store.rawValue))"
          )
        ])
        if held.first?.first?.bool(0) == true { return }
      } catch {
        throw PostgresSchema.openError(error, address)
      }
      // The server may not have noticed yet that the previous process has ended.
      guard monotonicMilliseconds() < deadline else { throw .inUse(address: address.description) }
      wait(pause)
      pause = min(pause * 2, 100)
    }
  }

  private static func wait(_ milliseconds: Int64) { poll(nil, 0, Int32(clamping: milliseconds)) }
}

/// A flag that one thread sets and others read.
final class Flag: Sendable {
  private let state = Atomic(false)

  var isSet: Bool { state.load(ordering: .relaxed) }

  func set() { state.store(true, ordering: .relaxed) }
}
