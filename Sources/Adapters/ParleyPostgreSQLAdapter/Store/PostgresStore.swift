public import ParleyGatewayPorts
public import ParleyStoreRecords

/// Documents in a PostgreSQL database.
///
/// Each document has a log of operations. An entry's checksum covers its fields and the checksum of
/// its predecessor, as in `ParleyStoreSQLite`. One statement appends the entries of a whole batch; it
/// compares each log's head with the head that the writer expects. A writer whose head is outdated
/// receives the newer entries of the log. Other requests are short transactions, whose locks end
/// soon even if this process stops.
///
/// An instance has one connection, and must be used by one thread at a time. It reconnects after a
/// lost connection, and then reads from the database whether the last commit has succeeded.
public final class PostgresStore: DocumentStore, Outbox {
  /// Whether other processes may commit to the same database.
  public enum Sharing: Sendable {
    /// Only this store commits.
    case alone
    /// Other stores commit, too.
    case shared
    /// This store only reads.
    case reading
  }

  /// The address of the database.
  public let address: PostgresAddress

  /// Whether other nodes may append to the same logs.
  public var isShared: Bool { database.isShared }

  let database: PostgresDatabase

  /// The rule by which housekeeping compacts long logs; `nil` disables compaction.
  public var retention: Retention? {
    get { database.context.retention }
    set { database.context.retention = newValue }
  }

  /// The rules for recording events. With `nil`, no events are recorded; queued events remain.
  public var outboxRules: OutboxRules? {
    get { database.context.outboxRules }
    set { database.context.outboxRules = newValue }
  }

  /// Opens the store, and creates its tables if there are none.
  public convenience init(
    _ address: PostgresAddress, sharing: Sharing = .alone
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, timeouts: StoreTimeouts())
  }

  /// Opens the store with other timeouts.
  package convenience init(
    _ address: PostgresAddress, sharing: Sharing, timeouts: StoreTimeouts
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, timeouts: timeouts, isUnfinished: false)
  }

  /// Opens the store read-only for verification, even if it may be unfinished.
  convenience init(
    verifying address: PostgresAddress, isUnfinished: Bool
  ) throws(PostgresOpenError) {
    try self.init(
      address, sharing: .reading, timeouts: StoreTimeouts(), isUnfinished: isUnfinished)
  }

  private init(
    _ address: PostgresAddress, sharing: Sharing, timeouts: StoreTimeouts, isUnfinished: Bool
  ) throws(PostgresOpenError) {
    self.address = address
    database = PostgresDatabase(
      try PostgresLink(address, sharing: sharing, timeouts: timeouts, isUnfinished: isUnfinished),
      sharing: sharing, timeouts: timeouts)
    // An error here only delays snapshots.
    if sharing != .reading {
      let texts = TextRules(store: database)
      let found = try? database.reading { () throws(StoreError) in try texts.idsToSnapshot() }
      database.context.upkeep.unsnapped = found ?? []
    }
  }

  /// Performs a batch of requests, and returns after it is durable.
  ///
  /// Appends and new sessions of notes that no other request of the batch concerns are performed
  /// first, in one statement for each kind: if this process stops, it leaves no locked rows. The
  /// remaining requests are one transaction.
  public func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    guard database.sharing != .reading else {
      let failure = StoreReply.failed(
        .unavailable("this connection to PostgreSQL is for reading; write on the other one"))
      return replies(to: batch, failing: failure)
    }
    let appends = LogAppends(database: database)
    let parts = appends.statements(of: batch)
    var replies = [StoreReply?](repeating: nil, count: batch.count)
    if !parts.appends.isEmpty {
      for (part, reply) in zip(parts.appends, appends.appended(parts.appends.map(\.append))) {
        replies[part.place] = reply
      }
    }
    if !parts.fences.isEmpty {
      for (part, reply) in zip(
        parts.fences, SessionFences(database: database).fenced(parts.fences.map(\.fence)))
      {
        replies[part.place] = reply
      }
    }
    var rest = transact(batch.indices.filter { replies[$0] == nil }.map { batch[$0] })[...]
    return replies.compactMap { $0 ?? rest.popFirst() }
  }

  /// Performs a batch in one transaction.
  private func transact(_ batch: [StoreRequest]) -> [StoreReply] {
    guard batch.contains(where: \.isWriting) else { return read(batch) }
    do throws(StoreError) {
      return try write(batch)
    } catch {
      return inHalves(batch, after: error, transact)
        ?? replies(to: batch, failing: .failed(error))
    }
  }

  /// Performs a batch in two halves if the database may have rejected one of its requests. So the
  /// other requests succeed, and the rejected one fails alone.
  ///
  /// - Complexity: About two transactions for each rejected request, times the logarithm of the
  ///   batch.
  /// - Returns: `nil` if the error is not due to one request, or the batch has only one.
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
    let rules = RequestRules(store: database)
    return try database.transaction(locks) { () throws(StoreError) in
      var replies: [StoreReply] = []
      replies.reserveCapacity(batch.count)
      for request in batch {
        guard request.isWriting else {
          replies.append(rules.reply(to: request))
          try database.throwConnectionFailure()
          continue
        }
        let known = database.known
        let isAlone = batch.count == 1
        if !isAlone { database.change("SAVEPOINT request") }
        let reply = QueueRules(store: database).recorded(rules.reply(to: request), to: request)
        try database.throwConnectionFailure()
        switch reply {
        case .failed(let error):
          if isAlone { throw error }
          database.change("ROLLBACK TO request")
          database.known = known
        default: break
        }
        if !isAlone { database.change("RELEASE request") }
        replies.append(reply)
      }
      database.removeUnneededRooms()
      return replies
    }
  }

  private func read(_ batch: [StoreRequest]) -> [StoreReply] {
    guard !batch.isEmpty else { return [] }
    do throws(StoreError) {
      let rules = RequestRules(store: database)
      return try database.reading { () throws(StoreError) in
        var replies: [StoreReply] = []
        for request in batch {
          replies.append(rules.reply(to: request))
          try database.throwConnectionFailure()
        }
        return replies
      }
    } catch {
      return inHalves(batch, after: error, read) ?? batch.map { _ in .failed(error) }
    }
  }

  /// Performs an outbox request in a separate transaction.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    QueueRules(store: database).reply(to: request)
  }

  /// Returns the state of each queue that may have changed since the last call; at the first call,
  /// of all queues.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxQueueState] {
    QueueRules(store: database).changedStandings()
  }
}
