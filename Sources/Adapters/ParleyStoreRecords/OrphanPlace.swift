/// The place up to which receipts and likes were looked through for those of publications that are gone.
package struct OrphanPlace {
  /// Rows that are looked at in one go.
  package static let sliceCount = 5_000

  /// The tables, in the order in which they are looked through.
  package static let tables = ["receipts", "likes"]

  package var table: Int
  package var room: Int
  package var offset: Int
  package var person: String

  /// Makes a place, before all rows if none is named.
  package init(table: Int = 0, room: Int = 0, offset: Int = 0, person: String = "") {
    self.table = table
    self.room = room
    self.offset = offset
    self.person = person
  }
}
