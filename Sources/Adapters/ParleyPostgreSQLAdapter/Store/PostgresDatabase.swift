package import ParleyGatewayPorts
package import ParleyStoreRecords

/// The database of a store: the connection, transactions, and values cached between transactions.
///
/// Each table has an extension. An instance must be used by one thread at a time.
package final class PostgresDatabase: SQLConnection {
  let sharing: PostgresStore.Sharing
  let timeouts: StoreTimeouts
  var link: PostgresLink
  package let context = StoreContext()

  /// Rows that the current transaction has read or written.
  var known = KnownRows()

  /// Heads of logs as last seen by this store. They may be outdated: each statement that uses one
  /// compares it.
  var heads: [DocumentID: SeenHead] = [:]
  /// Sessions of clients without changes begun since the last deletion of these, counted by note.
  var idleSessions: [DocumentID: Int] = [:]
  /// Whether entries of compacted logs may remain.
  package var hasCompacted = true
  /// The number of the last document that was searched for entries to delete.
  var compactedPlace = 0
  /// Queues that this store sends, as long as its connection lasts.
  var sending: Set<OutboxTarget> = []
  /// Events that became dead letters because a queue was full, since the store was opened.
  var overflowed: [OutboxTarget: Int] = [:]
  /// Events added to each queue since its length was counted; no value before the first count.
  var uncounted: [OutboxTarget: Int] = [:]

  /// The number of a commit whose outcome is unknown.
  private var undecided: Int?
  /// The number of the newest transaction.
  private var batch = 0

  init(_ link: consuming PostgresLink, sharing: PostgresStore.Sharing, timeouts: StoreTimeouts) {
    self.link = link
    self.sharing = sharing
    self.timeouts = timeouts
  }

  package var isShared: Bool { sharing == .shared }

  package var locking: String { known.isWriting ? " FOR UPDATE" : "" }
  package var skippingLocked: String { known.isWriting ? " FOR UPDATE SKIP LOCKED" : "" }

  /// Queues a statement, which is sent with the next query or with the commit.
  package func change(_ sql: String, _ values: any StoredValue...) {
    link.add(PostgresCommand(sql, values))
  }

  package func changedRows(
    _ sql: String, _ values: any StoredValue...
  ) throws(StoreError) -> Int {
    try link.query(PostgresCommand(sql, values)).changedRows
  }

  package func first<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (PostgresRow) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let row = try link.query(PostgresCommand(sql, values)).first else { return nil }
    return try read(row)
  }

  package func rows<Result>(
    _ sql: String, _ values: any StoredValue...,
    read: (PostgresRow) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    try link.query(PostgresCommand(sql, values)).rows(read)
  }

  /// Runs queued statements and these in one round trip, and returns the results of these.
  func queries(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    try link.queries(commands)
  }

  /// Throws if the connection has failed, which no single request caused.
  package func throwConnectionFailure() throws(StoreError) {
    if let failure = link.failure { throw failure.storeError }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction that writes, and commits it.
  ///
  /// Effects of `body` outside the database must be repeatable: the transaction is retried if it
  /// conflicted with another one, or if its connection was lost before the commit.
  package func transaction<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try transaction(RowLocks(), body)
  }

  func transaction<Result>(
    _ locks: RowLocks, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var attempt = 0
    while true {
      attempt += 1
      try connected()
      var result: Result?
      do throws(StoreError) {
        try begin(locks, attempt: attempt)
        defer { known = KnownRows() }
        result = try body()
        try link.commit()
        if let result { return result }
      } catch {
        let failure = link.failure
        link.abandon()
        guard let failure else { throw error }
        if case .refused = failure {
          guard failure.isRace, attempt < 5 else { throw error }
        } else if link.wasCommitting {
          undecided = batch
          // After reconnecting, the database shows whether the transaction was committed.
          if try settled() == true, let result { return result }
          guard attempt < 3 else { throw error }
        } else if attempt >= 3 {
          throw error
        }
      }
    }
  }

  /// Runs `body` in a read-only transaction, on one snapshot.
  package func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var attempt = 0
    while true {
      attempt += 1
      try connected()
      do throws(StoreError) {
        link.add(PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        // A read transaction locks nothing, so it may be idle for long.
        link.add(
          PostgresCommand("SET LOCAL idle_in_transaction_session_timeout = '\(timeouts.answer)'"))
        defer { known = KnownRows() }
        let result = try body()
        link.abandon()
        return result
      } catch {
        let failure = link.failure
        link.abandon()
        guard let failure else { throw error }
        if case .refused = failure { throw error }
        guard attempt < 3 else { throw error }
      }
    }
  }

  /// Ensures that there is a connection, and that the outcome of an earlier commit is known.
  ///
  /// - Parameter isUndecided: Whether the outcome of a sent statement is unknown. If the store is
  ///   not shared, this then waits without a limit, as for a disk that does not respond.
  func connected(isUndecided: Bool = false) throws(StoreError) {
    do throws(PostgresFailure) {
      if try link.connect(isEndless: isUndecided && !isShared) {
        known = KnownRows()
        sending = []
      }
    } catch {
      throw isUndecided ? error.unknownOutcome : error.storeError
    }
    do throws(StoreError) {
      _ = try settled()
    } catch {
      // The current request was not sent.
      throw isUndecided ? error : .unavailable("PostgreSQL cannot be reached; send again")
    }
  }

  /// Returns whether the undecided commit has succeeded; `nil` if no commit is undecided.
  ///
  /// The transaction had locked this store's row in `writers`. If its server process still has the
  /// lock, this waits until that process ends.
  private func settled() throws(StoreError) -> Bool? {
    guard let number = undecided else { return nil }
    while true {
      do throws(PostgresFailure) {
        if try link.connect(isEndless: !isShared) { sending = [] }
        let last = try link.settle()
        undecided = nil
        return last == number
      } catch {
        link.abandon()
        guard !isShared, !link.isGivenUp.isSet, error.isConnection else {
          throw error.unknownOutcome
        }
      }
    }
  }

  private func begin(_ locks: RowLocks, attempt: Int) throws(StoreError) {
    batch += 1
    known.isWriting = true
    link.add(PostgresCommand("BEGIN"))
    if isShared, attempt > 1 {
      // Folding a long text may take long each time: allow four times as much at each attempt.
      let holding = timeouts.holding << (2 * min(attempt - 1, 3))
      link.add(
        PostgresCommand("SET LOCAL idle_in_transaction_session_timeout = '\(holding)'"))
    }
    link.add(
      PostgresCommand(
        """
        INSERT INTO parley.writers (id, batch) VALUES ($1, $2)
        ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, seen = now()
        """, [link.writer, batch]))
    try lock(locks)
  }

  /// Runs `body` in a transaction; returns `nil` if another node is doing housekeeping.
  package func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction { () throws(StoreError) -> Result? in
      guard try takes(.maintenance) else { return nil }
      return try body()
    }
  }

  /// Takes a lock until the transaction ends; returns false if another process holds it.
  func takes(_ lock: PostgresSchema.Lock) throws(StoreError) -> Bool {
    try first(
      "SELECT pg_try_advisory_xact_lock(\(PostgresSchema.lockSpace), \(lock.rawValue))"
    ) { $0.bool(0) } == true
  }
}

/// Rows that a transaction has locked or read.
struct KnownRows {
  /// Rows of notes; `nil` for a note that does not exist.
  var documents: [DocumentID: DocumentRow?] = [:]
  /// Rows of rooms; `nil` for a room without a row.
  var rooms: [RoomName: RoomRow?] = [:]
  /// Rooms whose rows locking has inserted, and which no request has needed so far.
  var unneededRooms: Set<RoomName> = []
  /// Whether the transaction writes.
  var isWriting = false
}
