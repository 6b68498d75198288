/// The tables of a store, and their version.
package enum OfflineSchema {
  package static let version = 1
  /// Identifies this library's files among SQLite databases.
  private static let applicationID = 0x5061_4f66

  /// Checks a file before anything is written to it, and creates the tables of a new one.
  package static func prepare(_ file: SQLiteFile) throws(OfflineStoreError) {
    // SQLite releases the exclusive lock when the file is closed, however the process ends.
    try file.execute("PRAGMA locking_mode = EXCLUSIVE")
    try file.execute("BEGIN EXCLUSIVE")
    try file.execute("COMMIT")
    let found = try number(file, "PRAGMA user_version")
    let isEmpty = try number(file, "SELECT count(*) FROM sqlite_schema") == 0
    let owner = try number(file, "PRAGMA application_id")
    guard owner == applicationID || owner == 0 && found == 0 && isEmpty else {
      throw .foreign
    }
    guard found <= version else { throw .newerVersion(found: found, known: version) }
    try file.execute("PRAGMA journal_mode = WAL")
    try file.execute("PRAGMA synchronous = FULL")
    // Without it, a sync on Apple's systems returns when the data is only in the drive's cache.
    try file.execute("PRAGMA fullfsync = ON")
    guard found == 0 else { return }
    try file.transaction { () throws(OfflineStoreError) in try file.execute(tables) }
  }

  private static func number(_ file: SQLiteFile, _ sql: String) throws(OfflineStoreError) -> Int {
    Int(try file.query(sql).rows { $0.integer(0) }.first ?? 0)
  }

  private static let tables = """
    CREATE TABLE client (key TEXT PRIMARY KEY, value BLOB NOT NULL);
    CREATE TABLE mutation (
      number INTEGER PRIMARY KEY, key TEXT NOT NULL, user TEXT NOT NULL, lane TEXT NOT NULL,
      kind TEXT NOT NULL, action TEXT, resource TEXT NOT NULL, thing TEXT NOT NULL,
      body BLOB NOT NULL, base TEXT, tried INTEGER NOT NULL,
      state TEXT NOT NULL, status INTEGER, reason TEXT, theirs BLOB, version TEXT);
    CREATE TABLE alias (
      place INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, thing TEXT NOT NULL);
    CREATE TABLE item (
      user TEXT NOT NULL, resource TEXT NOT NULL, thing TEXT NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY (user, resource, thing));
    CREATE TABLE listing (
      user TEXT NOT NULL, resource TEXT NOT NULL, query TEXT NOT NULL, things BLOB NOT NULL,
      PRIMARY KEY (user, resource, query));
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """
}
