import ParleyGatewayPorts
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Checking a store")
struct CheckTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Creates two notes, one of them compacted, with snapshots, versions, a deletion and two epochs.
  private func makeStore() throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file())
    _ = try store.secret(named: "resume tokens")
    store.create("n", title: "Title")
    store.type("hello", in: "n", after: 0)
    try store.takeSnapshotNow("n")
    store.type(" world", in: "n", after: 5)
    try store.takeSnapshotNow("n")
    #expect(store.error(.saveVersion(id: "n", epoch: epoch, version: version(3, "Early"))) == nil)
    #expect(store.error(.saveVersion(id: "n", epoch: epoch, version: version(8, "Late"))) == nil)
    store.create("compacted")
    store.type("some text", in: "compacted", after: 0)
    #expect(
      store.error(.saveVersion(id: "compacted", epoch: epoch, version: version(4, "Kept"))) == nil)
    #expect(store.error(.compact(id: "compacted", through: 6)) == nil)
    store.create("gone")
    store.type("secret", in: "gone", after: 0)
    #expect(store.error(.delete(id: "gone")) == nil)
    #expect(store.error(.renewEpoch(id: "n", from: epoch, to: "second")) == nil)
    #expect(
      store.error(
        .append(id: "n", epoch: "second", entries: [entry(12, appending("!", to: 11))])) == nil)
    return store
  }

  @Test("a sound store has no problems, whether housekeeping is done or not")
  func sound() throws {
    let store = try makeStore()
    var expected = StoreFindings()
    (expected.notes, expected.entries, expected.snapshots, expected.versions) = (2, 15, 4, 3)
    #expect(store.check() == expected)
    while store.maintain() {}
    #expect(store.check() == expected)
  }

  @Test("a store is checked while it is served")
  func reading() throws {
    let store = try makeStore()
    let reader = try SQLiteStore(reading: folder.file())
    var progress: [Int] = []
    #expect(reader.check { done, _ in progress.append(done) }.problems.isEmpty)
    #expect(progress == [1, 2])
    store.type("more", in: "compacted", after: 9)
    #expect(reader.check().entries == 19)
    guard case .failed(.unavailable) = reader.one(.delete(id: "n")) else {
      Issue.record("a reader wrote")
      return
    }
    #expect(try reader.load("n").text == "hello world!")
  }

  @Test(
    "inconsistencies between records are found",
    arguments: [
      "UPDATE log SET operation = CAST('[1,\"?\"]' AS BLOB) WHERE revision = 2 AND document = 1",
      "UPDATE log SET time = 9 WHERE revision = 1 AND document = 1",
      "DELETE FROM log WHERE revision = 2 AND document = 1",
      "INSERT INTO log SELECT document, 99, client, sequence, digest, operation, author, time, "
        + "checksum FROM log WHERE document = 1 AND revision = 12",
      "UPDATE snapshots SET text = CAST('jello' AS BLOB) WHERE document = 1 AND revision = 5",
      "UPDATE snapshots SET text = CAST('same' AS BLOB) WHERE document = 2 AND revision = 4",
      "DELETE FROM snapshots WHERE document = 2 AND revision = 4",
      "DELETE FROM snapshots WHERE document = 2 AND revision = 6",
      "UPDATE marks SET sequence = 1 WHERE document = 2",
      "UPDATE versions SET name = 'Other' WHERE revision = 8",
      "UPDATE documents SET title = 'Other' WHERE number = 2",
      "UPDATE documents SET id = 'other' WHERE number = 2",
      "DELETE FROM documents WHERE number = 2",
      "UPDATE meta SET value = zeroblob(32)",
      "UPDATE epochs SET epoch = 'Other' WHERE document = 1 AND after = 0",
      "DELETE FROM garbage",
    ])
  func damage(sql: String) throws {
    do { _ = try makeStore() }
    try SecondConnection(folder.file()).run(sql)
    let findings = try SQLiteStore(path: folder.file()).check()
    #expect(!findings.problems.isEmpty)
    for problem in findings.problems {
      #expect(!problem.description.contains("ello"), "a user's text in \(problem)")
    }
  }

  @Test("a snapshot with a valid checksum is compared with the log")
  func wrongSnapshot() throws {
    // The wrong snapshot has a valid checksum.
    let store = try makeStore()
    var findings = store.check()
    findings.problems = []
    try SecondConnection(folder.file()).run(
      "UPDATE snapshots SET revision = 6 WHERE document = 1 AND revision = 5")
    #expect(store.check().problems.contains { $0.document == "n" })
  }

  @Test("a file that SQLite cannot read is reported as damaged")
  func pages() throws {
    do { _ = try makeStore() }
    var bytes = try readFile(folder.file())
    for index in 4_096..<bytes.count where index % 4_096 < 8 { bytes[index] = 0xff }
    try writeFile(folder.file(), bytes)
    do throws(StoreOpenError) {
      #expect(!(try SQLiteStore(path: folder.file()).check().problems.isEmpty))
    } catch {
      guard case .damaged = error else {
        Issue.record("expected damage, came \(error)")
        return
      }
    }
  }
}
