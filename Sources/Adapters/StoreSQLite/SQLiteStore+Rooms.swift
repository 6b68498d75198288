public import GatewayPorts
package import StoreRecords

/// Rooms' rows.
extension SQLiteStore {
  package func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead] {
    let none = RoomHead(position: try emptyPosition(), time: 0)
    var heads: [RoomHead] = []
    for name in names {
      let row = try row(of: name)
      heads.append(row.map { RoomHead(position: $0.position, time: $0.time) } ?? none)
    }
    return heads
  }

  package func row(of name: RoomName) throws(StoreError) -> RoomRow? {
    try first(Self.selectRooms + " WHERE name = $1", name, read: readRoom)
  }

  /// A room's row, made if there is none.
  package func rowMade(for name: RoomName) throws(StoreError) -> RoomRow {
    if let row = try row(of: name) { return row }
    let epoch = try firstEpoch()
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
      "UPDATE rooms SET epoch = $2, head = $3, time = $4, checksum = $5 WHERE number = $1",
      row.number, row.epoch, row.head, row.time, hasher.checksum(of: row))
  }

  /// Removes the records of rooms that hold nothing and in which nothing was published for long.
  ///
  /// Such a room begins anew if it is used again. No position of it may come twice, so rooms without
  /// a record get another epoch then; whoever comes back to one with a position of before is told
  /// that it is not known any more. That is why it is done before anybody is connected.
  ///
  /// - Parameter time: The last publication is to be older than this.
  /// - Returns: How many were removed.
  /// - Complexity: O(*n*) rooms.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    let rooms = try sql(
      """
      SELECT number FROM rooms WHERE time < ?
        AND NOT EXISTS (SELECT 1 FROM publications WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM publication_keys WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM room_members WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM receipts WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM flags WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM likes WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM chat_groups WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM read_marks WHERE room = number)
      """
    ).rows(time) { $0.integer(0) }
    guard !rooms.isEmpty else { return 0 }
    try transaction { () throws(StoreError) in
      for room in rooms { try sql("DELETE FROM rooms WHERE number = ?").run(room) }
      try sql("UPDATE room_epoch SET epoch = ?").run(freshName())
    }
    return rooms.count
  }

  /// Gives every room another epoch.
  func renewRoomEpochs(_ names: some NameSource) throws(StoreError) {
    try sql("UPDATE room_epoch SET epoch = ?").run(names.next())
    for row in try rows(Self.selectRooms + " ORDER BY number", read: readRoom) {
      var row = row
      row.epoch = names.next()
      try write(row)
    }
  }
}
