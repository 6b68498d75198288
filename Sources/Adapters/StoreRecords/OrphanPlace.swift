/// The place up to which a table of receipts or likes was looked through for those of publications that are gone.
package struct OrphanPlace {
  /// Rows that are looked at in one go.
  package static let sliceCount = 5_000

  package var room: Int
  package var offset: Int
  package var person: String

  /// Makes a place, before all rows if none is named.
  package init(room: Int = 0, offset: Int = 0, person: String = "") {
    self.room = room
    self.offset = offset
    self.person = person
  }
}
