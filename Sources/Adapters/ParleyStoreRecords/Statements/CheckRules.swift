package import ParleyGatewayPorts
import OTCore

/// Verification of a whole store.
package struct CheckRules<Store: SQLStore> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var texts: TextRules<Store> { TextRules(store: store) }

  package init(store: Store) { self.store = store }

  /// Reads every log from its base to its head, and verifies the data derived from it.
  ///
  /// Every checksum is recomputed. A snapshot must equal the fold of its log, and a mark the last
  /// entry of its client.
  package func check(
    _ findings: inout StoreFindings, progress: (Int, Int) -> Void
  ) throws(StoreError) {
    findings.add(try store.reading { () throws(StoreError) in try checkMeta() })
    let ids: [DocumentID] = try store.reading { () throws(StoreError) in
      try store.rows("SELECT id FROM documents ORDER BY number") { $0.name(0) }
    }
    findings.notes = ids.count
    let deleted = try store.reading { () throws(StoreError) in
      try store.rows("SELECT number, id FROM deleted_documents ORDER BY number") {
        (number: $0.integer(0), id: DocumentID($0.text(1)))
      }
    }
    for (number, id) in deleted {
      do throws(StoreError) {
        let found = try store.reading { () throws(StoreError) in
          try finding(id) { found throws(StoreError) in
            if let row = try DeletionRules(store: store).deletedRow(number: number) {
              try check(row, &found)
            }
          }
        }
        findings.add(found)
      } catch {
        findings.add(id, error)
      }
    }
    for (number, id) in ids.enumerated() {
      do throws(StoreError) {
        let found = try store.reading { () throws(StoreError) in
          try finding(id) { found throws(StoreError) in
            // The note may have been deleted meanwhile.
            if let row = try store.row(id) { try check(row, &found) }
          }
        }
        findings.add(found)
      } catch {
        findings.add(id, error)
      }
      progress(number + 1, ids.count)
    }
    findings.add(
      try store.reading { () throws(StoreError) in
        var rest = StoreFindings()
        rest.add(try finding(nil) { found throws(StoreError) in try checkOrphans(&found) })
        rest.add(
          try finding(nil) { found throws(StoreError) in try RoomRules(store: store).check(&found) }
        )
        rest.add(
          try finding(nil) { found throws(StoreError) in try OnceRules(store: store).check() })
        rest.add(
          try finding(nil) { found throws(StoreError) in try FileRules(store: store).check(&found) }
        )
        rest.add(
          try finding(nil) { found throws(StoreError) in try NameRules(store: store).check(&found) }
        )
        rest.add(
          try finding(nil) { found throws(StoreError) in
            try AuditRules(store: store).check(&found)
          })
        rest.add(
          try finding(nil) { found throws(StoreError) in
            try NoticeRules(store: store).check(&found)
          })
        return rest
      })
  }

  /// Returns the findings of one check, including the error that ended it.
  private func finding(
    _ id: DocumentID?, _ check: (inout StoreFindings) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreFindings {
    var findings = StoreFindings()
    do throws(StoreError) {
      try check(&findings)
    } catch {
      try store.throwConnectionFailure()
      findings.add(id, error)
    }
    return findings
  }

  private func checkMeta() throws(StoreError) -> StoreFindings {
    var findings = StoreFindings()
    for name in try store.rows("SELECT name FROM meta", read: { $0.text(0) }) {
      do throws(StoreError) {
        _ = try MetaTable(store: store).meta(name)
      } catch {
        try store.throwConnectionFailure()
        findings.add(nil, error)
      }
    }
    return findings
  }

  private func checkOrphans(_ findings: inout StoreFindings) throws(StoreError) {
    for table in [
      "log", "marks", "snapshots", "epochs", "versions", "note_files", "comments", "notices",
    ] {
      let orphans = try store.first(
        """
        SELECT count(DISTINCT t.document) FROM \(table) t
        WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = t.document)
          AND NOT EXISTS (SELECT 1 FROM deleted_documents d WHERE d.number = t.document)
          AND NOT EXISTS (SELECT 1 FROM garbage g WHERE g.document = t.document)
        """
      ) { $0.integer(0) }
      if let orphans, orphans > 0 {
        findings.add(nil, "rows of \(orphans) notes without a record in \(table); \(damageAdvice)")
      }
    }
  }

  /// Verifies one document.
  private func check(
    _ row: DocumentRow, _ findings: inout StoreFindings
  ) throws(StoreError) {
    let marks = try store.marks(of: row)
    _ = try logs.epochs(of: row)
    let versions = try VersionRules(store: store).versions(of: row)
    findings.versions += versions.count
    try CommentRules(store: store).check(of: row, &findings)
    let snapshots = try CompactionRules(store: store).snapshotRevisions(of: row)
    for revision in snapshots where revision < row.base {
      // Its entries are compacted away, so only its own checksum can be verified.
      _ = try texts.snapshot(of: row, through: revision)
      findings.snapshots += 1
    }
    for version in versions
    where version.revision > row.revision
      || (version.revision < row.base && version.revision > 0
        && !snapshots.contains(version.revision))
    {
      findings.add(row.id, "the version at revision \(version.revision) has no text")
    }
    let last = try checkLog(row, snapshots, &findings)
    for (client, mark) in last where marks[client] != mark {
      findings.add(row.id, "a client's mark is not its last entry, of revision \(mark.revision)")
    }
    for (client, mark) in marks where last[client] == nil && mark.revision > row.base {
      findings.add(row.id, "a client's mark names revision \(mark.revision), which is another's")
    }
    let beyond = try store.first(
      "SELECT min(revision) FROM log WHERE document = $1 AND revision > $2", row.number,
      row.revision
    ) { $0.isNull(0) ? nil : $0.integer(0) }
    if let revision = beyond ?? nil {
      findings.add(row.id, "the log has entries from revision \(revision) on, beyond the head")
    }
  }

  /// Folds a document's log, and compares the stored snapshots with the fold.
  ///
  /// - Returns: The last entry of each client.
  private func checkLog(
    _ row: DocumentRow, _ snapshots: [Int], _ findings: inout StoreFindings
  ) throws(StoreError) -> [String: ClientMark] {
    var due = snapshots.filter { $0 > row.base }[...]
    var last: [String: ClientMark] = [:]
    var isFormatted = false
    var fold = try Fold(texts.snapshot(of: row, through: row.base))
    guard fold.revision == row.base, fold.chain == row.baseChain else {
      throw .damaged("the text at revision \(row.base) is missing; \(damageAdvice)")
    }
    if snapshots.contains(row.base) { findings.snapshots += 1 }
    try logs.walk(row, after: row.base, through: row.revision, chain: row.baseChain) {
      stored throws(StoreError) in
      try stored.apply(to: &fold)
      let entry = stored.logEntry()
      isFormatted = isFormatted || entry.format != nil
      if entry.sequence > 0 {
        last[entry.client] = ClientMark(
          sequence: entry.sequence, revision: entry.revision, digest: entry.digest)
      }
      findings.entries += 1
      guard due.first == entry.revision else { return }
      due.removeFirst()
      findings.snapshots += 1
      let kept = try texts.snapshot(of: row, through: entry.revision)
      if kept != fold.snapshot {
        findings.add(
          row.id, "the stored text of revision \(entry.revision) is not the result of the log")
      }
    }
    if fold.content.text.scalarCount != row.length {
      findings.add(row.id, "the fold of the log has another length than the note's record says")
    }
    if isFormatted || fold.content.document.hasAttributes, row.kind == .plain {
      findings.add(row.id, "the log has formatting, and the note's record says that it is plain")
    }
    if let revision = due.first {
      findings.add(row.id, "the stored text of revision \(revision) is beyond the head")
    }
    return last
  }
}
