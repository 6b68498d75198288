import ParleyGatewayPorts

/// Requirements for the audit log.
extension DocumentStoreConformance {
  private static func record(
    _ target: String, at time: Timestamp, by actor: String = "key:ops",
    _ action: AuditAction = .revoke,
    _ outcome: AuditOutcome = .done
  ) -> AuditRecord {
    AuditRecord(
      time: time, actor: actor, action: action, target: target, address: "192.0.2.1",
      outcome: outcome, detail: "Gr\u{f6}\u{df}e \u{1f426}")
  }

  static let audit: [ConformanceCheck] = [
    ConformanceCheck("records of the audit log are there after a restart, the newest first") {
      rig in
      for number in 1...5 { try rig.add(record("t\(number)", at: Timestamp(number))) }
      try rig.restart()
      let (all, end) = try rig.auditPage()
      try expect(all.map(\.target), ["t5", "t4", "t3", "t2", "t1"], "the records")
      try expect(end, nil, "the end")
      var newest = record("t5", at: 5)
      newest.number = all[0].number
      try expect(all[0], newest, "all fields")
      let (first, next) = try rig.auditPage(limit: 2)
      try expect(first.map(\.target), ["t5", "t4"], "the first page")
      let (second, _) = try rig.auditPage(before: next, limit: 2)
      try expect(second.map(\.target), ["t3", "t2"], "the second page")
      let (third, last) = try rig.auditPage(before: second.last?.number, limit: 2)
      try expect(third.map(\.target), ["t1"], "the third page")
      try expect(last, nil, "the end of the pages")
    },
    ConformanceCheck("the audit log is filtered by exact names, kinds of actions and times") {
      rig in
      let names = ["ada", "Ada", "__proto__", "e\u{301}", "\u{e9}", "../x"]
      for (number, name) in names.enumerated() {
        try rig.add(record(name, at: Timestamp(number), by: name, .makeLink))
      }
      try rig.add(record("s", at: 9, by: "ada", .signIn, .refused))
      for name in names.dropFirst() {
        try expect(try rig.targets { $0.actor = name }.count, 1, "one actor")
        try expect(try rig.targets { $0.target = name }.count, 1, "one target")
      }
      try expect(try rig.targets { $0.actor = "ada" }, ["s", "ada"], "an actor")
      try expect(try rig.targets { $0.action = "link" }.count, names.count, "a kind")
      try expect(try rig.targets { $0.action = "lin" }, [], "part of a kind")
      try expect(try rig.targets { $0.action = "sign-in" }, ["s"], "an action")
      try expect(try rig.targets { $0.outcome = .refused }, ["s"], "an outcome")
      try expect(
        try rig.targets {
          $0.since = 1
          $0.until = 3
        }, ["__proto__", "Ada"], "a time")
    },
    ConformanceCheck("a record is committed with its action, or not at all") { rig in
      try rig.create("n")
      let deletion = StoreRequest.audited(record("n", at: 1, .deleteNote), .delete(id: "n"))
      let replies = try rig.perform([deletion, deletion])
      try expect(replies[0].isDone, true, "the deletion")
      try expect(replies[1].failure, .unknownDocument, "the second deletion")
      try rig.restart()
      try expect(try rig.auditPage().records.map(\.target), ["n"], "the records")
      try expect(try rig.auditPage().records.map(\.outcome), [.done], "the outcome")
    },
    ConformanceCheck("work that finds nothing to do has no record; refused work has one") { rig in
      try rig.create("n")
      let ending = StoreRequest.audited(
        record("n", at: 1, .endLink), .links(.end(note: "n", id: "l.x")))
      _ = try rig.perform([ending])
      try expect(try rig.auditPage().records.count, 0, "records of nothing")
      let link = NoteLink(
        id: "l.1", note: "n", access: .read, maker: "ada", createdAt: 1, expiresAt: 100)
      let work = StoreRequest.links(.make(link, key: "k", countMax: 0))
      _ = try rig.perform([.audited(record("n", at: 1, .makeLink), work)])
      try expect(try rig.auditPage().records.map(\.outcome), [.refused], "the outcome")
    },
    ConformanceCheck("the audit log has bounds of time and number, and refusals end sooner") {
      rig in
      let rule = AuditRule(milliseconds: 100, refusedMilliseconds: 10, countMax: 4)
      for time in 1...3 { try rig.add(record("done\(time)", at: Timestamp(time))) }
      try rig.add(record("refused", at: 4, .signIn, .refused))
      try expect(try rig.trim(rule, at: 5), false, "nothing to remove")
      try expect(try rig.auditPage().records.count, 4, "all")
      try expect(try rig.trim(rule, at: 14), false, "the refusal")
      try expect(
        try rig.auditPage().records.map(\.target), ["done3", "done2", "done1"], "without it")
      try expect(try rig.trim(rule, at: 102), false, "after the time")
      try expect(try rig.auditPage().records.map(\.target), ["done3"], "those in time")
      for time in 110...115 { try rig.add(record("new\(time)", at: Timestamp(time))) }
      try rig.restart()
      while try rig.trim(rule, at: 116, limit: 1) {}
      let rest = try rig.auditPage().records.map(\.target)
      try expect(rest, ["new115", "new114", "new113", "new112"], "the newest")
    },
  ]
}

extension StoreRig {
  fileprivate func audit(_ request: AuditRequest) throws -> AuditReply {
    let reply = try perform(.audit(request))[0]
    guard case .audit(let audit) = reply
    else { throw unexpected(reply, "a reply about the audit log") }
    return audit
  }

  fileprivate func add(_ record: AuditRecord) throws {
    try expect(audit(.add(record)), .added, "the addition")
  }

  fileprivate func auditPage(
    _ filter: AuditFilter = AuditFilter(), before: Int? = nil, limit: Int = 100
  ) throws -> (records: [AuditRecord], next: Int?) {
    let reply = try audit(.page(before: before, limit: limit, filter))
    guard case .page(let records, let next) = reply else { return ([], nil) }
    return (records, next)
  }

  /// Returns the targets of the records that a filter includes.
  fileprivate func targets(_ change: (inout AuditFilter) -> Void) throws -> [String] {
    var filter = AuditFilter()
    change(&filter)
    return try auditPage(filter).records.map(\.target)
  }

  fileprivate func trim(_ rule: AuditRule, at now: Timestamp, limit: Int = 100) throws -> Bool {
    guard case .trimmed(let hasMore) = try audit(.trim(rule, now: now, limit: limit)) else {
      return false
    }
    return hasMore
  }
}
