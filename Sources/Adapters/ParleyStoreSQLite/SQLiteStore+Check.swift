import ParleyGatewayPorts
public import ParleyStoreRecords

/// Reading all of a store.
extension SQLiteStore {
  /// Walks every log from its base to its head, and compares what was derived from it.
  ///
  /// Every checksum is computed again; snapshots have to equal the fold of their log, marks the
  /// last entry of their client. Other work on the store has to wait meanwhile, unless it is done
  /// through another instance.
  ///
  /// - Parameter progress: Told the number of notes read so far, and of all.
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

  /// Whether SQLite finds its own structures whole.
  private func checkFile(_ findings: inout StoreFindings) throws(StoreError) {
    for line in try texts("PRAGMA integrity_check(20)") where line != "ok" {
      // SQLite names pages and tables here, never their contents.
      findings.add(nil, "SQLite: \(line)")
    }
  }

  /// The first column of a query's rows, as text.
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
