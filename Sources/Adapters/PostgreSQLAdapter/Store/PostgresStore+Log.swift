package import GatewayPorts
package import StoreRecords

/// Documents' logs: reading back with every link verified.
extension PostgresStore {
  /// All marks of a document.
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
}
