import GatewayPorts
import OTCore
public import StoreRecords

/// Reading all of a store.
extension SQLiteStore {
  /// Walks every log from its base to its head, and compares what was derived from it.
  ///
  /// Every checksum is computed anew; snapshots have to equal the fold of their log, marks the last
  /// entry of their client. Other work on the store has to wait meanwhile, unless it is done through
  /// another instance.
  ///
  /// - Parameter progress: Told the number of notes read so far, and of all.
  /// - Complexity: O(*n*) bytes of the file.
  public func check(progress: (Int, Int) -> Void = { _, _ in }) -> StoreFindings {
    var findings = StoreFindings()
    do throws(StoreError) {
      try sql("BEGIN").run()
    } catch {
      findings.add(nil, error)
      return findings
    }
    defer { endReading() }
    do throws(StoreError) {
      try checkFile(&findings)
      try checkMeta(&findings)
      let ids = try texts("SELECT id FROM documents ORDER BY number")
      findings.notes = ids.count
      for (number, id) in ids.enumerated() {
        do throws(StoreError) {
          try check(existingRow(id), &findings)
        } catch {
          findings.add(id, error)
        }
        progress(number + 1, ids.count)
      }
      for row in try deletedRows() {
        do throws(StoreError) {
          guard let row else { throw Self.damagedDeletion }
          try check(row, &findings)
        } catch {
          findings.add(row?.id, error)
        }
      }
      try checkOrphans(&findings)
      try checkRooms(&findings)
      do throws(StoreError) {
        try checkAnswers()
      } catch {
        findings.add(nil, error)
      }
      try checkFiles(&findings)
    } catch {
      findings.add(nil, error)
    }
    return findings
  }

  /// Whether SQLite finds its own structures whole.
  private func checkFile(_ findings: inout StoreFindings) throws(StoreError) {
    for line in try texts("PRAGMA integrity_check(20)") where line != "ok" {
      // SQLite names pages and tables here, never what stands in them.
      findings.add(nil, "SQLite: \(line)")
    }
  }

  private func checkMeta(_ findings: inout StoreFindings) throws(StoreError) {
    for name in try texts("SELECT name FROM meta") {
      do throws(StoreError) {
        _ = try meta(name)
      } catch {
        findings.add(nil, error)
      }
    }
  }

  private func checkOrphans(_ findings: inout StoreFindings) throws(StoreError) {
    for table in ["log", "marks", "snapshots", "epochs", "versions", "note_files", "comments"] {
      let orphans = try texts(
        """
        SELECT DISTINCT document FROM \(table) WHERE document NOT IN
          (SELECT number FROM documents UNION ALL SELECT number FROM deleted_documents
            UNION ALL SELECT document FROM garbage)
        """)
      if !orphans.isEmpty {
        findings.add(
          nil, "rows of \(orphans.count) notes without a record in \(table); \(damageAdvice)")
      }
    }
  }

  // MARK: One document

  private func check(_ row: DocumentRow, _ findings: inout StoreFindings) throws(StoreError) {
    let marks = try marks(of: row)
    let versions = try versions(of: row)
    findings.versions += versions.count
    try checkComments(of: row, &findings)
    let snapshots = try snapshotRevisions(of: row)
    for revision in snapshots where revision < row.base {
      // Its log is gone: its own checksum has to do.
      _ = try snapshot(of: row, through: revision)
      findings.snapshots += 1
    }
    for version in versions
    where version.revision > row.revision
      || (version.revision < row.base && version.revision > 0
        && !snapshots.contains(version.revision))
    {
      findings.add(row.id, "the version at revision \(version.revision) has no text")
    }

    var due = snapshots.filter { $0 > row.base }[...]
    var last: [String: ClientMark] = [:]
    var fold = try Fold(snapshot(of: row, through: row.base))
    guard fold.revision == row.base, fold.chain == row.baseChain else {
      throw .damaged("the text at revision \(row.base) is missing; \(damageAdvice)")
    }
    if snapshots.contains(row.base) { findings.snapshots += 1 }
    try walk(row, after: row.base, through: row.revision, chain: row.baseChain) {
      entry throws(StoreError) in
      try entry.apply(to: &fold)
      let logEntry = entry.logEntry()
      if logEntry.sequence > 0 {
        last[logEntry.client] = ClientMark(
          sequence: logEntry.sequence, revision: logEntry.revision, digest: logEntry.digest)
      }
      findings.entries += 1
      if due.first == entry.revision {
        due.removeFirst()
        findings.snapshots += 1
        let kept = try snapshot(of: row, through: entry.revision)
        let folded = fold.snapshot
        if kept.text != folded.text || kept.authors != folded.authors
          || kept.chain != folded.chain || kept.time != folded.time
        {
          findings.add(
            row.id, "the text kept of revision \(entry.revision) is not the fold of the log")
        }
      }
    }
    if fold.document.scalarCount != row.length {
      findings.add(row.id, "the fold of the log has another length than the note's record says")
    }
    if let revision = due.first {
      findings.add(row.id, "the text kept of revision \(revision) lies beyond the head")
    }
    for (client, mark) in last where marks[client] != mark {
      findings.add(row.id, "a client's mark is not its last entry, of revision \(mark.revision)")
    }
    for (client, mark) in marks where last[client] == nil && mark.revision > row.base {
      findings.add(row.id, "a client's mark names revision \(mark.revision), which is another's")
    }
    let beyond = try texts(
      "SELECT revision FROM log WHERE document = \(row.number) AND revision > \(row.revision)")
    if let revision = beyond.first {
      findings.add(row.id, "the log has entries from revision \(revision) on, beyond the head")
    }
  }

  /// The first column of a query's rows, as text.
  func texts(_ sql: String) throws(StoreError) -> [String] {
    let statement: SQLiteStatement
    do throws(SQLiteFailure) {
      statement = try SQLiteStatement(connection, sql)
    } catch {
      throw error.storeError
    }
    var texts: [String] = []
    while try statement.step() { texts.append(statement.text(0)) }
    return texts
  }
}
