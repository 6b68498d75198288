/// A position in the scan for receipts and likes whose publications no longer exist.
package struct OrphanPlace {
  /// Rows that are scanned in one transaction.
  package static let sliceCount = 5_000

  /// The tables, in scan order.
  package static let tables = ["receipts", "likes"]

  package var table: Int
  package var room: Int
  package var offset: Int
  package var person: String

  /// Creates a position, by default before all rows.
  package init(table: Int = 0, room: Int = 0, offset: Int = 0, person: String = "") {
    self.table = table
    self.room = room
    self.offset = offset
    self.person = person
  }
}
