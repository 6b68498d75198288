public import GatewayPorts
public import StoreRecords

/// Documents in a PostgreSQL database.
///
/// Each document has a log of its operations, each entry with a checksum over its fields and its
/// predecessor's checksum, as in `StoreSQLite`. Entries are appended by one statement for a whole
/// batch, which compares the log's head with the head that the writer expects; a writer that loses
/// that race receives the entries that the log has instead. All else is a short transaction, whose
/// locks end soon even if this process stops.
///
/// An instance has one connection and belongs to one thread at a time. It reconnects when the
/// connection is lost; whether a commit that was under way has happened is read from the database.
public final class PostgresStore: DocumentStore, Outbox {
  /// Whether others may commit to the same database.
  public enum Sharing: Sendable {
    /// The only one that commits.
    case alone
    /// A store beside others that commit, too.
    case shared
    /// A reader beside the store that commits.
    case reading
  }

  /// The database.
  public let address: PostgresAddress

  /// Whether other nodes may append to the same logs.
  public var isShared: Bool { sharing == .shared }

  let sharing: Sharing
  let patience: Patience

  /// The part of a long log that housekeeping keeps; all of it if `nil`.
  public var retention: Retention?

  /// Rules for outside events; with `nil` none is recorded. Events that wait already are kept.
  public var outboxRules: OutboxRules?

  var link: PostgresLink
  package var hasher = RecordHasher()
  package var upkeep = Upkeep()

  /// Rows that the transaction under way has locked or read; `nil` for a document that is not there.
  var documents: [ExactName: DocumentRow?] = [:]
  /// Rooms' rows, as `documents`.
  var rooms: [ExactName: RoomRow?] = [:]
  /// Rooms whose rows were added with the locks, and that no request has needed so far.
  var unneededRooms: Set<ExactName> = []
  /// Whether the transaction under way writes.
  var isWriting = false

  /// Heads of logs as this store last saw them. Any of them may be old: a statement that goes by one
  /// compares it.
  var heads: [ExactName: SeenHead] = [:]

  /// Sessions of clients that had changed nothing, begun since such were dropped last.
  var idleSessions: [ExactName: Int] = [:]
  /// Whether texts are folded on another connection.
  package var foldsBeside = false
  /// Whether entries before their log's base may be left.
  package var hasCompacted = true
  /// The number of the document up to which such entries were looked for.
  var compactedPlace = 0
  /// Queues whose state may have changed since it was last reported.
  package var changedTargets = Set(OutboxTarget.allCases)
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

  /// Opens the store, making its tables if there are none.
  public convenience init(
    _ address: PostgresAddress, sharing: Sharing = .alone
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, patience: Patience())
  }

  /// Opens the store with other times to wait.
  package convenience init(
    _ address: PostgresAddress, sharing: Sharing, patience: Patience
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, patience: patience, isUnfinished: false)
  }

  /// Opens the store to read all of it, though it may still be filled.
  convenience init(
    verifying address: PostgresAddress, isUnfinished: Bool
  ) throws(PostgresOpenError) {
    try self.init(
      address, sharing: .reading, patience: Patience(), isUnfinished: isUnfinished)
  }

  private init(
    _ address: PostgresAddress, sharing: Sharing, patience: Patience, isUnfinished: Bool
  ) throws(PostgresOpenError) {
    self.address = address
    self.sharing = sharing
    self.patience = patience
    link = try PostgresLink(
      address, sharing: sharing, patience: patience, isUnfinished: isUnfinished)
    // A mistake here costs snapshots that are taken later.
    if sharing != .reading {
      upkeep.unsnapped = (try? reading { () throws(StoreError) in try idsToSnapshot() }) ?? []
    }
  }

  /// Does a batch of work, and returns after it is durable.
  ///
  /// Appends and new sessions that nothing else in the batch touches go first, by one statement
  /// each kind: no other process waits for their rows if this one stops. The rest is one
  /// transaction.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    guard sharing != .reading else {
      let failure = StoreReply.failed(
        .unavailable("this connection to PostgreSQL is for reading; write on the other one"))
      return replies(to: batch, failing: failure)
    }
    let parts = statements(of: batch)
    var replies = [StoreReply?](repeating: nil, count: batch.count)
    if !parts.appends.isEmpty {
      for (part, reply) in zip(parts.appends, appended(parts.appends.map(\.append))) {
        replies[part.place] = reply
      }
    }
    if !parts.fences.isEmpty {
      for (part, reply) in zip(parts.fences, fenced(parts.fences.map(\.fence))) {
        replies[part.place] = reply
      }
    }
    var rest = transact(batch.indices.filter { replies[$0] == nil }.map { batch[$0] })[...]
    return replies.compactMap { $0 ?? rest.popFirst() }
  }

  /// Does a batch in one transaction.
  private func transact(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    do throws(StoreError) {
      return try write(batch)
    } catch {
      return inHalves(batch, after: error, transact)
        ?? replies(to: batch, failing: .failed(error))
    }
  }

  /// Does a batch in two halves, if one of its requests may be what the database has refused: then the
  /// others are done, and that one fails by itself.
  ///
  /// - Complexity: About twice as many transactions as requests are refused, times the logarithm of the
  ///   batch.
  /// - Returns: `nil` where it would not help.
  private func inHalves(
    _ batch: [StoreRequest], after error: StoreError, _ body: ([StoreRequest]) -> [StoreReply]
  ) -> [StoreReply]? {
    guard error.isOfOneRequest, batch.count > 1 else { return nil }
    let middle = batch.count / 2
    return body(Array(batch[..<middle])) + body(Array(batch[middle...]))
  }

  private func replies(to batch: [StoreRequest], failing failure: StoreReply) -> [StoreReply] {
    var reads = read(batch.filter { !$0.isWriting })[...]
    return batch.map { request in
      request.isWriting ? failure : reads.popFirst() ?? failure
    }
  }

  private func write(_ batch: [StoreRequest]) throws(StoreError) -> [StoreReply] {
    let locks = batch.reduce(into: RowLocks()) { $0.add($1) }
    return try transaction(locks) { () throws(StoreError) in
      var replies: [StoreReply] = []
      replies.reserveCapacity(batch.count)
      for request in batch {
        guard request.isWriting else {
          replies.append(reply(to: request))
          try passOn()
          continue
        }
        let (documents, rooms, unneededRooms) = (documents, rooms, unneededRooms)
        let isAlone = batch.count == 1
        if !isAlone { change("SAVEPOINT request") }
        let reply = recorded(reply(to: request), to: request)
        try passOn()
        switch reply {
        case .failed(let error):
          if isAlone { throw error }
          change("ROLLBACK TO request")
          (self.documents, self.rooms) = (documents, rooms)
          self.unneededRooms = unneededRooms
        default: break
        }
        if !isAlone { change("RELEASE request") }
        replies.append(reply)
      }
      removeUnneededRooms()
      return replies
    }
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    guard !batch.isEmpty else { return [] }
    do throws(StoreError) {
      return try reading { () throws(StoreError) in
        var replies: [StoreReply] = []
        for request in batch {
          replies.append(reply(to: request))
          try passOn()
        }
        return replies
      }
    } catch {
      return inHalves(batch, after: error, read) ?? batch.map { _ in .failed(error) }
    }
  }

  package func ownReply(to request: StoreRequest) throws(StoreError) -> StoreReply {
    switch request {
    case .append(let id, let epoch, let entries, let condition):
      return try append(LogAppend(id, epoch, entries, condition))
    case .news(let id, let epoch, let after, let chain, let clients):
      return .news(try news(id, epoch: epoch, after: after, chain: chain, clients))
    case .heads(let ids): return .heads(try logHeads(ids))
    case .fence(let id, let clients):
      return .sessions(try fence(SessionFence(id: id, clients: clients)))
    // The outcome of a commit is settled before the next transaction begins, and each transaction
    // writes this store's own row.
    default: return .done
    }
  }

  // MARK: Statements

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

  private func transaction<Result>(
    _ locks: RowLocks, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var attempt = 0
    while true {
      attempt += 1
      try connected()
      var result: Result?
      do throws(StoreError) {
        try begin(locks, attempt: attempt)
        defer { forgetRows() }
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
          PostgresCommand("SET LOCAL idle_in_transaction_session_timeout = '\(patience.answer)'"))
        defer { forgetRows() }
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
        forgetRows()
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

  /// Whether the commit whose outcome was unknown has happened; `nil` if there is none.
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
    isWriting = true
    link.add(PostgresCommand("BEGIN"))
    if isShared, attempt > 1 {
      // Folding a long text takes long on a slow machine, each time: what was too slow gets more time.
      let holding = patience.holding << (2 * min(attempt - 1, 3))
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

  private func forgetRows() {
    documents = [:]
    rooms = [:]
    unneededRooms = []
    isWriting = false
  }
}

/// Times that a store waits.
package struct Patience: Sendable {
  /// Milliseconds that one answer may take.
  package var answer: Int64 = 30_000
  /// Milliseconds for which an idle transaction may hold rows that other nodes wait for.
  package var holding: Int64 = 250
  /// Milliseconds of reconnecting before requests fail.
  package var reconnecting: Int64 = 10_000
  /// Milliseconds for which a former process of the same store may still hold its lock.
  package var opening: Int64 = 5_000
  /// Milliseconds between looks at the settings on which the promise of the database rests.
  package var looking: Int64 = 60_000

  /// The usual times.
  package init() {}
}

/// The rows that a batch will change, so that all are locked first and in one order. Names that look
/// alike are different ones.
struct RowLocks {
  var documents: Set<ExactName> = []
  var rooms: Set<ExactName> = []
  /// Rooms that a record is made for.
  var newRooms: Set<ExactName> = []
  /// Users whose sessions change.
  var users: Set<ExactName> = []

  mutating func add(_ request: StoreRequest) {
    let traits = request.traits
    if traits.locksNote, let note = traits.note { documents.insert(ExactName(note)) }
    switch traits.row {
    case .room(let name): rooms.insert(ExactName(name))
    case .newRoom(let name): newRooms.insert(ExactName(name))
    case .user(let name): users.insert(ExactName(name))
    case nil: break
    }
  }
}
