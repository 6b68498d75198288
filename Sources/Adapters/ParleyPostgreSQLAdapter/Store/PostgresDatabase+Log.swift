package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Logs of documents: marks, clock set-backs, and deleting compacted entries.
extension PostgresDatabase: LogTable {
  /// Returns all marks of a document.
  package func marks(of row: DocumentRow) throws(StoreError) -> [String: ClientMark] {
    let marks = try rows(
      """
      SELECT client, sequence, revision, digest FROM parley.marks WHERE document = $1 AND sequence > 0
      """, row.number
    ) { found in
      (
        found.text(0),
        ClientMark(
          sequence: found.integer(1), revision: found.integer(2), digest: found.bits(3))
      )
    }
    return Dictionary(marks) { $1 }
  }

  package func shared(_ chain: RecordChecksum) -> LogChain? {
    isShared ? LogChain(chain, life: link.life) : nil
  }

  package func noteCompacted(_ row: DocumentRow) {
    hasCompacted = true
    compactedPlace = min(compactedPlace, row.number - 1)
  }

  package func removeSomeCompacted() throws(StoreError) {
    hasCompacted = try alone { () throws(StoreError) in try removeCompacted() } ?? false
  }

  /// Deletes some entries up to their log's base. Returns whether more may remain.
  ///
  /// - Complexity: O(1): examines a limited number of documents, in the order of their numbers.
  private func removeCompacted() throws(StoreError) -> Bool {
    let found = try first(
      """
      WITH slice AS (
        SELECT number, base FROM parley.documents WHERE number > $1 ORDER BY number LIMIT 5000)
      SELECT f.number, f.base, (SELECT max(number) FROM slice) FROM (SELECT 1) AS one LEFT JOIN LATERAL
        (SELECT number, base FROM slice s WHERE base > 0 AND EXISTS
          (SELECT 1 FROM parley.log l WHERE l.document = s.number AND l.revision <= s.base)
        ORDER BY number LIMIT 1) AS f ON true
      """, compactedPlace, read: { $0 })
    guard let row = found, !row.isNull(2) else {
      compactedPlace = 0
      return false
    }
    guard !row.isNull(0) else {
      compactedPlace = row.integer(2)
      return true
    }
    compactedPlace = row.integer(0) - 1
    change(
      """
      DELETE FROM parley.log WHERE document = $1 AND revision <= $2
        AND revision < (SELECT min(revision) FROM parley.log WHERE document = $1) + 1000
      """, row.integer(0), row.integer(1))
    return true
  }

  // MARK: Clock set-backs

  /// Returns the revisions before which the clock was set back, ascending.
  package func setBacks(of row: DocumentRow) throws(StoreError) -> [Int] {
    try rows(
      "SELECT DISTINCT unnest(set_backs) AS revision FROM parley.documents WHERE number = $1 ORDER BY 1",
      row.number
    ) { $0.integer(0) }
  }

  /// Does nothing: they are deleted with the note's row.
  package func forgetSetBacks(ofDocument number: Int) {}
}
