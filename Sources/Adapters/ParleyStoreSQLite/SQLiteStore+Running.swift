public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

/// A mark that a running server sets in its database, by which a copy without the log is detected.
///
/// While a server runs, the newest changes are only in the log (`-wal`). The database alone is
/// consistent, but lacks these changes. So the server sets the mark when it opens the database, and
/// removes it in an orderly stop, which also copies the log into the database. If the server is
/// killed, the log remains beside the database. The log of a running server is never empty:
///
///     mark   log      the database
///     no     no, yes  is complete
///     yes    yes      is complete with its log: a server runs, or was killed
///     yes    no       was copied without its log
extension SQLiteStore {
  /// The mark's name in the table `meta`.
  static let runningMark = "running"

  /// Sets the mark in the database file itself.
  func markRunning() throws(StoreError) {
    isMarked = true
    try logMark()
    try database.checkpoint()
  }

  /// Writes the mark again, so that the log is not empty.
  func logMark() throws(StoreError) {
    // Random bytes, since SQLite writes no page that is unchanged.
    try database.transaction { () throws(StoreError) in
      try MetaTable(store: database).setMeta(Self.runningMark, value: randomBytes(count: 8))
    }
  }

  /// Removes the mark.
  func unmarkRunning() throws(StoreError) {
    isMarked = false
    try database.transaction { () throws(StoreError) in
      try database.change("DELETE FROM meta WHERE name = $1", Self.runningMark)
    }
  }

  /// Whether the database has a server's mark.
  func isMarkedRunning() throws(StoreError) -> Bool {
    try MetaTable(store: database).meta(Self.runningMark) != nil
  }

  /// The problem of a database without its log, and the remedy.
  static let logMissing =
    "the database was in use by a server, and the log (-wal) that was beside it is missing: if this is a copy, the "
    + "newest changes are not in it; copy both files, or use parley backup"

  /// The remark that a server's log was missing when the store was opened; see ``ServerStore``.
  public var openingRemark: CloseWarning? {
    guard lacksLog else { return nil }
    return CloseWarning(
      message: "store opened without its log", reason: Self.logMissing,
      hint: "if you have the log or a newer backup, stop the server and use that")
  }
}
