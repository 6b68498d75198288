import ParleyGatewayPorts
import OTCore
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Damage is found, never served")
struct DamageTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Creates a store with one note of twenty entries by two clients, and a snapshot at 12.
  private func makeStore() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n", title: "Title")
    store.type("hello damage", in: "n", after: 0)
    try store.takeSnapshotNow("n")
    #expect(
      store.error(.saveVersion(id: "n", epoch: epoch, version: version(12, "Draft"))) == nil)
    for revision in 13...20 {
      let next = entry(revision, appending("!", to: revision - 1), client: "ben")
      #expect(store.error(.append(id: "n", epoch: epoch, entries: [next])) == nil)
    }
  }

  @Test(
    "every field of every record is covered",
    arguments: [
      "UPDATE log SET operation = CAST('[14,\"?\"]' AS BLOB) WHERE revision = 15",
      "UPDATE log SET client = 'eve' WHERE revision = 15",
      "UPDATE log SET sequence = sequence + 1 WHERE revision = 15",
      "UPDATE log SET digest = digest + 1 WHERE revision = 15",
      "UPDATE log SET author = 'Eve' WHERE revision = 15",
      "UPDATE log SET time = time + 1 WHERE revision = 15",
      "UPDATE log SET checksum = zeroblob(16) WHERE revision = 15",
      "UPDATE log SET checksum = x'00' WHERE revision = 15",
      "UPDATE log SET operation = zeroblob(0) WHERE revision = 20",
      "DELETE FROM log WHERE revision = 15",
      "DELETE FROM log WHERE revision = 20",
      "UPDATE marks SET sequence = sequence + 1 WHERE client = 'ben'",
      "UPDATE marks SET digest = digest + 1 WHERE client = 'ann'",
      "UPDATE marks SET revision = revision + 1 WHERE client = 'ann'",
      "UPDATE marks SET client = 'eve' WHERE client = 'ann'",
      "DELETE FROM marks WHERE client = 'ann'",
      "INSERT INTO marks VALUES (1, 'eve', 1, 1, 1)",
      "UPDATE snapshots SET text = CAST('hello damaged' AS BLOB)",
      "UPDATE snapshots SET revision = 13",
      "UPDATE snapshots SET chain = zeroblob(16)",
      "UPDATE snapshots SET checksum = zeroblob(16)",
      "UPDATE snapshots SET time = time + 1",
      "UPDATE snapshots SET authors = x'00'",
      "UPDATE documents SET title = 'Other'",
      "UPDATE documents SET epoch = 'Other'",
      "UPDATE documents SET revision = 19",
      "UPDATE documents SET length = length + 1",
      "UPDATE documents SET chain = zeroblob(16)",
      "UPDATE documents SET base = 3",
      "UPDATE documents SET marks = marks + 1",
      "UPDATE documents SET created = created + 1",
      "UPDATE documents SET updated = updated + 1",
      "UPDATE documents SET checksum = zeroblob(16)",
      "UPDATE epochs SET epoch = 'Other'",
      "DELETE FROM epochs",
    ])
  func fields(damage: String) throws {
    try makeStore()
    try SecondConnection(folder.file()).run(damage)
    let store = try SQLiteStore(path: folder.file())
    guard case .failed(.damaged) = store.one(.load(id: "n", recentMax: 3)) else {
      Issue.record("served despite: \(damage)")
      return
    }
  }

  @Test(
    "every field of a version is covered",
    arguments: [
      "UPDATE versions SET revision = 11", "UPDATE versions SET name = 'Other'",
      "UPDATE versions SET author = 'Eve'", "UPDATE versions SET time = time + 1",
      "UPDATE versions SET checksum = zeroblob(16)",
    ])
  func versionFields(damage: String) throws {
    try makeStore()
    try SecondConnection(folder.file()).run(damage)
    guard case .failed(.damaged) = try SQLiteStore(path: folder.file()).one(.versions(id: "n"))
    else {
      Issue.record("served despite: \(damage)")
      return
    }
  }

  @Test("other notes are served beside a damaged one")
  func neighbour() throws {
    try makeStore()
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("m")
      store.type("fine", in: "m", after: 0)
    }
    try SecondConnection(folder.file()).run("UPDATE log SET time = 0 WHERE document = 1")
    let store = try SQLiteStore(path: folder.file())
    #expect(try store.load("m").text == "fine")
    store.type("!", in: "m", after: 4)
    #expect(try store.load("m").text == "fine!")
    guard case .failed(.damaged) = store.one(.entries(id: "n", after: 3, through: 5)) else {
      Issue.record("served damaged entries")
      return
    }
  }

  @Test("exchanged entries are found")
  func swapped() throws {
    try makeStore()
    try SecondConnection(folder.file()).run(
      """
      UPDATE log SET revision = 99 WHERE revision = 15;
      UPDATE log SET revision = 15 WHERE revision = 16;
      UPDATE log SET revision = 16 WHERE revision = 99;
      """)
    guard
      case .failed(.damaged) = try SQLiteStore(path: folder.file()).one(
        .load(id: "n", recentMax: 0))
    else {
      Issue.record("served swapped entries")
      return
    }
  }

  @Test("any flipped bit of the file is found, or has no effect")
  func flippedBits() throws {
    try makeStore()
    let sound = try SQLiteStore(path: folder.file()).load("n", recentMax: 20)
    let bytes = try readFile(folder.file())
    // A stride that shares no factor with the page size visits every kind of byte.
    for position in stride(from: 100, to: bytes.count, by: 61) {
      var flipped = bytes
      flipped[position] ^= 1 << (position % 8)
      try writeFile(folder.file(), flipped)
      guard let store = try? SQLiteStore(path: folder.file()) else { continue }
      guard case .document(let found) = store.one(.load(id: "n", recentMax: 20)) else { continue }
      #expect(found.text.utf8.elementsEqual(sound.text.utf8), "byte \(position)")
      #expect(found.summary == sound.summary, "byte \(position)")
      #expect(found.recent == sound.recent, "byte \(position)")
      #expect(found.marks == sound.marks, "byte \(position)")
    }
  }
}
