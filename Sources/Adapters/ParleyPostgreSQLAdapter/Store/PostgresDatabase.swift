package import ParleyGatewayPorts
package import ParleyStoreRecords

/// The database of a store: its connection, its transactions, and what is known between them.
///
/// Each kind of rows has an extension. An instance belongs to one thread at a time.
package final class PostgresDatabase: SQLConnection {
  let sharing: PostgresStore.Sharing
  let timeouts: StoreTimeouts
  var link: PostgresLink
  package let context = StoreContext()

  /// Rows that the current transaction has read or written.
  var known = KnownRows()

  /// Heads of logs as this store last saw them. Any of them may be old: a statement that goes by one
  /// compares it.
  var heads: [DocumentID: SeenHead] = [:]
  /// Sessions of clients that had changed nothing, begun since such were dropped last.
  var idleSessions: [DocumentID: Int] = [:]
  /// Whether entries before their log's base may be left.
  package var hasCompacted = true
  /// The number of the document up to which such entries were looked for.
  var compactedPlace = 0
  /// Queues whose events this store alone may take, as long as its connection lasts.
  var sending: Set<OutboxTarget> = []
  /// Events that queues were too long for, since the store was opened.
  var crowdedOut: [OutboxTarget: Int] = [:]
  /// Events that were added to each queue since its length was looked at; none of a queue that was not looked at yet.
  var uncounted: [OutboxTarget: Int] = [:]

  /// The number of a commit whose outcome is unknown, if there is one.
  private var undecided: Int?
  /// The number of the newest commit.
  private var batch = 0

  init(_ link: consuming PostgresLink, sharing: PostgresStore.Sharing, timeouts: StoreTimeouts) {
    self.link = link
    self.sharing = sharing
    self.timeouts = timeouts
  }

  package var isShared: Bool { sharing == .shared }

  package var locking: String { known.isWriting ? " FOR UPDATE" : "" }
  package var lockingFree: String { known.isWriting ? " FOR UPDATE SKIP LOCKED" : "" }

  /// Has a statement run with the next one that is waited for, or with the commit.
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

  /// Runs statements in one trip, after the queued ones whose results are not awaited, and returns
  /// the rows of each.
  func queries(_ commands: [PostgresCommand]) throws(StoreError) -> [PostgresResult] {
    try link.queries(commands)
  }

  /// Throws the connection's failure, which no single request caused.
  package func passOn() throws(StoreError) {
    if let failure = link.failure { throw failure.storeError }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction that writes, and commits it.
  ///
  /// Its effects outside of the database must be repeatable: a transaction that conflicted with
  /// another one, or whose connection was lost before its commit, is retried.
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
          // After reconnecting, the database says whether the transaction was committed.
          if try settled() == true, let result { return result }
          guard attempt < 3 else { throw error }
        } else if attempt >= 3 {
          throw error
        }
      }
    }
  }

  /// Runs `body` in a transaction that only reads, as of one moment.
  package func reading<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var attempt = 0
    while true {
      attempt += 1
      try connected()
      do throws(StoreError) {
        link.add(PostgresCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        // It holds nothing that others wait for, and may take long over what it has read.
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

  /// Makes sure that there is a connection, and that what an earlier one was committing is decided.
  ///
  /// - Parameter isUndecided: Whether something was sent whose outcome is unknown. If no other
  ///   process may settle it, this waits for as long as it takes, as one waits for a disk that
  ///   hangs.
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
      // The present request has not been sent.
      throw isUndecided ? error : .unavailable("PostgreSQL cannot be reached; send again")
    }
  }

  /// Finds out whether the undecided commit has happened; `nil` if no commit is undecided.
  ///
  /// The transaction had locked this writer's own row. If its process on the server still holds the
  /// lock, this waits for the end.
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
      // Folding a long text takes long on a slow machine, each time: what was too slow gets more time.
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

  /// Runs `body` in a transaction, unless another node is at such work; then returns `nil`.
  package func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction { () throws(StoreError) -> Result? in
      guard try takes(.maintenance) else { return nil }
      return try body()
    }
  }

  /// Takes a lock to the transaction's end, if no other process holds it.
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
  /// Rooms' rows, as `documents`.
  var rooms: [ExactName: RoomRow?] = [:]
  /// Rooms whose rows were added with the locks, and that no request has needed so far.
  var unneededRooms: Set<ExactName> = []
  /// Whether the transaction writes.
  var isWriting = false
}
