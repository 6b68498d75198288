package import GatewayPorts
package import StoreRecords

/// The times of a log. Places where the clock was set back are kept in the note's row, for there are
/// few and often none.
extension PostgresStore {
  /// Places kept for one document; beyond, the oldest are forgotten.
  private static let setBacksMax = 1_000

  // MARK: Where the clock was set back

  /// The revisions before which the clock was set back, ascending.
  package func setBacks(of row: DocumentRow) throws(StoreError) -> [Int] {
    try rows(
      "SELECT DISTINCT unnest(set_backs) AS revision FROM parley.documents WHERE number = $1 ORDER BY 1",
      row.number
    ) { $0.integer(0) }
  }

  /// Takes a time into a document's row, and notes where the clock was set back.
  ///
  /// - Parameter revision: The first one that may have the new time.
  package func note(_ time: Timestamp, before revision: Int, in row: inout DocumentRow) {
    if TimeOrder.isSetBack(from: row.updatedAt, to: time) {
      change(
        """
        UPDATE parley.documents SET set_backs =
          (set_backs || $2::bigint)[greatest(cardinality(set_backs) + 2 - $3, 1):]
        WHERE number = $1
        """, row.number, revision, Self.setBacksMax)
    }
    row.updatedAt = TimeOrder.following(row.updatedAt, time)
  }

  /// They go with the note's row.
  package func forgetSetBacks(ofDocument number: Int) {}
}
