import ParleyGatewayPorts
import Glibc
import ParleyHashing
import ParleyStoreRecords
import Synchronization

/// A store's connection, which reconnects when it is lost, with the statements that wait to be
/// sent.
struct PostgresLink: ~Copyable {
  /// The name of this store's row among the writers.
  let writer: String

  private let address: PostgresAddress
  private let sharing: PostgresStore.Sharing
  private let timeouts: StoreTimeouts
  /// Whether the tables may be such as a move is still filling.
  private let isUnfinished: Bool
  /// Set when no caller waits for the database any longer.
  let isGivenUp = Flag()
  private var connection: PostgresConnection?
  /// The connection before, while a commit on it waits for a standby: others would wait behind it, and stay on
  /// the server one by one when they are given up.
  private var former: PostgresConnection?
  private var pending: [PostgresCommand] = []

  /// The failure of the connection, or of the statement, in the transaction under way.
  private(set) var failure: PostgresFailure?
  /// Whether the commit had been sent when it happened.
  private(set) var wasCommitting = false
  /// The database's promise at the last connect, and the number of reconnects.
  private(set) var state = StoreState()
  /// The life of the database that is connected to: another one once a standby has taken its place.
  private(set) var life = 0
  /// Whether the database is known to be away: requests fail at once until it is time to try again.
  private var nextAttempt: Int64?
  /// The time of the next look at the server's settings.
  private var nextLook: Int64 = 0

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
    nextLook = monotonicMilliseconds() + timeouts.looking
  }

  // MARK: Statements

  mutating func add(_ command: PostgresCommand) { pending.append(command) }

  mutating func query(_ command: PostgresCommand) throws(StoreError) -> PostgresResult {
    let results = try queries([command])
    return results[0]
  }

  /// Runs statements in one pipeline with those that wait, and returns what each gave.
  mutating func queries(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    pending += commands
    do throws(PostgresFailure) {
      let results = try send()
      guard results.count >= commands.count else { throw .lost("it gave no answer") }
      return Array(results.suffix(commands.count))
    } catch {
      failure = failure ?? error
      throw error.storeError
    }
  }

  /// Runs statements as a transaction of their own.
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

  /// Records the failure of a statement that ran by itself.
  mutating func note(_ failure: PostgresFailure) { self.failure = failure }

  /// Ends a transaction without a commit.
  mutating func abandon() {
    pending = []
    failure = nil
    guard let connection else { return }
    if connection.isBroken {
      letGo()
    } else if connection.isInTransaction {
      do throws(PostgresFailure) {
        _ = try connection.run([PostgresCommand("ROLLBACK")])
      } catch {
        self.connection = nil
      }
    }
  }

  // MARK: Connecting

  /// Makes sure that there is a connection; whether it is another one than before.
  ///
  /// It retries for some time, with pauses that differ between nodes, so that a database that has
  /// restarted is not overrun. They grow with the time that it has been away, so a caller waits
  /// little longer than the database takes. After that, requests fail at once, and one in a while
  /// retries; once given up, each tries once.
  ///
  /// - Parameter isEndless: Whether it is tried for as long as it may succeed.
  @discardableResult
  mutating func connect(isEndless: Bool = false) throws(PostgresFailure) -> Bool {
    wasCommitting = false
    failure = nil
    if let connection, !connection.isBroken, keepsItsPromise(connection) { return false }
    letGo()
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
        nextLook = monotonicMilliseconds() + timeouts.looking
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

  /// Whether the server still keeps what it acknowledges, which is looked at now and then: it may have been set
  /// otherwise. On how many machines it does is noted.
  private mutating func keepsItsPromise(_ connection: PostgresConnection) -> Bool {
    guard sharing != .reading, monotonicMilliseconds() >= nextLook else { return true }
    do throws(PostgresOpenError) {
      state.machines = try PostgresDurability.machines(connection, address, writes: true)
      nextLook = monotonicMilliseconds() + timeouts.looking
      return true
    } catch {
      // Reconnecting reports the reason.
      return false
    }
  }

  /// Waits until the standby has all that the database shows.
  ///
  /// A database that crashed while a commit waited for the standby shows it after the restart,
  /// although only its own disk has it: to report it, on any connection, would acknowledge what a
  /// promotion loses. What is committed from now on waits for the standby, and with it for all that
  /// was written before.
  private mutating func bringToStandby() throws(PostgresOpenError) {
    guard state.machines > 1, let connection else { return }
    do throws(PostgresFailure) {
      if sharing == .reading {
        // It writes to no table. On a standby there is nothing that it could lack.
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
      letGo()
      throw PostgresSchema.openError(error, address)
    }
  }

  /// Closes the connection, or keeps it aside where a commit on it may wait for a standby.
  private mutating func letGo() {
    if let connection, connection.isSilent, state.machines > 1 {
      former = connection
    }
    connection = nil
  }

  /// Checks that no commit of the former connection still waits for a standby.
  private mutating func awaitFormer() throws(PostgresOpenError) {
    guard let former else { return }
    if former.isOver(within: isGivenUp.isSet ? 0 : min(timeouts.answer, 1_000)) {
      self.former = nil
      return
    }
    // It may be silent for another reason, such as a line that has gone: the server knows.
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

  /// The number of this store's newest commit that has happened. Waits for one that is under way.
  mutating func settle() throws(PostgresFailure) -> Int {
    // The row is not there if the database lost its tail, or if it was taken away in a long time of
    // doing nothing and the commit under way is the one to bring it back.
    let found = try run([
      PostgresCommand(
        "INSERT INTO parley.writers (id, batch) VALUES ($1, 0) ON CONFLICT (id) DO NOTHING",
        [writer]),
      PostgresCommand("SELECT batch FROM parley.writers WHERE id = $1 FOR UPDATE", [writer]),
    ])
    return found.last?.first?.integer(0) ?? 0
  }

  /// Removes this store's row, at the end of work.
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

  /// Connects, and sees that the database is one to rely on.
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
    // A database that was there and has lost its tables is not a new one.
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
      // A process that stops while it holds locks loses them soon. One that is only slow retries
      // its transaction.
      (
        "idle_in_transaction_session_timeout",
        String(sharing == .shared ? timeouts.holding : timeouts.answer)
      ),
      ("statement_timeout", "0"), ("lock_timeout", "0"),
      ("default_transaction_isolation", "read committed"),
      ("search_path", "pg_catalog, parley"),
      // All that is asked for has an index; compiling a statement takes longer than running it.
      ("enable_seqscan", "off"), ("jit", "off"),
      // A machine that is gone without a word keeps its locks for no longer. Over a socket of the same
      // machine's the server ignores them.
      ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"),
      ("tcp_keepalives_count", "3"),
      ("tcp_user_timeout", "15000"),
    ]
    if connection.serverVersion >= 140_000 {
      // A commit that waits for a standby is not to be given up because this end has vanished.
      settings += [("client_connection_check_interval", "0"), ("idle_session_timeout", "0")]
    }
    _ = try connection.run(
      settings.map { PostgresCommand("SELECT set_config('\($0.0)', '\($0.1)', false)") }
        // A promise at the start of a session holds to its end, whatever is set meanwhile.
        + [
          PostgresCommand(
            "SELECT set_config('synchronous_commit', current_setting('synchronous_commit'), false)")
        ])
  }

  /// Takes the lock that keeps two stores apart which do not expect each other.
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
      // The server may not have noticed yet that the one before is gone.
      guard monotonicMilliseconds() < deadline else { throw .inUse(address: address.description) }
      wait(pause)
      pause = min(pause * 2, 100)
    }
  }

  private static func wait(_ milliseconds: Int64) { poll(nil, 0, Int32(clamping: milliseconds)) }
}

/// A flag that one thread sets and another one sees.
final class Flag: Sendable {
  private let state = Atomic(false)

  var isSet: Bool { state.load(ordering: .relaxed) }

  func set() { state.store(true, ordering: .relaxed) }
}
