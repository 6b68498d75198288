import Glibc
import ParleyGatewayPorts
import ParleyStoreSQLite
import Testing

@Suite("Opening a store")
struct OpeningTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("two owners cannot have one store")
  func lock() throws {
    let store = try SQLiteStore(path: folder.file())
    let process = Int(getpid())
    #expect(throws: StoreOpenError.inUse(path: folder.file(), process: process)) {
      try SQLiteStore(path: folder.file())
    }
    // The failed attempt must not have released the first owner's lock.
    store.create("n")
    #expect(throws: StoreOpenError.inUse(path: folder.file(), process: process)) {
      try SQLiteStore(path: folder.file())
    }
  }

  @Test("two owners cannot have one store if the lock file was removed")
  func removedLock() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    unlink(folder.file() + "-lock")
    #expect(throws: StoreOpenError.inUse(path: folder.file(), process: nil)) {
      try SQLiteStore(path: folder.file())
    }
    #expect(try store.load("n").text == "")
  }

  @Test("the next owner may open it when the first has closed it")
  func unlock() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
    }
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "")
  }

  @Test("a forked child with the first owner's files does not prevent the next owner")
  func unlockBesideChild() throws {
    var store: SQLiteStore? = try SQLiteStore(path: folder.file())
    store?.create("n")
    // A fork copies all descriptors, and its exec closes them only later.
    let copies = descriptors(of: folder.file()).map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(copies.count >= 3, "the lock's, the one with the byte, and SQLite's")
    store = nil
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "")
  }

  /// Returns the open descriptors of a store's files.
  private func descriptors(of path: String) -> [Int32] {
    (0..<1_024).filter { descriptor in
      var buffer = [CChar](repeating: 0, count: 4_096)
      let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count - 1)
      guard count > 0 else { return false }
      let target = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
      return target.hasPrefix(path)
    }
  }

  @Test("a missing folder is reported as missing")
  func noFolder() {
    let path = folder.path + "/nowhere/notes.parley"
    #expect(throws: StoreOpenError.noFolder(path: path)) { try SQLiteStore(path: path) }
  }

  @Test("a folder is not a store")
  func isFolder() {
    #expect(throws: StoreOpenError.self) { try SQLiteStore(path: folder.path) }
    rmdir(folder.path + "-lock")
    unlink(folder.path + "-lock")
  }

  @Test("a file of another kind is refused unchanged")
  func foreignFile() throws {
    let bytes = Array("Dear diary, this is a text and no database at all.\n".utf8)
    try writeFile(folder.file(), bytes)
    #expect(throws: StoreOpenError.notAStore(path: folder.file())) {
      try SQLiteStore(path: folder.file())
    }
    #expect(try readFile(folder.file()) == bytes)
  }

  @Test("another program's database is refused unchanged")
  func foreignDatabase() throws {
    try SecondConnection(folder.file()).run("CREATE TABLE songs (name TEXT)")
    let bytes = try readFile(folder.file())
    #expect(throws: StoreOpenError.notAStore(path: folder.file())) {
      try SQLiteStore(path: folder.file())
    }
    #expect(try readFile(folder.file()) == bytes)
  }

  @Test(
    "a log without its database is refused unchanged",
    arguments: [StoreOpenError.DatabaseState.missing, .empty, .folder])
  func logAlone(state: StoreOpenError.DatabaseState) throws {
    var store: SQLiteStore? = try SQLiteStore(path: folder.file())
    store?.create("n")
    let log = try readFile(folder.file() + "-wal")
    store = nil
    removeFile(folder.file())
    switch state {
    case .missing: break
    case .empty: try writeFile(folder.file(), [])
    case .folder: mkdir(folder.file(), 0o700)
    }
    defer { rmdir(folder.file()) }
    try writeFile(folder.file() + "-wal", log)
    let expected = StoreOpenError.logAlone(path: folder.file(), database: state)
    #expect(throws: expected) { try SQLiteStore(path: folder.file()) }
    #expect(throws: expected) { try SQLiteStore(reading: folder.file()) }
    #expect(throws: expected) { try SQLiteStore.exists(at: folder.file()) }
    #expect(try readFile(folder.file() + "-wal") == log)
  }

  @Test("a log that contains only a header is accepted")
  func emptyLogAlone() throws {
    try writeFile(folder.file() + "-wal", [UInt8](repeating: 0, count: 32))
    #expect(try !SQLiteStore.exists(at: folder.file()))
    try SQLiteStore(path: folder.file()).create("n")
    #expect(try SQLiteStore.exists(at: folder.file()))
  }

  @Test("an orderly stop leaves all data in one file")
  func emptiedLog() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
      store.type("kept", in: "n", after: 0)
      try store.emptyLog()
      #expect(try readFile(folder.file() + "-wal").isEmpty)
      try writeFile(folder.file("copy.parley"), try readFile(folder.file()))
    }
    #expect(!folder.names.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
    #expect(try SQLiteStore(path: folder.file("copy.parley")).load("n").text == "kept")
  }

  @Test("a reading program prevents truncating the log, and nothing is lost")
  func readerAtTheEnd() throws {
    let reader = try SecondConnection(folder.file("notes.parley"))
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
      try reader.run("BEGIN")
      _ = try reader.integer("SELECT count(*) FROM documents")
      store.type("kept", in: "n", after: 0)
      let error = #expect(throws: StoreError.self) { try store.emptyLog() }
      #expect(error == .unavailable("another program is reading the store"))
    }
    for ending in ["", "-wal"] {
      try writeFile(
        folder.file("copy.parley" + ending), try readFile(folder.file("notes.parley" + ending)))
    }
    #expect(try SQLiteStore(path: folder.file("copy.parley")).load("n").text == "kept")
    try reader.run("COMMIT")
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "kept")
  }

  @Test("a newer format is refused")
  func newerFormat() throws {
    do { _ = try SQLiteStore(path: folder.file()) }
    try SecondConnection(folder.file()).run("PRAGMA user_version = 99")
    let error = #expect(throws: StoreOpenError.self) { try SQLiteStore(path: folder.file()) }
    guard case .newer(_, version: 99, _) = error else {
      Issue.record("expected a newer format, came \(String(describing: error))")
      return
    }
  }

  @Test("a format that no release wrote is refused")
  func unreleasedFormat() throws {
    do { _ = try SQLiteStore(path: folder.file()) }
    try SecondConnection(folder.file()).run("PRAGMA user_version = 11")
    let error = StoreOpenError.unreleased(path: folder.file())
    #expect(throws: error) { try SQLiteStore(path: folder.file()) }
    #expect(throws: error) { try SQLiteStore(reading: folder.file()) }
  }

  @Test("only its owner may read the file")
  func mode() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    for name in folder.names {
      var status = stat()
      #expect(stat(folder.file(name), &status) == 0)
      #expect(status.st_mode & 0o077 == 0, "\(name)")
    }
  }

  @Test("errors say what to do")
  func descriptions() {
    let error = StoreOpenError.inUse(path: "a.parley", process: 42)
    #expect(
      error.description
        == "cannot open the store a.parley: process 42 has it open; end that process, or name "
        + "another store")
  }

  @Test("a secret is made once, and kept")
  func secret() throws {
    let first = try SQLiteStore(path: folder.file()).secret(named: "resume")
    #expect(first.count == 32)
    let store = try SQLiteStore(path: folder.file())
    #expect(try store.secret(named: "resume") == first)
    #expect(try store.secret(named: "other") != first)
  }
}
