import ParleyGatewayPorts
public import ParleyStoreRecords

/// Verification of a whole store.
extension SQLiteStore {
  /// Reads every log from its base to its head, and verifies the data derived from it.
  ///
  /// Every checksum is recomputed. A snapshot must equal the fold of its log, and a mark the last
  /// entry of its client. Requests to this instance wait until the check ends; requests to another
  /// instance do not.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and the total.
  /// - Complexity: O(*n*) bytes of the file.
  public func check(progress: (Int, Int) -> Void = { _, _ in }) -> StoreFindings {
    var findings = StoreFindings()
    if lacksLog { findings.add(nil, Self.logMissing) }
    do throws(StoreError) {
      try database.reading { () throws(StoreError) in
        try checkFile(&findings)
        try CheckRules(store: database).check(&findings, progress: progress)
      }
    } catch {
      findings.add(nil, error)
    }
    return findings
  }

  /// Verifies SQLite's own structures.
  private func checkFile(_ findings: inout StoreFindings) throws(StoreError) {
    for line in try texts("PRAGMA integrity_check(20)") where line != "ok" {
      // SQLite's messages contain numbers of pages and names of tables, never contents.
      findings.add(nil, "SQLite: \(line)")
    }
  }

  /// Returns the first column of a query's rows, as text.
  func texts(_ sql: String) throws(StoreError) -> [String] {
    let statement: SQLiteStatement
    do throws(SQLiteFailure) {
      statement = try SQLiteStatement(database.connection, sql)
    } catch {
      throw error.storeError
    }
    var texts: [String] = []
    while try statement.step() { texts.append(statement.text(0)) }
    return texts
  }
}
