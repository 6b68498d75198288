package import ParleyGatewayPorts

/// The rows of rooms.
package protocol RoomTable: SQLConnection {
  /// A room's row, if there is one.
  func row(of name: RoomName) throws(StoreError) -> RoomRow?

  /// Reads a room's row, or adds one.
  func rowMade(for name: RoomName) throws(StoreError) -> RoomRow

  func write(_ row: RoomRow) throws(StoreError)

  /// The heads of rooms, whether they have rows or not.
  func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead]
}

/// The times at which people were online.
package protocol PeopleTable: RoomTable {
  /// Records that people were online at a time.
  func note(online people: [PersonID], _ time: Timestamp) throws(StoreError)

  /// The times at which people were online last.
  func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?]
}

/// Reading of rooms' rows, and the position of rooms without one.
package struct RoomRecords<Store: SQLConnection> {
  private let store: Store

  package init(store: Store) { self.store = store }

  /// The position of a room that has no row.
  package func emptyPosition() throws(StoreError) -> RoomPosition {
    RoomPosition(epoch: try firstEpoch(), offset: 0)
  }

  package func firstEpoch() throws(StoreError) -> String {
    guard let epoch = try store.first("SELECT epoch FROM room_epoch", read: { $0.text(0) }) else {
      throw .damaged("the rooms' epoch is missing; \(damageAdvice)")
    }
    return epoch
  }

  package static var select: String {
    "SELECT number, name, epoch, head, time, checksum FROM rooms"
  }

  package func read(_ found: Store.Row) throws(StoreError) -> RoomRow {
    let row = RoomRow(
      number: found.integer(0), name: found.text(1), epoch: found.text(2),
      head: found.integer(3), time: Timestamp(found.integer(4)))
    // Nothing was written to a new one yet.
    let isNew = found.withBytes(5) { $0.isEmpty } && row.head == 0 && row.time == 0
    guard
      isNew || found.withBytes(5, { RecordChecksum($0) }) == store.context.hasher.checksum(of: row)
    else {
      throw .damaged("a room's record differs from its checksum; \(damageAdvice)")
    }
    return row
  }
}
