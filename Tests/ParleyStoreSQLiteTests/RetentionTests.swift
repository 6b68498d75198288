import ParleyGatewayPorts
import OTCore
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Long logs")
struct RetentionTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Creates a note whose entries insert one character each.
  private func makeStore(entries: Int) throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    var revision = 0
    while revision < entries {
      revision = store.type(String(repeating: "x", count: 100), in: "n", after: revision)
    }
    return store
  }

  @Test("a log is compacted to its newest entries")
  func byCount() throws {
    let store = try makeStore(entries: 3_000)
    let rule = Retention(entriesMin: 500, ageMin: 0)
    #expect(try store.compact(keeping: rule, now: 1_000_000) == 1)
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM log") == 500)
    #expect(try store.load("n", recentMax: 3_000).recent.count == 500)
    #expect(try store.load("n").text.utf8.count == 3_000)
    #expect(try store.load("n").marks["ann"]?.sequence == 3_000)
    #expect(store.check().problems.isEmpty)
    #expect(try store.compact(keeping: rule, now: 1_000_000) == 0)
  }

  @Test("recent entries are kept in any number")
  func byAge() throws {
    let store = try makeStore(entries: 300)
    let rule = Retention(entriesMin: 10, ageMin: 100)
    // The entry of revision r has the time 1,000 + r.
    #expect(try store.compact(keeping: rule, now: 1_200) == 1)
    #expect(
      store.error(.entries(id: "n", after: 0, through: 1)) == .compacted(oldestRevision: 101))
    #expect(try store.load("n").text.utf8.count == 300)
  }

  @Test("a served store compacts its logs automatically")
  func live() throws {
    let store = try makeStore(entries: 100)
    store.retention = Retention(entriesMin: 400, ageMin: 0)
    var revision = 100
    let other = try SecondConnection(folder.file())
    for _ in 0..<50 {
      revision = store.type(String(repeating: "y", count: 100), in: "n", after: revision)
      while store.maintain() {}
      #expect(try other.integer("SELECT count(*) FROM log") <= 1_500)
    }
    #expect(try store.load("n").text.utf8.count == 5_100)
    #expect(store.check().problems.isEmpty)
  }

  @Test("freed space is returned to the file system")
  func space() throws {
    let store = try makeStore(entries: 5_000)
    while store.maintain() {}
    let other = try SecondConnection(folder.file())
    let before = try other.integer("PRAGMA page_count")
    try store.compact(keeping: Retention(entriesMin: 0, ageMin: 0), now: .max)
    #expect(try other.integer("PRAGMA page_count") < before / 2)
    #expect(try store.load("n").text.utf8.count == 5_000)
  }

  @Test("loading reads a part of the log in proportion to the text")
  func loading() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    // A short text with a long history: one character is replaced repeatedly.
    store.type(String(repeating: "x", count: 50), in: "n", after: 0)
    var revision = 50
    for round in 0..<30 {
      let entries = (1...500).map { number in
        var operation = TextOperation()
        operation.retain(10)
        operation.insert(String(UnicodeScalar(UInt8(97 + (number + round) % 26))))
        operation.delete(1)
        operation.retain(39)
        return entry(revision + number, operation)
      }
      #expect(store.error(.append(id: "n", epoch: epoch, entries: entries)) == nil)
      revision += 500
      while store.maintain() {}
    }
    let other = try SecondConnection(folder.file())
    let newest = try other.integer("SELECT max(revision) FROM snapshots")
    #expect(revision - newest < 1_500)
    // All snapshots together must not be larger than the log.
    #expect(
      try other.integer("SELECT sum(length(text) + length(authors)) FROM snapshots")
        <= other.integer("SELECT sum(length(operation) + 64) FROM log"))
    #expect(try store.load("n").text.utf8.count == 50)
  }
}
