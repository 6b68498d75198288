import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyPortConformance
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Backup and restore")
struct BackupTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Generates numbered names.
  private final class Counter: NameSource {
    private var count = 0
    func next() -> String {
      count += 1
      return "epoch-of-restore-\(count)"
    }
  }

  @Test("a backup contains everything replied before it, and runs beside the server")
  func online() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type("before", in: "n", after: 0)
    let findings = try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    #expect(findings?.entries == 6)
    store.type(" after", in: "n", after: 6)
    #expect(try SQLiteStore(reading: folder.file("backup")).load("n").text == "before")
    #expect(try store.load("n").text == "before after")
    #expect(!folder.names.contains { $0.hasSuffix(".partial") })
  }

  @Test("a backup does not overwrite")
  func exists() throws {
    do { _ = try SQLiteStore(path: folder.file()) }
    try writeFile(folder.file("backup"), [1])
    #expect(throws: StoreBackupError.exists(path: folder.file("backup"))) {
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    }
    #expect(try readFile(folder.file("backup")) == [1])
  }

  @Test("a damaged store gives no backup, unless it is not verified")
  func damagedSource() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
      store.type("text", in: "n", after: 0)
    }
    try SecondConnection(folder.file()).run("UPDATE log SET time = 0 WHERE revision = 2")
    let error = #expect(throws: StoreBackupError.self) {
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    }
    guard case .unsound(let findings) = error else {
      Issue.record("expected an unsound copy, came \(String(describing: error))")
      return
    }
    #expect(findings.problems.count == 1)
    #expect(!folder.names.contains { $0.hasPrefix("backup") })
    #expect(
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"), isVerified: false) == nil)
  }

  @Test("a restored store has another epoch, and the former text")
  func restore() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("a")
      store.create("b")
      store.type("before", in: "a", after: 0)
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
      store.type(" lost", in: "a", after: 6)
    }
    #expect(throws: StoreBackupError.exists(path: folder.file())) {
      try StoreBackup.restore(folder.file("backup"), to: folder.file(), names: Counter())
    }
    let restored = try StoreBackup.restore(
      folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    #expect(restored.findings.notes == 2)
    #expect(restored.replaced == folder.file() + ".replaced")
    let store = try SQLiteStore(path: folder.file())
    let document = try store.load("a")
    #expect(document.text == "before")
    #expect(document.epoch.text.hasPrefix("epoch-of-restore-"))
    #expect(try store.load("b").epoch != document.epoch)
    #expect(document.marks["ann"]?.sequence == 6)
    let next = entry(7, appending("!", to: 6))
    #expect(
      store.error(.append(id: "a", epoch: epoch, entries: [next])) == .notNext(headRevision: 6))
    #expect(store.error(.append(id: "a", epoch: document.epoch, entries: [next])) == nil)
    #expect(store.check().problems.isEmpty)
    // The replaced file still exists.
    #expect(
      try SQLiteStore(reading: folder.file() + ".replaced").load("a").text == "before lost")
    #expect(try SQLiteStore(reading: folder.file("backup")).load("a").epoch == epoch)
  }

  @Test("a restored store's rooms are another history, those without publications too")
  func rooms() throws {
    let (published, quiet): (RoomName, RoomName) = ("published", "quiet")
    func position(of room: RoomName, in store: SQLiteStore) throws -> RoomPosition {
      let request = RoomRequest.recover(
        room, from: nil, limit: 1, bytesMax: 1, retention: .standard, now: 5)
      guard case .room(.recovery(let recovery)) = store.one(.room(request)) else {
        throw StoreError.damaged("an unexpected reply")
      }
      return recovery.head
    }
    func publish(in store: SQLiteStore) {
      let draft = PublicationDraft(time: 5, data: JSONValue(trusted: Array("1".utf8)))
      let request = RoomRequest.publish(published, draft, retention: .standard, keyAge: 1)
      #expect(store.error(.room(request)) == nil)
    }
    let before: [RoomPosition]
    do {
      let store = try SQLiteStore(path: folder.file())
      publish(in: store)
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
      publish(in: store)
      before = [try position(of: published, in: store), try position(of: quiet, in: store)]
    }
    try StoreBackup.restore(
      folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    let store = try SQLiteStore(path: folder.file())
    let after = [try position(of: published, in: store), try position(of: quiet, in: store)]
    #expect(after.map(\.offset) == [1, 0])
    for (before, after) in zip(before, after) { #expect(before.epoch != after.epoch) }
    // A client with a position from before the restore cannot recover.
    let request = RoomRequest.recover(
      published, from: before[0], limit: 9, bytesMax: 99, retention: .standard, now: 5)
    #expect(
      store.one(.room(request)).recovery == RoomRecovery(head: after[0], missed: nil))
  }

  @Test("stores that were replaced before are kept")
  func replacedTwice() throws {
    do { try SQLiteStore(path: folder.file()).create("first") }
    try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    var names: [String?] = []
    for id in ["second", "third", "fourth"] {
      do { try SQLiteStore(path: folder.file()).create(DocumentID(id)) }
      names.append(
        try StoreBackup.restore(
          folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter()
        ).replaced)
    }
    #expect(
      names == [".replaced", ".replaced-2", ".replaced-3"].map { folder.file() + $0 })
    for (id, name) in zip(["second", "third", "fourth"], names.compactMap(\.self)) {
      #expect(try SQLiteStore(reading: name).load(DocumentID(id)).text == "")
    }
  }

  @Test("a backup is not restored beside a log of another database")
  func logAlone() throws {
    var store: SQLiteStore? = try SQLiteStore(path: folder.file())
    store?.create("n")
    try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    store?.create("later")
    let log = try readFile(folder.file() + "-wal")
    store = nil
    removeFile(folder.file())
    try writeFile(folder.file() + "-wal", log)
    let alone = StoreOpenError.logAlone(path: folder.file(), database: .missing)
    #expect(throws: StoreBackupError.file(alone)) {
      try StoreBackup.restore(folder.file("backup"), to: folder.file(), names: Counter())
    }
    #expect(throws: StoreBackupError.file(alone)) {
      try StoreBackup.make(of: folder.file(), at: folder.file("another"))
    }
    let restored = try StoreBackup.restore(
      folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    #expect(try readFile((restored.replaced ?? "") + "-wal") == log)
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "")
  }

  @Test("an open store is not replaced by a restore")
  func inUse() throws {
    let store = try SQLiteStore(path: folder.file())
    try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    let error = #expect(throws: StoreBackupError.self) {
      try StoreBackup.restore(
        folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    }
    guard case .file(.inUse) = error else {
      Issue.record("expected a store in use, came \(String(describing: error))")
      return
    }
    store.create("n")
  }

  @Test("a damaged backup is refused, and the existing store is kept")
  func damagedBackup() throws {
    do {
      let store = try SQLiteStore(path: folder.file())
      store.create("n")
      store.type("text", in: "n", after: 0)
      try StoreBackup.make(of: folder.file(), at: folder.file("backup"))
    }
    try SecondConnection(folder.file("backup")).run("DELETE FROM log WHERE revision = 2")
    let error = #expect(throws: StoreBackupError.self) {
      try StoreBackup.restore(
        folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    }
    guard case .unsound = error else {
      Issue.record("expected an unsound backup, came \(String(describing: error))")
      return
    }
    #expect(try SQLiteStore(path: folder.file()).load("n").text == "text")
    #expect(!folder.names.contains { $0.contains("partial") })
  }

  @Test("other files are neither backed up nor restored")
  func foreign() throws {
    try writeFile(folder.file("diary"), Array("Dear diary".utf8))
    #expect(throws: StoreBackupError.file(.notAStore(path: folder.file("diary")))) {
      try StoreBackup.make(of: folder.file("diary"), at: folder.file("backup"))
    }
    #expect(throws: StoreBackupError.file(.noStore(path: folder.file("nothing")))) {
      try StoreBackup.restore(folder.file("nothing"), to: folder.file(), names: Counter())
    }
  }
}

extension StoreReply {
  fileprivate var recovery: RoomRecovery? {
    if case .room(.recovery(let recovery)) = self { recovery } else { nil }
  }
}
