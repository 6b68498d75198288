import GatewayPorts

/// The statements for people in rooms, prepared when the store is opened.
struct PeopleStatements {
  let selectAuthor: SQLiteStatement
  let selectReceipt: SQLiteStatement
  let selectReceipts: SQLiteStatement
  let upsertReceipt: SQLiteStatement
  let deleteOldReceipts: SQLiteStatement
  let upsertFlag: SQLiteStatement
  let deleteFlag: SQLiteStatement
  let selectFlags: SQLiteStatement
  let insertMember: SQLiteStatement
  let deleteMember: SQLiteStatement
  let selectMembers: SQLiteStatement
  let insertBlock: SQLiteStatement
  let deleteBlock: SQLiteStatement
  let selectBlocks: SQLiteStatement
  let upsertOnline: SQLiteStatement
  let selectOnline: SQLiteStatement

  init(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    selectAuthor = try SQLiteStatement(
      connection, "SELECT person FROM publications WHERE room = ? AND offset = ?")
    selectReceipt = try SQLiteStatement(
      connection, "SELECT state FROM receipts WHERE room = ? AND offset = ? AND person = ?")
    selectReceipts = try SQLiteStatement(
      connection,
      "SELECT person, state FROM receipts WHERE room = ? AND offset = ? ORDER BY person")
    upsertReceipt = try SQLiteStatement(
      connection,
      "INSERT OR REPLACE INTO receipts (room, offset, person, state) VALUES (?, ?, ?, ?)")
    deleteOldReceipts = try SQLiteStatement(
      connection,
      """
      DELETE FROM receipts WHERE (room, offset) IN
        (SELECT r.room, r.offset FROM receipts r LEFT JOIN publications p
          ON p.room = r.room AND p.offset = r.offset WHERE p.room IS NULL LIMIT 500)
      """)
    upsertFlag = try SQLiteStatement(
      connection,
      "INSERT OR REPLACE INTO flags (room, offset, person, reason, time) VALUES (?, ?, ?, ?, ?)")
    deleteFlag = try SQLiteStatement(
      connection, "DELETE FROM flags WHERE room = ? AND offset = ? AND person = ?")
    selectFlags = try SQLiteStatement(
      connection,
      """
      SELECT offset, person, reason, time FROM flags WHERE room = ?
      ORDER BY offset DESC, person LIMIT ?
      """)
    insertMember = try SQLiteStatement(
      connection, "INSERT OR IGNORE INTO room_members (room, person) VALUES (?, ?)")
    deleteMember = try SQLiteStatement(
      connection, "DELETE FROM room_members WHERE room = ? AND person = ?")
    selectMembers = try SQLiteStatement(
      connection, "SELECT person FROM room_members WHERE room = ? ORDER BY person")
    insertBlock = try SQLiteStatement(
      connection, "INSERT OR IGNORE INTO blocks (person, blocked) VALUES (?, ?)")
    deleteBlock = try SQLiteStatement(
      connection, "DELETE FROM blocks WHERE person = ? AND blocked = ?")
    selectBlocks = try SQLiteStatement(
      connection, "SELECT person, blocked FROM blocks ORDER BY person, blocked")
    upsertOnline = try SQLiteStatement(
      connection,
      """
      INSERT INTO last_online (person, time) VALUES (?, ?)
      ON CONFLICT (person) DO UPDATE SET time =
        CASE WHEN time - excluded.time > \(TimeOrder.pullMax) THEN excluded.time
        ELSE max(time, excluded.time) END
      """)
    selectOnline = try SQLiteStatement(
      connection, "SELECT time FROM last_online WHERE person = ?")
  }
}
