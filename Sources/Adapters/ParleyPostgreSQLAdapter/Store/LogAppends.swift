import ParleyGatewayPorts
import OTCore
import ParleyJSON
import ParleyStoreRecords

/// The head of a log, as last seen by this store.
struct SeenHead {
  var epoch: Epoch
  var revision: Int
  /// The length of the text in Unicode scalars.
  var length: Int
  /// The checksum of the head entry.
  var chain: RecordChecksum
}

/// Entries to be appended to one log, and the expected state of the log.
struct LogAppend {
  let id: DocumentID
  let epoch: Epoch
  let entries: [LogEntry]
  /// The expected state of a log that nodes share; `nil` in a store that is not shared.
  let condition: AppendCondition?
  /// The checksum of the last entry, after it was sent.
  var sent: RecordChecksum?

  init(_ id: DocumentID, _ epoch: Epoch, _ entries: [LogEntry], _ condition: AppendCondition?) {
    self.id = id
    self.epoch = epoch
    self.entries = entries
    self.condition = condition
  }

  /// The clients of the entries, each with its session.
  var sessions: [(client: String, session: Int)] {
    guard let condition else { return [] }
    return Set(entries.map(\.client)).map { ($0, condition.sessions[$0] ?? 0) }
  }

  /// Returns the minimum session of a client without a mark. Entries without a sequence are never
  /// resent, so they have none.
  func floor(of client: String, in row: DocumentRow) -> Int {
    let isNumbered = entries.contains {
      $0.sequence > 0 && $0.client.isExactly(client)
    }
    return isNumbered ? row.sessionFloor : 0
  }

  /// Returns the reply to a successful append.
  func done(_ chain: RecordChecksum) -> StoreReply {
    // The timeline of the condition, since other entries may differ on a newer timeline.
    condition.map { .appended(LogChain(chain, life: $0.chain.life)) } ?? .done
  }
}

/// Appends to many logs in one statement.
///
/// The checksums are computed from the head that this store last saw. The database compares it with
/// the actual head by epoch, revision and checksum, and rejects an append if they differ. An
/// entry's checksum covers the entry and all earlier ones, so a repeated append is recognised after
/// a lost connection.
struct LogAppends {
  let database: PostgresDatabase

  /// The maximum cached heads. Beyond it, all are discarded and read again.
  private static let headsMax = 20_000

  /// Returns the requests of a batch that are performed in separate statements: appends and new
  /// sessions, with their indices. A note qualifies if no other request of the batch concerns it.
  func statements(
    of batch: [StoreRequest]
  ) -> (appends: [(place: Int, append: LogAppend)], fences: [(place: Int, fence: SessionFence)]) {
    var touched: [DocumentID: Int] = [:]
    for request in batch {
      switch request {
      // Reads also count: they must see the result of earlier requests, but not of later ones.
      case .note(let id), .load(let id, _), .entries(let id, _, _, _), .text(let id, _),
        .news(let id, _, _, _, _), .history(let id, _, _, _), .past(let id, _), .versions(let id):
        touched[id, default: 0] += 1
      case .list, .notes, .within, .folders: return ([], [])
      default:
        var locks = RowLocks()
        locks.add(request)
        for id in locks.documents { touched[id, default: 0] += 1 }
      }
    }
    var appends: [(place: Int, append: LogAppend)] = []
    var fences: [(place: Int, fence: SessionFence)] = []
    for (place, request) in batch.enumerated() {
      switch request {
      case .append(let id, let epoch, let entries, let condition):
        // The function does not change the note's kind.
        guard !entries.isEmpty, touched[id] == 1,
          !entries.contains(where: { $0.format?.makesRich == true }),
          database.context.outboxRules?.recorder.drafts(for: request, .done).isEmpty ?? true
        else { continue }
        appends.append((place, LogAppend(id, epoch, entries, condition)))
      case .fence(let id, let clients) where touched[id] == 1:
        fences.append((place, SessionFence(id: id, clients: clients)))
      default: continue
      }
    }
    return (appends, fences)
  }

  /// Performs appends to logs that no other request concerns. Returns a reply for each append.
  func appended(_ appends: [LogAppend]) -> [StoreReply] {
    for append in appends {
      if let last = append.entries.last { database.context.noteTime(last.time) }
    }
    var appends = appends
    var run = AppendRun(count: appends.count, isShared: database.isShared)
    var next = run.begin()
    while true {
      switch next {
      case .connect(let isUndecided):
        do throws(StoreError) {
          try database.connected(isUndecided: isUndecided)
          next = run.connected()
        } catch {
          next = run.notConnected(error)
        }
      case .send(let places): next = send(places, of: &appends, &run)
      case .judge(let places):
        var replies: [(place: Int, reply: StoreReply)] = []
        do throws(StoreError) {
          for place in places {
            if let reply = try verdict(on: appends[place]) { replies.append((place, reply)) }
          }
          next = run.judged(replies)
        } catch {
          next = run.judged(replies, error: error)
        }
      case .split(let first, let second):
        let halves = [first, second].flatMap { half in
          zip(half, appended(half.map { appends[$0] })).map { (place: $0, reply: $1) }
        }
        next = run.split(halves)
      case .finish: return run.replies.compactMap(\.self)
      }
    }
  }

  /// Sends the appends that follow their heads.
  private func send(
    _ places: [Int], of appends: inout [LogAppend], _ run: inout AppendRun
  ) -> AppendRun.Action {
    var isSending = false
    do throws(PostgresFailure) {
      try refreshHeads(of: places.map { appends[$0] })
      var sending: [(place: Int, links: [RecordChecksum])] = []
      for place in places {
        if let links = links(of: appends[place]) {
          appends[place].sent = links.last
          sending.append((place, links))
        }
      }
      var done: [(place: Int, reply: StoreReply)] = []
      if !sending.isEmpty {
        isSending = true
        let won = try send(sending.map { (appends[$0.place], $0.links) })
        for (item, won) in zip(sending, won) where won {
          if let last = item.links.last {
            done.append((item.place, appends[item.place].done(last)))
          }
        }
      }
      return run.sent(done)
    } catch {
      database.link.note(error)
      database.link.abandon()
      database.heads = [:]
      return run.notSent(error, wasSending: isSending)
    }
  }

  /// Returns the checksums of entries after the head in their condition, or else after the cached
  /// head; `nil` if they do not follow it.
  private func links(of append: LogAppend) -> [RecordChecksum]? {
    guard let first = append.entries.first, isOfThisLife(append) else { return nil }
    var (revision, length) = (first.revision - 1, first.operation.baseLength)
    var chain: RecordChecksum
    if let condition = append.condition {
      chain = RecordChecksum(condition.chain)
    } else {
      guard let head = database.heads[append.id],
        head.epoch == append.epoch,
        revision == head.revision, length == head.length
      else { return nil }
      chain = head.chain
    }
    var links: [RecordChecksum] = []
    links.reserveCapacity(append.entries.count)
    for entry in append.entries {
      guard entry.revision == revision + 1, entry.operation.baseLength == length else { return nil }
      chain = checksum(of: entry, after: chain, document: append.id, epoch: append.epoch)
      links.append(chain)
      revision = entry.revision
      length = entry.operation.targetLength
    }
    return links
  }

  /// Whether an append's condition was read on the current timeline. A database before a promotion
  /// may have had entries and sessions that the current one lacks.
  private func isOfThisLife(_ append: LogAppend) -> Bool {
    append.condition.map { $0.chain.life == database.link.life } ?? true
  }

  func checksum(
    of entry: LogEntry, after chain: RecordChecksum, document: DocumentID, epoch: Epoch
  ) -> RecordChecksum {
    let operation = entry.operationColumn
    database.context.hasher.beginEntry(
      chain, document: document, epoch: epoch, revision: entry.revision)
    database.context.hasher.add(entry.client)
    database.context.hasher.add(entry.sequence)
    database.context.hasher.add(bits: entry.digest)
    database.context.hasher.add(operation)
    database.context.hasher.add(entry.author)
    database.context.hasher.add(Int(entry.time))
    return database.context.hasher.checksum()
  }

  /// Reads the heads that appends without a condition do not follow, and those that are not cached.
  private func refreshHeads(of appends: [LogAppend]) throws(PostgresFailure) {
    let old = appends.filter { links(of: $0) == nil }.map(\.id)
    guard !old.isEmpty else { return }
    if database.heads.count > Self.headsMax { database.heads = [:] }
    for id in old { database.heads[id] = nil }
    let found = try database.link.run([
      PostgresCommand(
        "SELECT id, number, epoch, revision, length, chain FROM parley.documents WHERE id = ANY ($1)",
        [old])
    ])
    for row in found.first?.rows({ $0 }) ?? [] {
      guard let chain = row.withBytes(5, { RecordChecksum($0) }) else { continue }
      database.heads[row.name(0)] = SeenHead(
        epoch: row.name(2), revision: row.integer(3), length: row.integer(4), chain: chain)
    }
  }

  /// Sends appends in one statement. Returns for each append whether it succeeded.
  private func send(
    _ appends: [(append: LogAppend, links: [RecordChecksum])]
  ) throws(PostgresFailure) -> [Bool] {
    var rows = AppendColumns()
    for (append, links) in appends {
      rows.add(append, links) { database.heads[append.id]?.chain }
    }
    let results = try database.link.run([
      PostgresCommand(
        """
        SELECT place, won, number, epoch, revision, length, chain, base, unsnapped FROM parley.append(
          $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
          $21, $22, $23, $24, $25)
        """, rows.values)
    ])
    var won = [Bool](repeating: false, count: appends.count)
    for row in results.first?.rows({ $0 }) ?? [] {
      let place = row.integer(0) - 1
      guard won.indices.contains(place) else { continue }
      let (id, condition) = (
        appends[place].append.id, appends[place].append.condition
      )
      won[place] = row.bool(1)
      guard !row.isNull(2), let chain = row.withBytes(6, { RecordChecksum($0) }) else {
        database.heads[id] = nil
        continue
      }
      // Appends with a condition do not use the cache.
      if condition == nil {
        database.heads[id] = SeenHead(
          epoch: row.name(3), revision: row.integer(4), length: row.integer(5), chain: chain)
      }
      if row.integer(8) >= max(row.integer(5), 65_536) {
        database.context.upkeep.unsnapped.insert(id)
      }
      if let retention = database.context.retention,
        retention.isOverlong(revision: row.integer(4), base: row.integer(7))
      {
        database.context.upkeep.overlong.insert(id)
      }
    }
    return won
  }

  /// Returns the reply to an append that its log rejected; `nil` if the log would accept it now.
  private func verdict(on append: LogAppend) throws(StoreError) -> StoreReply? {
    try database.reading { () throws(StoreError) in
      guard let row = try database.row(append.id) else { return .failed(.unknownDocument) }
      if let sent = append.sent, let last = append.entries.last,
        append.epoch == row.epoch,
        (row.base...row.revision).contains(last.revision)
      {
        // The append has succeeded, but its reply was lost.
        if try LogRules(store: database).chain(at: last.revision, of: row) == sent {
          return append.done(sent)
        }
      }
      do throws(StoreError) {
        return try obstacle(to: append, on: row)
      } catch {
        if let failure = database.link.failure { throw failure.storeError }
        return .failed(error)
      }
    }
  }

  /// Appends to a row that this transaction has locked, among other requests.
  func append(_ append: LogAppend) throws(StoreError) -> StoreReply {
    var row = try database.existingRow(append.id)
    if let reply = try obstacle(to: append, on: row) {
      if let error = reply.failure { throw error }
      return reply
    }
    for entry in append.entries {
      let operation = entry.operationColumn
      row.chain = checksum(of: entry, after: row.chain, document: row.id, epoch: row.epoch)
      database.change(
        """
        INSERT INTO parley.log (document, revision, client, sequence, digest, operation, author,
          time, checksum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, row.number, entry.revision, entry.client, entry.sequence, entry.digest,
        Blob(operation), entry.author, entry.time, row.chain)
      if entry.sequence > 0 {
        database.change(
          """
          INSERT INTO parley.marks (document, client, sequence, revision, digest, session)
          VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT (document, client) DO UPDATE SET sequence = excluded.sequence,
            revision = excluded.revision, digest = excluded.digest
          """, row.number, entry.client, entry.sequence, entry.revision, entry.digest,
          row.sessionFloor)
      }
      row.revision = entry.revision
      row.length = entry.operation.targetLength
      row.note(entry.format)
      database.note(entry.time, before: entry.revision, in: &row)
      row.unsnapped += operation.count + 64
    }
    if !append.entries.isEmpty { database.write(row) }
    return append.done(row.chain)
  }

  /// Returns the reply to an append that a log rejects; `nil` if it is acceptable.
  private func obstacle(
    to append: LogAppend, on row: DocumentRow
  ) throws(StoreError) -> StoreReply? {
    let notNext = StoreReply.failed(.notNext(headRevision: row.revision))
    guard append.epoch == row.epoch, isOfThisLife(append) else {
      return notNext
    }
    let start = (append.entries.first?.revision ?? row.revision + 1) - 1
    if let condition = append.condition, (row.base...row.revision).contains(start),
      try LogRules(store: database).chain(at: start, of: row) != RecordChecksum(condition.chain)
    {
      return notNext
    }
    if 0 <= start, start < row.revision {
      return try lostRace(row, after: start, isShared: append.condition != nil)
    }
    var (revision, length) = (row.revision, row.length)
    for entry in append.entries {
      // A stored entry must apply to the preceding revision; otherwise no later load would succeed.
      guard entry.revision == revision + 1, entry.operation.baseLength == length else {
        return notNext
      }
      revision = entry.revision
      length = entry.operation.targetLength
    }
    let asked = append.sessions
    guard !asked.isEmpty else { return nil }
    let newest = try SharedLogs(database: database).sessions(of: row, asked.map(\.client))
    let fenced = asked.map(\.client).filter { client in
      newest[client] ?? append.floor(of: client, in: row)
        > append.condition?.sessions[client] ?? 0
    }
    return fenced.isEmpty ? nil : .failed(.fenced(fenced.sorted()))
  }

  private func lostRace(
    _ row: DocumentRow, after start: Int, isShared: Bool
  ) throws(StoreError) -> StoreReply {
    let missed = try LogRules(store: database).entries(
      of: row, after: start, through: min(row.revision, start + SharedLogs.newsMax),
      bytesMax: StoreReply.lostRaceBytesMax)
    guard isShared, let last = missed.last else { return .lostRace(missed) }
    return .lostRace(
      missed,
      chain: LogChain(
        try LogRules(store: database).chain(at: last.revision, of: row), life: database.link.life))
  }
}

extension LogChain {
  init(_ checksum: RecordChecksum, life: Int) {
    self.init(high: checksum.high, low: checksum.low, life: life)
  }
}

extension RecordChecksum {
  init(_ chain: LogChain) { self.init(high: chain.high, low: chain.low) }
}
