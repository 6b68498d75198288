import ParleyGatewayPorts
import Glibc
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Files that are moved under an open store")
struct MovedFilesTests {
  let folder: TemporaryFolder
  private let store: SQLiteStore

  init() throws {
    folder = try TemporaryFolder(isInMemory: true)
    store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type("before", in: "n", after: 0)
  }

  private func refusal() -> String? {
    guard
      case .unavailable(let words)? = store.error(
        .create(id: "late", epoch: epoch, title: "", time: 1))
    else { return nil }
    return words
  }

  @Test("a moved database refuses changes until it is moved back")
  func movedDatabase() throws {
    rename(folder.file(), folder.file("elsewhere"))
    store.look()
    #expect(store.state.problem?.contains("notes.parley was moved or deleted") == true)
    #expect(refusal() == store.state.problem)
    #expect(throws: StoreError.self) { try store.secret(named: "new", byteCount: 8) }
    // Reading still works.
    #expect(try store.load("n").text == "before")
    rename(folder.file("elsewhere"), folder.file())
    #expect(refusal() == nil)
    #expect(store.state.problem == nil)
    store.type(" after", in: "n", after: 6)
    #expect(try SQLiteStore(reading: folder.file()).load("n").text == "before after")
  }

  @Test("a deleted and a replaced database refuse changes", arguments: [false, true])
  func lostDatabase(isReplaced: Bool) throws {
    removeFile(folder.file())
    if isReplaced { try writeFile(folder.file(), [1]) }
    #expect(refusal()?.contains(isReplaced ? "was replaced by another file" : "deleted") == true)
    if isReplaced { removeFile(folder.file()) }
  }

  @Test("the data folder itself may be moved")
  func movedFolder() throws {
    let other = folder.path + "-moved"
    rename(folder.path, other)
    #expect(refusal()?.contains("moved or deleted") == true)
    rename(other, folder.path)
    #expect(refusal() == nil)
  }

  @Test("without its log a store refuses changes, and a stop writes all data to the database")
  func deletedLog() throws {
    removeFile(folder.file() + "-wal")
    #expect(refusal()?.contains("the log notes.parley-wal was moved, deleted or replaced") == true)
    try store.emptyLog()
    try writeFile(folder.file("copy.parley"), try readFile(folder.file()))
    #expect(try SQLiteStore(path: folder.file("copy.parley")).load("n").text == "before")
  }

  @Test("a log that has grown during a long read is truncated after the read")
  func grownLog() throws {
    store.walPagesToCheckpoint = 16
    let reader = try SecondConnection(folder.file())
    try reader.run("BEGIN")
    _ = try reader.integer("SELECT count(*) FROM documents")
    for number in 0..<100 { store.create("note \(number)") }
    while store.maintain() {}
    store.look()
    let grown = try readFile(folder.file() + "-wal").count
    #expect(grown > 400_000)
    try reader.run("COMMIT")
    store.look()
    #expect(try readFile(folder.file() + "-wal").isEmpty)
    #expect(store.state.problem == nil, "the log is the same file")
    #expect(refusal() == nil)
  }

  @Test("without a pause for looking, a log shrinks with the next checkpoint")
  func grownLogOfBusyStore() throws {
    store.walPagesToCheckpoint = 16
    let reader = try SecondConnection(folder.file())
    try reader.run("BEGIN")
    _ = try reader.integer("SELECT count(*) FROM documents")
    for number in 0..<100 { store.create("note \(number)") }
    try reader.run("COMMIT")
    while store.maintain() {}
    #expect(try readFile(folder.file() + "-wal").count < 200_000)
  }
}

@Suite("A database that a server marks as its own")
struct RunningMarkTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  private func serve() throws -> any ServerStore {
    let store = try SQLiteProvisioning(path: folder.file()).open()
    return store
  }

  /// Copies the store's files with these endings to another name. Returns the path of the copy.
  private func copy(_ endings: String...) throws -> String {
    for ending in endings {
      try writeFile(folder.file("copy" + ending), try readFile(folder.file() + ending))
    }
    return folder.file("copy")
  }

  private func problems(of path: String) throws -> [String] {
    try SQLiteStore(reading: path).check().problems.map(\.description)
  }

  @Test("a copy of a running server's database without its log is detected")
  func withoutLog() throws {
    let store = try serve()
    store.create("n")
    let path = try copy("")
    // Checking does not change the result of the next check.
    for _ in 0..<2 {
      let problem = try #require(try problems(of: path).first)
      #expect(problem.contains("the log (-wal) that was beside it is missing"))
    }
    #expect(try SQLiteStore(path: path).openingRemark != nil)
    // A server still opens the copy, and reports the missing log once.
    let taken = try SQLiteProvisioning(path: path).open()
    #expect(taken.openingRemark?.message == "store opened without its log")
    #expect(taken.settle() == nil)
  }

  @Test("a log that was truncated while the server runs does not make it look like a copy")
  func truncatedLog() throws {
    let store = try #require(try serve() as? SQLiteStore)
    store.walPagesToCheckpoint = 1
    for number in 0..<20 { store.create("note \(number)") }
    let before = try readFile(folder.file() + "-wal").count
    store.look()
    #expect(try readFile(folder.file() + "-wal").count < before)
    #expect(try problems(of: copy("", "-wal")) == [])
  }

  @Test("a copy with its log is whole, as is what a killed server leaves, however often it is read")
  func withLog() throws {
    let store = try serve()
    store.create("n")
    let path = try copy("", "-wal")
    for _ in 0..<2 { #expect(try problems(of: path) == []) }
    // A command that writes merges the log into the database.
    do { try SQLiteStore(path: path).create("m") }
    #expect(!folder.names.contains("copy-wal"))
    #expect(try problems(of: path) == [])
  }

  @Test("an orderly stop leaves one file that is whole, and a backup is whole at any time")
  func orderly() throws {
    var store: (any ServerStore)? = try serve()
    store?.create("n")
    try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    #expect(try problems(of: folder.file("backup")) == [])
    #expect(store?.settle() == nil)
    store = nil
    #expect(try problems(of: copy("")) == [])
    #expect(try serve().openingRemark == nil)
  }
}
