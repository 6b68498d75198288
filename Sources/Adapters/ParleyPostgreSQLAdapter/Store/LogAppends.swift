import ParleyGatewayPorts
import OTCore
import ParleyStoreRecords

/// The head of a log, as a store last saw it.
struct SeenHead {
  var epoch: String
  var revision: Int
  /// Unicode scalars of the text.
  var length: Int
  /// The checksum of the head entry.
  var chain: RecordChecksum
}

/// Entries for one log, with what they are to follow.
struct LogAppend {
  let id: DocumentID
  let epoch: String
  let entries: [LogEntry]
  /// The state that a shared log has to have.
  let condition: AppendCondition?
  /// The checksum of the last entry, once it was sent.
  var sent: RecordChecksum?

  init(_ id: DocumentID, _ epoch: String, _ entries: [LogEntry], _ condition: AppendCondition?) {
    self.id = id
    self.epoch = epoch
    self.entries = entries
    self.condition = condition
  }

  /// The clients of the entries, each with the session in which it sent them.
  var sessions: [(client: String, session: Int)] {
    guard let condition else { return [] }
    return Set(entries.map(\.client)).map { ($0, condition.sessions[$0] ?? 0) }
  }

  /// The session that a client without a mark has to be in. An entry without a sequence is never sent again.
  func floor(of client: String, in row: DocumentRow) -> Int {
    let isNumbered = entries.contains {
      $0.sequence > 0 && ExactName($0.client) == ExactName(client)
    }
    return isNumbered ? row.sessionFloor : 0
  }

  /// The reply to what was appended.
  func done(_ chain: RecordChecksum) -> StoreReply {
    // Found after a standby has taken the database's place, it says nothing of what else that has.
    condition.map { .appended(LogChain(chain, life: $0.chain.life)) } ?? .done
  }
}

/// Appending to many logs by one statement.
///
/// The checksums are computed here, so the statement goes by a head that this store has seen. The
/// database compares it with its own, epoch, revision and checksum, and does nothing where they
/// differ. An entry's checksum covers all of it and all before it, so the same append is
/// recognised when it is made once more after a lost connection.
struct LogAppends {
  let database: PostgresDatabase

  /// Heads that are remembered; beyond, all are forgotten and read again.
  private static let headsMax = 20_000

  /// The requests of a batch that a statement of their own does, each with its place: appends, and new
  /// sessions. Of each note there is one such request and nothing else that may have to see it, or not to.
  func statements(
    of batch: [StoreRequest]
  ) -> (appends: [(place: Int, append: LogAppend)], fences: [(place: Int, fence: SessionFence)]) {
    var touched: [DocumentID: Int] = [:]
    for request in batch {
      switch request {
      // It may have to see what is done, or not to see it.
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
        guard !entries.isEmpty, touched[id] == 1,
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

  /// Appends to logs that nothing else concerns, each decided by itself, and replies to each.
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

  /// Sends those of some appends that follow their database.heads.
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

  /// The checksums of entries after the head that their condition names, or else the one that is
  /// remembered; `nil` if they do not follow it.
  private func links(of append: LogAppend) -> [RecordChecksum]? {
    guard let first = append.entries.first, isOfThisLife(append) else { return nil }
    var (revision, length) = (first.revision - 1, first.operation.baseLength)
    var chain: RecordChecksum
    if let condition = append.condition {
      chain = RecordChecksum(condition.chain)
    } else {
      guard let head = database.heads[append.id],
        ExactName(head.epoch) == ExactName(append.epoch),
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

  /// Whether an append's condition was read from the database as it is now, and not from one whose place
  /// it has taken: that may have had entries, and sessions, which this one lacks.
  private func isOfThisLife(_ append: LogAppend) -> Bool {
    append.condition.map { $0.chain.life == database.link.life } ?? true
  }

  func checksum(
    of entry: LogEntry, after chain: RecordChecksum, document: DocumentID, epoch: String
  ) -> RecordChecksum {
    var operation: [UInt8] = []
    entry.operation.appendJSON(to: &operation)
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

  /// Reads the database.heads that appends without a condition do not follow, or that are not known.
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
        epoch: row.text(2), revision: row.integer(3), length: row.integer(4), chain: chain)
    }
  }

  /// Sends appends that follow their database.heads in one statement; which of them were done.
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
      // An append with a condition brings its own.
      if condition == nil {
        database.heads[id] = SeenHead(
          epoch: row.text(3), revision: row.integer(4), length: row.integer(5), chain: chain)
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

  /// The reply to an append that its log did not take; `nil` if it would take it now.
  private func verdict(on append: LogAppend) throws(StoreError) -> StoreReply? {
    try database.reading { () throws(StoreError) in
      guard let row = try database.row(append.id) else { return .failed(.unknownDocument) }
      if let sent = append.sent, let last = append.entries.last,
        ExactName(append.epoch) == ExactName(row.epoch),
        (row.base...row.revision).contains(last.revision)
      {
        // It is there: its answer was lost.
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

  /// Appends to a row that this transaction has locked, among other work.
  func append(_ append: LogAppend) throws(StoreError) -> StoreReply {
    var row = try database.existingRow(append.id)
    if let reply = try obstacle(to: append, on: row) {
      if let error = reply.failure { throw error }
      return reply
    }
    for entry in append.entries {
      var operation: [UInt8] = []
      entry.operation.appendJSON(to: &operation)
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
      database.note(entry.time, before: entry.revision, in: &row)
      row.unsnapped += operation.count + 64
    }
    if !append.entries.isEmpty { database.write(row) }
    return append.done(row.chain)
  }

  /// The reply to an append that a log does not take as it is; `nil` if it takes it.
  private func obstacle(
    to append: LogAppend, on row: DocumentRow
  ) throws(StoreError) -> StoreReply? {
    let notNext = StoreReply.failed(.notNext(headRevision: row.revision))
    guard ExactName(append.epoch) == ExactName(row.epoch), isOfThisLife(append) else {
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
      // A stored entry must apply to the revision before it, or no later load would succeed.
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
