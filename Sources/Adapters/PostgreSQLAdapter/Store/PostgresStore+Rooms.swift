public import GatewayPorts
package import StoreRecords

/// Rooms' rows.
extension PostgresStore {
  /// In one statement.
  package func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead] {
    let found = try rows(Self.selectRooms + " WHERE name = ANY ($1)", names) {
      row throws(StoreError) in
      let room = try readRoom(row)
      return (ExactName(room.name), RoomHead(position: room.position, time: room.time))
    }
    let heads = Dictionary(found) { $1 }
    let none = RoomHead(position: try emptyPosition(), time: 0)
    return names.map { heads[ExactName($0)] ?? none }
  }

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    if let known = rooms[ExactName(name)] { return known }
    let row = try first(Self.selectRooms + " WHERE name = $1", name, read: readRoom)
    rooms[ExactName(name)] = .some(row)
    return row
  }

  /// A room's row, which was made with the locks if there was none.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    guard let row = try row(of: name) else {
      throw .unavailable("another node removed the room's record meanwhile; send again")
    }
    unneededRooms.remove(ExactName(name))
    return row
  }

  /// Removes the rows that were added with the locks for requests that were refused.
  func removeUnneededRooms() {
    guard !unneededRooms.isEmpty else { return }
    change(
      "DELETE FROM rooms WHERE number = ANY ($1)",
      unneededRooms.compactMap { rooms[$0].flatMap(\.self)?.number }.sorted())
  }

  package func write(_ row: RoomRow) {
    change(
      "UPDATE rooms SET epoch = $2, head = $3, time = $4, checksum = $5 WHERE number = $1",
      row.number, row.epoch, row.head, row.time, hasher.checksum(of: row))
    rooms[ExactName(row.name)] = row
  }

  /// Removes the records of rooms that hold nothing and in which nothing was published for long;
  /// never while other processes work with the database, for their clients may be connected there.
  ///
  /// - Returns: How many were removed.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    guard sharing != .reading else { return 0 }
    return try transaction { () throws(StoreError) in
      // Each node holds this lock shared, this one too: it is had alone by the first to come. Who
      // comes meanwhile waits for it.
      guard try takes(.store) else { return 0 }
      return try removeEmptyRows(idleSince: time)
    }
  }
}
