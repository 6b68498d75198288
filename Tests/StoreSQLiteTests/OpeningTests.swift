import Glibc
import GatewayPorts
import StoreSQLite
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
    // The refused attempt must not have weakened the first one's hold.
    store.create("n")
    #expect(throws: StoreOpenError.inUse(path: folder.file(), process: process)) {
      try SQLiteStore(path: folder.file())
    }
  }

  @Test("the next owner may come when the first has let go")
  func unlock() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
    }
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "")
  }

  @Test("a missing folder is said to be missing")
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

  @Test("a file of another kind is left as it was")
  func foreignFile() throws {
    let bytes = Array("Dear diary, this is a text and no database at all.\n".utf8)
    try writeFile(folder.file(), bytes)
    #expect(throws: StoreOpenError.notAStore(path: folder.file())) {
      try SQLiteStore(path: folder.file())
    }
    #expect(try readFile(folder.file()) == bytes)
  }

  @Test("another program's database is left as it was")
  func foreignDatabase() throws {
    try SecondConnection(folder.file()).run("CREATE TABLE songs (name TEXT)")
    let bytes = try readFile(folder.file())
    #expect(throws: StoreOpenError.notAStore(path: folder.file())) {
      try SQLiteStore(path: folder.file())
    }
    #expect(try readFile(folder.file()) == bytes)
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

  @Test("nobody else may read the file")
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
