/// The statements for the outbox, prepared when the store is opened.
struct OutboxStatements {
  let selectFirst: SQLiteStatement
  let selectLast: SQLiteStatement
  let selectOldest: SQLiteStatement
  let insert: SQLiteStatement
  let delete: SQLiteStatement

  let upsertHeld: SQLiteStatement
  let selectHeldOf: SQLiteStatement
  let selectDue: SQLiteStatement
  let selectNextDue: SQLiteStatement
  let deleteHeld: SQLiteStatement

  let insertDead: SQLiteStatement
  let deleteOldDead: SQLiteStatement
  let countDead: SQLiteStatement
  let selectDead: SQLiteStatement

  init(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    let ends = "SELECT number, time FROM outbox WHERE target = ? ORDER BY number"
    selectFirst = try SQLiteStatement(connection, ends + " LIMIT 1")
    selectLast = try SQLiteStatement(connection, ends + " DESC LIMIT 1")
    selectOldest = try SQLiteStatement(
      connection,
      """
      SELECT number, id, type, subject, time, data FROM outbox WHERE target = ?
      ORDER BY number LIMIT ?
      """)
    insert = try SQLiteStatement(
      connection,
      """
      INSERT INTO outbox (target, number, id, type, subject, time, data)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """)
    delete = try SQLiteStatement(
      connection, "DELETE FROM outbox WHERE target = ? AND number = ? AND id = ?")

    upsertHeld = try SQLiteStatement(
      connection,
      """
      INSERT INTO outbox_held (target, subject, type, since, due, time, data)
      VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6)
      ON CONFLICT (target, subject, type) DO UPDATE SET time = excluded.time, data = excluded.data
      """)
    let held = "SELECT subject, type, time, data FROM outbox_held WHERE target = ?1"
    selectHeldOf = try SQLiteStatement(connection, held + " AND subject = ?2 LIMIT 1")
    // One from further ahead than it is held was kept before the clock was set back. A little ahead
    // is what was committed since the caller read its clock.
    selectDue = try SQLiteStatement(
      connection, held + " AND (due <= ?2 OR since - (due - since) > ?2) ORDER BY due LIMIT 1")
    selectNextDue = try SQLiteStatement(
      connection, "SELECT due FROM outbox_held WHERE target = ? ORDER BY due LIMIT 1")
    deleteHeld = try SQLiteStatement(
      connection, "DELETE FROM outbox_held WHERE target = ? AND subject = ? AND type = ?")

    insertDead = try SQLiteStatement(
      connection,
      """
      INSERT INTO dead_letters (target, place, id, type, subject, time, data, died, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    deleteOldDead = try SQLiteStatement(
      connection,
      """
      DELETE FROM dead_letters WHERE number <=
        (SELECT number FROM dead_letters ORDER BY number DESC LIMIT 1 OFFSET ?)
      """)
    countDead = try SQLiteStatement(
      connection, "SELECT count(*) FROM dead_letters WHERE target = ?")
    selectDead = try SQLiteStatement(
      connection,
      """
      SELECT place, id, type, subject, time, data, target, died, reason FROM dead_letters
      ORDER BY number DESC LIMIT ?
      """)
  }
}
