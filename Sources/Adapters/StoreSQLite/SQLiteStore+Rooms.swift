public import GatewayPorts
package import StoreRecords

/// Rooms' rows.
extension SQLiteStore {
  package func heads(of names: [RoomName]) throws(StoreError) -> [RoomHead] {
    var heads: [RoomHead] = []
    for name in names {
      let row = try row(of: name)
      let position = if let row { row.position } else { try emptyPosition() }
      heads.append(RoomHead(position: position, time: row?.time ?? 0))
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

  /// Removes the records of rooms that hold nothing and in which nothing was published for long;
  /// never while a client is connected.
  ///
  /// - Parameter time: The last publication is to be older than this.
  /// - Returns: How many were removed.
  /// - Complexity: O(*n*) rooms.
  @discardableResult
  public func removeEmptyRooms(idleSince time: Timestamp) throws(StoreError) -> Int {
    try transaction { () throws(StoreError) in try removeEmptyRows(idleSince: time) }
  }

  /// Gives every room another epoch.
  func renewRoomEpochs(_ names: some NameSource) throws(StoreError) {
    try change("UPDATE room_epoch SET epoch = $1", names.next())
    for row in try rows(Self.selectRooms + " ORDER BY number", read: readRoom) {
      var row = row
      row.epoch = names.next()
      try write(row)
    }
  }
}
