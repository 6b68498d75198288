import ParleyGatewayPorts

/// The audit log, in memory.
struct MemoryAudit {
  /// Oldest first.
  private var records: [AuditRecord] = []
  private var lastNumber = 0

  mutating func reply(to request: AuditRequest) -> AuditReply {
    switch request {
    case .add(let record):
      add(record)
      return .added
    case .page(let before, let limit, let filter):
      let limit = max(limit, 1)
      let examined = records.reversed().filter { $0.number < before ?? .max }.prefix(limit)
      return .page(
        examined.filter(filter.includes),
        next: examined.count < limit ? nil : examined.last?.number)
    case .trim(let rule, let now, let limit):
      let count = records.count
      let newest = records.last?.number ?? 0
      var rest = limit
      records.removeAll { record in
        guard rest > 0,
          rule.isExpired(record, now: now) || record.number <= newest - rule.countMax
        else { return false }
        rest -= 1
        return true
      }
      return .trimmed(hasMore: count - records.count >= limit)
    }
  }

  /// Adds a record of work with this reply.
  mutating func add(_ record: AuditRecord, of reply: StoreReply) {
    guard let outcome = reply.auditOutcome else { return }
    var record = record
    record.outcome = outcome
    add(record)
  }

  private mutating func add(_ record: AuditRecord) {
    lastNumber += 1
    var record = record
    record.number = lastNumber
    records.append(record)
  }
}
