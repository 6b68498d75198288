public import ParleyGatewayPorts
import ParleyHashing
import ParleyStoreRecords

/// The mark of a server in its database, by which a copy that lacks the log is recognised.
///
/// While a server runs, the newest changes are in the log (`-wal`) alone. The database by itself is sound, and lacks
/// them. So the server marks the database when it opens it, and removes the mark in an orderly stop, when the log's
/// content is in the database. SQLite leaves the log beside a database whose program was killed, and the log of a
/// server is never empty:
///
///     mark   log      the database
///     no     no, yes  is whole
///     yes    yes      is whole with its log: a server runs, or was killed
///     yes    no       was copied without its log
extension SQLiteStore {
  /// The mark's name among the store's small values.
  static let runningMark = "running"

  /// Puts the mark into the database's own file.
  func markRunning() throws(StoreError) {
    isMarked = true
    try logMark()
    try database.checkpoint()
  }

  /// Writes the mark once more, so that the log is not empty.
  func logMark() throws(StoreError) {
    // Other bytes each time: SQLite writes nothing where nothing changes.
    try database.transaction { () throws(StoreError) in
      try MetaRules(store: database).keepMeta(Self.runningMark, value: randomBytes(count: 8))
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
    try MetaRules(store: database).meta(Self.runningMark) != nil
  }

  /// The words about a database without its log.
  static let logMissing =
    "the database was in use by a server, and the log (-wal) that was beside it is missing: if this is a copy, the "
    + "newest changes are not in it; copy both files, or use parley backup"

  /// A remark about how the store was found; see ``ServerStore``.
  public var openingRemark: StoreRemark? {
    guard lacksLog else { return nil }
    return StoreRemark(
      message: "store opened without its log", reason: Self.logMissing,
      hint: "if you have the log or a newer backup, stop the server and use that")
  }
}
