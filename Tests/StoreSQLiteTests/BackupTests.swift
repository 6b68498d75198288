import GatewayPorts
import OTCore
import PortConformance
import StoreSQLite
import Testing

@Suite("Backup and restore")
struct BackupTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  /// Names one after the other.
  private final class Counter: NameSource {
    private var count = 0
    func next() -> String {
      count += 1
      return "epoch-of-restore-\(count)"
    }
  }

  @Test("a backup has what was replied before it, and goes on beside the server")
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

  @Test("a damaged store gives no backup, unless nobody looks")
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

  @Test("a restored store is another history, and the text of before")
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
    let findings = try StoreBackup.restore(
      folder.file("backup"), to: folder.file(), isReplacing: true, names: Counter())
    #expect(findings.notes == 2)
    let store = try SQLiteStore(path: folder.file())
    let document = try store.load("a")
    #expect(document.text == "before")
    #expect(document.epoch.hasPrefix("epoch-of-restore-"))
    #expect(try store.load("b").epoch != document.epoch)
    #expect(document.marks["ann"]?.sequence == 6)
    let next = entry(7, appending("!", to: 6))
    #expect(
      store.error(.append(id: "a", epoch: epoch, entries: [next])) == .notNext(headRevision: 6))
    #expect(store.error(.append(id: "a", epoch: document.epoch, entries: [next])) == nil)
    #expect(store.check().problems.isEmpty)
    // What was replaced is still there.
    #expect(
      try SQLiteStore(reading: folder.file() + ".replaced").load("a").text == "before lost")
    #expect(try SQLiteStore(reading: folder.file("backup")).load("a").epoch == epoch)
  }

  @Test("a store that is open is not restored over")
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

  @Test("a damaged backup is refused, and what is there stays")
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

  @Test("a file that is no store is neither backed up nor restored")
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
