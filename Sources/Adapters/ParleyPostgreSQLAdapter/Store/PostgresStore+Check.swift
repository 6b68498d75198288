import ParleyGatewayPorts
public import ParleyStoreRecords

/// Verification of a whole store.
extension PostgresStore {
  /// Reads every log from its base to its head, and verifies the data derived from it.
  ///
  /// Every checksum is recomputed. A snapshot must equal the fold of its log, and a mark the last
  /// entry of its client. Each note is read on one snapshot of the database, while other processes
  /// may write.
  ///
  /// - Parameter progress: Called with the number of notes read so far, and the total.
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
