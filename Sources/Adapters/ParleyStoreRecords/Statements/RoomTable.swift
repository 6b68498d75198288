package import ParleyGatewayPorts

/// A connection to a store that contains rooms.
package protocol RoomTable: SQLConnection {
  /// Returns a room's row; `nil` if the room has no row.
  func row(of name: RoomName) throws(StoreError) -> RoomRow?

  /// Returns a room's row, and inserts it if it is missing.
  func rowMade(for name: RoomName) throws(StoreError) -> RoomRow

  func write(_ row: RoomRow) throws(StoreError)

  /// Returns the heads of rooms, including rooms without a row.
  func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead]

  /// Returns the values of some names in a room. Names without a value are missing.
  func values(of room: Int, named names: [ValueName]) throws(StoreError) -> [NamedValue]
}

/// A connection to a store that contains the times at which people were last online.
package protocol PeopleTable: RoomTable {
  /// Records the time at which people were online.
  func note(online people: [PersonID], _ time: Timestamp) throws(StoreError)

  /// Returns the time at which each person was last online; `nil` if unknown.
  func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?]
}

/// The reading of rooms' rows, and the position of rooms without a row.
package struct RoomRecords<Store: SQLConnection> {
  private let store: Store

  package init(store: Store) { self.store = store }

  /// Returns the position of a room without a row.
  package func emptyPosition() throws(StoreError) -> RoomPosition {
    RoomPosition(epoch: try firstEpoch(), offset: 0)
  }

  package func firstEpoch() throws(StoreError) -> Epoch {
    guard let epoch = try store.first("SELECT epoch FROM room_epoch", read: { $0.name(0) as Epoch })
    else {
      throw .damaged("the rooms' epoch is missing; \(damageAdvice)")
    }
    return epoch
  }

  package static var select: String {
    "SELECT number, name, epoch, head, time, checksum, value_names, value_bytes FROM rooms"
  }

  package func read(_ found: Store.Row) throws(StoreError) -> RoomRow {
    let row = RoomRow(
      number: found.integer(0), name: found.name(1), epoch: found.name(2),
      head: found.integer(3), time: Timestamp(found.integer(4)),
      values: ValueTotals(names: found.integer(6), bytes: found.integer(7)))
    // A new row has no checksum yet.
    let isNew = found.withBytes(5) { $0.isEmpty } && row.head == 0 && row.time == 0
    guard
      isNew || found.withBytes(5, { RecordChecksum($0) }) == store.context.hasher.checksum(of: row)
    else {
      throw .damaged("a room's record differs from its checksum; \(damageAdvice)")
    }
    return row
  }
}
