public import ParleyGatewayPorts
public import ParleyStoreRecords

/// Documents in a PostgreSQL database.
///
/// Each document has a log of its operations, each entry with a checksum over its fields and its
/// predecessor's checksum, as in `ParleyStoreSQLite`. Entries are appended by one statement for a whole
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
  public var isShared: Bool { database.isShared }

  let database: PostgresDatabase

  /// The part of a long log that housekeeping keeps; all of it if `nil`.
  public var retention: Retention? {
    get { database.context.retention }
    set { database.context.retention = newValue }
  }

  /// Rules for outside events; with `nil` none is recorded. Events that wait already are kept.
  public var outboxRules: OutboxRules? {
    get { database.context.outboxRules }
    set { database.context.outboxRules = newValue }
  }

  /// Opens the store, making its tables if there are none.
  public convenience init(
    _ address: PostgresAddress, sharing: Sharing = .alone
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, timeouts: StoreTimeouts())
  }

  /// Opens the store with other times to wait.
  package convenience init(
    _ address: PostgresAddress, sharing: Sharing, timeouts: StoreTimeouts
  ) throws(PostgresOpenError) {
    try self.init(address, sharing: sharing, timeouts: timeouts, isUnfinished: false)
  }

  /// Opens the store to read all of it, though it may still be filled.
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
    // A mistake here costs snapshots that are taken later.
    if sharing != .reading {
      let texts = TextRules(store: database)
      let found = try? database.reading { () throws(StoreError) in try texts.idsToSnapshot() }
      database.context.upkeep.unsnapped = found ?? []
    }
  }

  /// Does a batch of work, and returns after it is durable.
  ///
  /// Appends and new sessions that nothing else in the batch touches go first, by one statement
  /// each kind: no other process waits for their rows if this one stops. The rest is one
  /// transaction.
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
    let rules = RequestRules(store: database)
    return try database.transaction(locks) { () throws(StoreError) in
      var replies: [StoreReply] = []
      replies.reserveCapacity(batch.count)
      for request in batch {
        guard request.isWriting else {
          replies.append(rules.reply(to: request))
          try database.passOn()
          continue
        }
        let known = database.known
        let isAlone = batch.count == 1
        if !isAlone { database.change("SAVEPOINT request") }
        let reply = QueueRules(store: database).recorded(rules.reply(to: request), to: request)
        try database.passOn()
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
          try database.passOn()
        }
        return replies
      }
    } catch {
      return inHalves(batch, after: error, read) ?? batch.map { _ in .failed(error) }
    }
  }

  /// Does a piece of work in a transaction of its own.
  public func perform(_ request: OutboxRequest) -> OutboxReply {
    QueueRules(store: database).reply(to: request)
  }

  /// Returns the state of each queue that may have changed since the last call, and of all at the
  /// first.
  public func takeOutboxChanges() -> [OutboxTarget: OutboxStanding] {
    QueueRules(store: database).changedStandings()
  }
}
