import ParleyGatewayPorts

/// The audit log: who changed rights or accounts, when, and from where.
///
/// Records are numbered in about the order of their times, so the oldest ones have the lowest
/// numbers.
struct AuditRules<Store: SQLConnection> {
  let store: Store

  func reply(to request: AuditRequest) throws(StoreError) -> AuditReply {
    switch request {
    case .add(let record):
      try add(record)
      return .added
    case .page(let before, let limit, let filter):
      let limit = max(limit, 1)
      let records = try records(before: before ?? .max, limit: limit)
      return .page(
        records.filter(filter.includes), next: records.count < limit ? nil : records.last?.number)
    case .trim(let rule, let now, let limit):
      return .trimmed(hasMore: try trim(rule, now: now, limit: limit))
    }
  }

  /// Performs work, and adds a record of it in the same transaction.
  func record(_ record: AuditRecord, of reply: StoreReply) throws(StoreError) {
    guard let outcome = reply.auditOutcome else { return }
    var record = record
    record.outcome = outcome
    try add(record)
  }

  private func add(_ record: AuditRecord) throws(StoreError) {
    store.context.noteTime(record.time)
    try store.change(
      """
      INSERT INTO audit (time, actor, action, target, address, outcome, detail, checksum)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """, record.time, record.actor, record.action.name, record.target, record.address,
      record.outcome.rawValue, record.detail, checksum(of: record))
  }

  private func checksum(of record: AuditRecord) -> RecordChecksum {
    store.context.hasher.begin(.audit)
    store.context.hasher.add(Int(record.time))
    for text in [record.actor, record.action.name, record.target, record.address, record.detail] {
      store.context.hasher.add(text)
    }
    store.context.hasher.add(record.outcome.rawValue)
    return store.context.hasher.checksum()
  }

  // MARK: Reading

  private func records(before number: Int, limit: Int) throws(StoreError) -> [AuditRecord] {
    try store.rows(
      """
      SELECT number, time, actor, action, target, address, outcome, detail, checksum FROM audit
      WHERE number < $1 ORDER BY number DESC LIMIT $2
      """, number, limit
    ) { row throws(StoreError) in
      guard let record = record(in: row) else {
        throw .damaged(
          "the record \(row.integer(0)) of the audit log differs from its checksum; \(damageAdvice)"
        )
      }
      return record
    }
  }

  /// Returns the record in a row; `nil` if it differs from its checksum.
  private func record(in row: Store.Row) -> AuditRecord? {
    guard let outcome = AuditOutcome(rawValue: row.integer(6)) else { return nil }
    let record = AuditRecord(
      number: row.integer(0), time: Timestamp(row.integer(1)), actor: row.text(2),
      action: AuditAction(row.text(3)), target: row.text(4), address: row.text(5),
      outcome: outcome, detail: row.text(7))
    guard row.withBytes(8, { RecordChecksum($0) }) == checksum(of: record) else { return nil }
    return record
  }

  /// Verifies all records.
  func check(_ findings: inout StoreFindings) throws(StoreError) {
    var (place, pageCount) = (Int.max, 1_000)
    while pageCount == 1_000 {
      let rows = try store.rows(
        """
        SELECT number, time, actor, action, target, address, outcome, detail, checksum FROM audit
        WHERE number < $1 ORDER BY number DESC LIMIT 1000
        """, place
      ) { row in (number: row.integer(0), isSound: record(in: row) != nil) }
      for row in rows where !row.isSound {
        findings.add(
          nil,
          "the record \(row.number) of the audit log differs from its checksum; \(damageAdvice)")
      }
      place = rows.last?.number ?? place
      pageCount = rows.count
    }
  }

  // MARK: Bounds

  /// Removes records beyond the bounds. Returns whether more may remain.
  private func trim(_ rule: AuditRule, now: Timestamp, limit: Int) throws(StoreError) -> Bool {
    let old = try store.changedRows(
      """
      DELETE FROM audit WHERE number IN (SELECT number FROM
        (SELECT number, time FROM audit ORDER BY number LIMIT $1) AS first WHERE time <= $2)
      """, limit, now - rule.milliseconds)
    let refused = try store.changedRows(
      """
      DELETE FROM audit WHERE number IN (SELECT number FROM
        (SELECT number, time FROM audit WHERE outcome = 2 ORDER BY number LIMIT $1) AS first
        WHERE time <= $2)
      """, limit, now - rule.refusedMilliseconds)
    let newest = try store.first("SELECT max(number) FROM audit") { $0.integer(0) } ?? 0
    let beyond = try store.changedRows(
      """
      DELETE FROM audit WHERE number IN
        (SELECT number FROM audit WHERE number <= $1 ORDER BY number LIMIT $2)
      """, newest - rule.countMax, limit)
    return max(old, refused, beyond) >= limit
  }
}
