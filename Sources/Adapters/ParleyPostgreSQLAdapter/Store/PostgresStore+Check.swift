import ParleyGatewayPorts
public import ParleyStoreRecords

/// Reading all of a store.
extension PostgresStore {
  /// Walks every log from its base to its head, and compares what was derived from it.
  ///
  /// Every checksum is computed again; snapshots have to equal the fold of their log, marks the
  /// last entry of their client. All of it is read as of one moment for each note, while others
  /// write.
  ///
  /// - Parameter progress: Told the number of notes read so far, and of all.
  /// - Complexity: O(*n*) bytes of the database.
  public func check(progress: (Int, Int) -> Void = { _, _ in }) -> StoreFindings {
    var findings = StoreFindings()
    do throws(StoreError) {
      try CheckRules(store: database).check(&findings, progress: progress)
    } catch {
      findings.add(nil, error)
    }
    return findings
  }
}
