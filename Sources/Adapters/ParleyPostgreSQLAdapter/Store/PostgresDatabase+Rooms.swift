package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Rows of rooms.
extension PostgresDatabase: RoomTable {
  var records: RoomRecords<PostgresDatabase> { RoomRecords(store: self) }

  /// Reads all rooms in one statement.
  package func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead] {
    let found = try rows(RoomRecords<PostgresDatabase>.select + " WHERE name = ANY ($1)", names) {
      row throws(StoreError) in
      let room = try records.read(row)
      return (room.name, RoomHead(position: room.position, time: room.time))
    }
    let heads = Dictionary(found) { $1 }
    let none = RoomHead(position: try records.emptyPosition(), time: 0)
    return names.map { heads[$0] ?? none }
  }

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    if let known = known.rooms[name] { return known }
    let row = try first(
      RoomRecords<PostgresDatabase>.select + " WHERE name = $1", name, read: records.read)
    known.rooms[name] = .some(row)
    return row
  }

  /// Returns a room's row, which locking has inserted if it was missing.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    guard let row = try row(of: name) else {
      throw .unavailable("another node removed the room's record meanwhile; send again")
    }
    known.unneededRooms.remove(name)
    return row
  }

  /// Deletes rows that locking has inserted for requests that were rejected.
  func removeUnneededRooms() {
    guard !known.unneededRooms.isEmpty else { return }
    change(
      "DELETE FROM rooms WHERE number = ANY ($1)",
      known.unneededRooms.compactMap { known.rooms[$0].flatMap(\.self)?.number }.sorted())
  }

  /// Reads all values in one statement.
  package func values(
    of room: Int, named names: [ValueName]
  ) throws(StoreError) -> [NamedValue] {
    try rows(ValueRecords.select + " WHERE room = $1 AND name = ANY ($2)", room, names) {
      row throws(StoreError) in try ValueRecords.read(row, room: room, of: self)
    }
  }

  package func write(_ row: RoomRow) {
    change(
      """
      UPDATE rooms SET epoch = $2, head = $3, time = $4, checksum = $5, value_names = $6,
        value_bytes = $7
      WHERE number = $1
      """, row.number, row.epoch, row.head, row.time, context.hasher.checksum(of: row),
      row.values.names, row.values.bytes)
    known.rooms[row.name] = row
  }
}

/// The times at which people were last online.
extension PostgresDatabase: PeopleTable {
  /// Writes rows in one order, so that two nodes with the same people do not deadlock.
  package func note(online people: [PersonID], _ time: Timestamp) {
    change(
      """
      INSERT INTO last_online AS l (person, time)
      SELECT DISTINCT p.person, $2::bigint FROM unnest($1) AS p(person) ORDER BY 1
      ON CONFLICT (person) DO UPDATE SET time =
        CASE WHEN l.time::numeric - excluded.time > \(TimeOrder.adjustmentMax) THEN excluded.time
        ELSE greatest(l.time, excluded.time) END
      """, people, time)
  }

  package func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?] {
    let found = try rows(
      "SELECT person, time FROM last_online WHERE person = ANY ($1)", people
    ) { ($0.name(0) as PersonID, Timestamp($0.integer(1))) }
    let times = Dictionary(found) { $1 }
    return people.map { times[$0] }
  }
}
