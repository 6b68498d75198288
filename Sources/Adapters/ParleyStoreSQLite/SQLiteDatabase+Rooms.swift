package import ParleyGatewayPorts
package import ParleyStoreRecords

/// Rows of rooms.
extension SQLiteDatabase: RoomTable {
  private var records: RoomRecords<SQLiteDatabase> { RoomRecords(store: self) }

  package func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead] {
    var heads: [RoomHead] = []
    for name in names {
      let row = try row(of: name)
      let position = if let row { row.position } else { try records.emptyPosition() }
      heads.append(RoomHead(position: position, time: row?.time ?? 0))
    }
    return heads
  }

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    try first(RoomRecords<SQLiteDatabase>.select + " WHERE name = $1", name, read: records.read)
  }

  /// Returns a room's row, and inserts it if it is missing.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    if let row = try row(of: name) { return row }
    let epoch = try records.firstEpoch()
    try change(
      "INSERT INTO rooms (name, epoch, head, time, checksum) VALUES ($1, $2, 0, 0, x'')", name,
      epoch)
    let row = RoomRow(
      number: connection.lastInsertedKey, name: name, epoch: epoch, head: 0, time: 0)
    try write(row)
    return row
  }

  package func write(_ row: RoomRow) throws(StoreError) {
    try change(
      """
      UPDATE rooms SET epoch = $2, head = $3, time = $4, checksum = $5, value_names = $6,
        value_bytes = $7
      WHERE number = $1
      """, row.number, row.epoch, row.head, row.time, context.hasher.checksum(of: row),
      row.values.names, row.values.bytes)
  }

  package func values(
    of room: Int, named names: [ValueName]
  ) throws(StoreError) -> [NamedValue] {
    var values: [NamedValue] = []
    for name in names {
      let found = try first(ValueRecords.select + " WHERE room = $1 AND name = $2", room, name) {
        row throws(StoreError) in try ValueRecords.read(row, room: room, of: self)
      }
      if let found { values.append(found) }
    }
    return values
  }

  /// Gives every room a new epoch.
  func renewRoomEpochs(_ names: some NameSource) throws(StoreError) {
    try change("UPDATE room_epoch SET epoch = $1", names.next())
    for row in try rows(RoomRecords<SQLiteDatabase>.select + " ORDER BY number", read: records.read)
    {
      var row = row
      row.epoch = Epoch(names.next())
      try write(row)
    }
  }
}

/// The times at which people were last online.
extension SQLiteDatabase: PeopleTable {
  package func note(online people: [PersonID], _ time: Timestamp) throws(StoreError) {
    for person in people {
      try change(
        """
        INSERT INTO last_online (person, time) VALUES ($1, $2)
        ON CONFLICT (person) DO UPDATE SET time =
          CASE WHEN time - excluded.time > \(TimeOrder.adjustmentMax) THEN excluded.time
          ELSE max(time, excluded.time) END
        """, person, time)
    }
  }

  package func lastOnline(_ people: [PersonID]) throws(StoreError) -> [Timestamp?] {
    var times: [Timestamp?] = []
    for person in people {
      times.append(
        try first("SELECT time FROM last_online WHERE person = $1", person) {
          Timestamp($0.integer(0))
        })
    }
    return times
  }
}
