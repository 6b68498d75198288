/// The statements for rooms, prepared when the store is opened.
struct RoomStatements {
  let selectEpoch: SQLiteStatement
  let updateEpoch: SQLiteStatement
  let selectRoom: SQLiteStatement
  let selectRooms: SQLiteStatement
  let selectEmptyRooms: SQLiteStatement
  let deleteRoom: SQLiteStatement
  let insertRoom: SQLiteStatement
  let updateRoom: SQLiteStatement

  let selectAfter: SQLiteStatement
  let selectBefore: SQLiteStatement
  let insertPublication: SQLiteStatement
  let deleteThrough: SQLiteStatement
  let deleteExpired: SQLiteStatement
  let selectNewestTime: SQLiteStatement
  let selectRoomsAhead: SQLiteStatement
  let redatePublications: SQLiteStatement
  let redateKeys: SQLiteStatement

  let selectKey: SQLiteStatement
  let upsertKey: SQLiteStatement
  let deleteExpiredKeys: SQLiteStatement

  init(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    selectEpoch = try SQLiteStatement(connection, "SELECT epoch FROM room_epoch")
    updateEpoch = try SQLiteStatement(connection, "UPDATE room_epoch SET epoch = ?")
    let room = "SELECT number, name, epoch, head, time, checksum FROM rooms"
    selectRoom = try SQLiteStatement(connection, room + " WHERE name = ?")
    selectRooms = try SQLiteStatement(connection, room + " ORDER BY number")
    selectEmptyRooms = try SQLiteStatement(
      connection,
      """
      SELECT number FROM rooms WHERE time < ?
        AND NOT EXISTS (SELECT 1 FROM publications WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM publication_keys WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM room_members WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM receipts WHERE room = number)
        AND NOT EXISTS (SELECT 1 FROM flags WHERE room = number)
      """)
    deleteRoom = try SQLiteStatement(connection, "DELETE FROM rooms WHERE number = ?")
    insertRoom = try SQLiteStatement(
      connection, "INSERT INTO rooms (name, epoch, head, time, checksum) VALUES (?, ?, 0, 0, x'')")
    updateRoom = try SQLiteStatement(
      connection,
      "UPDATE rooms SET epoch = ?2, head = ?3, time = ?4, checksum = ?5 WHERE number = ?1"
    )

    let publication = """
      SELECT offset, time, person, sender, data, checksum FROM publications
      WHERE room = ?1 AND offset > ?2 AND offset < ?3 AND time > ?4
      """
    selectAfter = try SQLiteStatement(connection, publication + " ORDER BY offset LIMIT ?5")
    selectBefore = try SQLiteStatement(connection, publication + " ORDER BY offset DESC LIMIT ?5")
    insertPublication = try SQLiteStatement(
      connection,
      """
      INSERT INTO publications (room, offset, time, expires, person, sender, data, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """)
    deleteThrough = try SQLiteStatement(
      connection, "DELETE FROM publications WHERE room = ? AND offset <= ?")
    deleteExpired = try SQLiteStatement(
      connection,
      """
      DELETE FROM publications WHERE (room, offset) IN
        (SELECT room, offset FROM publications WHERE expires <= ? ORDER BY expires LIMIT 500)
      """)

    selectNewestTime = try SQLiteStatement(connection, "SELECT max(time) FROM rooms")
    selectRoomsAhead = try SQLiteStatement(
      connection, "SELECT number FROM rooms WHERE time > ?")
    // What expires before its time has been done before. The time itself is what was told.
    redatePublications = try SQLiteStatement(
      connection,
      """
      UPDATE publications SET expires = ?2 + (expires - time)
      WHERE room = ?1 AND time > ?3 AND expires > time
      """)
    redateKeys = try SQLiteStatement(
      connection,
      """
      UPDATE publication_keys SET expires = ?2 + (expires - time)
      WHERE room = ?1 AND time > ?3 AND expires > time
      """)

    selectKey = try SQLiteStatement(
      connection,
      """
      SELECT offset, time, digest FROM publication_keys
      WHERE room = ? AND key = ? AND expires > ?
      """)
    upsertKey = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO publication_keys (room, key, offset, time, digest, expires)
      VALUES (?, ?, ?, ?, ?, ?)
      """)
    deleteExpiredKeys = try SQLiteStatement(
      connection,
      """
      DELETE FROM publication_keys WHERE (room, key) IN
        (SELECT room, key FROM publication_keys WHERE expires <= ? ORDER BY expires LIMIT 500)
      """)
  }
}
