public import GatewayPorts
public import StoreRecords

/// Maintenance that keeps a store small and fast, run while no request waits.
extension PostgresStore {
  /// Does one piece of housekeeping: a snapshot, part of a deleted note's log, or what has expired.
  ///
  /// Failures are kept quiet: the work is tried again after ``retryChores()``, and what matters fails again where a
  /// client is answered. Several nodes may do it at once; one does it at a time, the others leave it to that one.
  ///
  /// - Returns: Whether there is more to do now.
  public func maintain() -> Bool {
    guard sharing != .reading else { return false }
    do throws(StoreError) {
      _ = try doChore()
      return hasChores
    } catch {
      return false
    }
  }

  /// Runs `body` in a transaction, unless another node is at such work; then returns `nil`.
  package func alone<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try transaction { () throws(StoreError) -> Result? in
      guard try takes(.maintenance) else { return nil }
      return try body()
    }
  }

  /// Takes a lock to the transaction's end, if no other process holds it.
  func takes(_ lock: PostgresSchema.Lock) throws(StoreError) -> Bool {
    try first(
      "SELECT pg_try_advisory_xact_lock(\(PostgresSchema.lockSpace), \(lock.rawValue))"
    ) { $0.bool(0) } == true
  }

  /// Compacts the logs of all documents by a rule.
  ///
  /// - Parameters:
  ///   - retention: What is kept.
  ///   - now: The time that ages are counted from.
  /// - Returns: How many notes were compacted.
  @discardableResult
  public func compact(keeping retention: Retention, now: Timestamp) throws(StoreError) -> Int {
    let count = try compactAll(keeping: retention, now: now)
    while maintain() {}
    return count
  }

  package func removeSomeCompacted() throws(StoreError) {
    hasCompacted = try alone { () throws(StoreError) in try removeCompacted() } ?? false
  }

  /// Removes some entries that lie before their log's base; whether there may be more.
  ///
  /// - Complexity: O(1): some documents are looked at, in the order of their numbers.
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
}
