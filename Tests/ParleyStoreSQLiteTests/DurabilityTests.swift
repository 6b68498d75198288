import Glibc
import ParleyGatewayPorts
import OTCore
import ParleyStoreSQLite
import Testing

@Suite("Replied work is durable")
struct DurabilityTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("another connection sees what a reply reported")
  func secondConnection() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type("hello", in: "n", after: 0)
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM log") == 5)
    #expect(try other.integer("SELECT revision FROM documents") == 5)
    #expect(try other.integer("SELECT sequence FROM marks") == 5)
  }

  @Test("acknowledged work survives a killed process")
  func killed() async throws {
    let path = folder.file()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteStore(path: path)
      store.create("n")
      for revision in 0..<50 { store.type("x", in: "n", after: revision) }
      kill(getpid(), SIGKILL)
    }
    let document = try SQLiteStore(path: path).load("n")
    #expect(document.summary.revision == 50)
    #expect(document.text.utf8.count == 50)
    #expect(document.marks["ann"]?.sequence == 50)
  }

  @Test("a batch that the disk refuses has no effect, and reads are answered")
  func fullDisk() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type("kept", in: "n", after: 0)
    try store.limitPages(to: 0)
    let paste = String(repeating: "long ", count: 20_000)
    let replies = store.perform([
      .rename(id: "n", title: "Lost", time: 9),
      .load(id: "n", recentMax: 0),
      .append(id: "n", epoch: epoch, entries: [entry(5, appending(paste, to: 4))]),
      .list,
    ])
    guard case .failed(.unavailable(let words)) = replies[2] else {
      Issue.record("expected the append to be refused, came \(replies[2])")
      return
    }
    #expect(words.contains("disk is full"))
    #expect(try store.load("n").text == "kept")
    #expect(try store.load("n").summary.revision == 4)
    try store.limitPages(to: 1_000_000)
    #expect(
      store.error(.append(id: "n", epoch: epoch, entries: [entry(5, appending(paste, to: 4))]))
        == nil)
    #expect(try store.load("n").text == "kept" + paste)
  }

  @Test("snapshots are taken as the log grows, and change nothing")
  func snapshots() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    var revision = 0
    for _ in 0..<40 {
      revision = store.type(String(repeating: "y", count: 100), in: "n", after: revision)
      while store.maintain() {}
    }
    let other = try SecondConnection(folder.file())
    #expect(try other.integer("SELECT count(*) FROM snapshots") >= 2)
    #expect(try store.load("n").text == String(repeating: "y", count: 4_000))
    #expect(
      try store.load("n", recentMax: 5)
        .recent.count == 5)
  }

  @Test("the rows of a deleted note are removed")
  func garbage() throws {
    let store = try SQLiteStore(path: folder.file())
    store.create("n")
    store.type(String(repeating: "z", count: 3_000), in: "n", after: 0)
    #expect(store.error(.delete(id: "n")) == nil)
    while store.maintain() {}
    let other = try SecondConnection(folder.file())
    for table in ["documents", "log", "marks", "snapshots", "epochs", "garbage"] {
      #expect(try other.integer("SELECT count(*) FROM \(table)") == 0, "\(table)")
    }
  }
}
