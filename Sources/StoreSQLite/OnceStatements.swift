/// The statements for what is done once, prepared when the store is opened.
struct OnceStatements {
  let selectAnswer: SQLiteStatement
  let selectAnswers: SQLiteStatement
  let insertAnswer: SQLiteStatement
  let deleteOldAnswers: SQLiteStatement
  let deleteExpiredAnswers: SQLiteStatement

  let selectOrigin: SQLiteStatement
  let insertOrigin: SQLiteStatement
  let deleteOrigin: SQLiteStatement
  let markDeleted: SQLiteStatement
  let dateDeleted: SQLiteStatement
  let deleteExpiredOrigins: SQLiteStatement

  init(_ connection: borrowing SQLiteConnection) throws(SQLiteFailure) {
    selectAnswer = try SQLiteStatement(
      connection,
      """
      SELECT owner, key, digest, answer, checksum FROM answers
      WHERE owner = ? AND key = ? AND expires > ?
      """)
    selectAnswers = try SQLiteStatement(
      connection,
      """
      SELECT owner, key, digest, answer, checksum, number FROM answers WHERE number > ?
      ORDER BY number LIMIT 500
      """)
    // An answer that has expired may still be there under the key.
    insertAnswer = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO answers (owner, key, digest, answer, checksum, expires)
      VALUES (?, ?, ?, ?, ?, ?)
      """)
    deleteOldAnswers = try SQLiteStatement(
      connection,
      """
      DELETE FROM answers WHERE owner = ?1 AND number <=
        (SELECT number FROM answers WHERE owner = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
      """)
    deleteExpiredAnswers = try SQLiteStatement(
      connection,
      """
      DELETE FROM answers WHERE number IN
        (SELECT number FROM answers WHERE expires <= ? ORDER BY expires LIMIT 500)
      """)

    selectOrigin = try SQLiteStatement(
      connection, "SELECT owner, title, deleted, expires FROM note_origins WHERE id = ?")
    insertOrigin = try SQLiteStatement(
      connection,
      """
      INSERT OR REPLACE INTO note_origins (id, owner, title, rest, deleted, expires)
      VALUES (?, ?, ?, ?, 0, NULL)
      """)
    deleteOrigin = try SQLiteStatement(connection, "DELETE FROM note_origins WHERE id = ?")
    markDeleted = try SQLiteStatement(
      connection, "UPDATE note_origins SET deleted = 1 WHERE id = ?")
    dateDeleted = try SQLiteStatement(
      connection,
      "UPDATE note_origins SET expires = rest + ? WHERE deleted = 1 AND expires IS NULL")
    deleteExpiredOrigins = try SQLiteStatement(
      connection,
      """
      DELETE FROM note_origins WHERE id IN
        (SELECT id FROM note_origins WHERE deleted = 1 AND expires <= ? LIMIT 500)
      """)
  }
}
