import Gateway
import ParleyGatewayPorts
import ParleyJSON
import OTCore
import ParleyServer
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Reading during commits")
struct StoreReaderTests {
  private let folder = TestFolder()

  @Test("a blocked reader delays no commit")
  func blocked() throws {
    let gate = Gate()
    let rig = try StoreThreadRig(folder, readingStore: BlockedStore(gate))
    let read = rig.submit(.text(id: "n", at: .revision(.max)))
    gate.awaitVisitor()
    rig.create("n")
    for revision in 1...20 { rig.append(revision) }
    #expect(!rig.hasReply(for: read))
    gate.open()
    guard case .failed(.unknownDocument) = rig.reply(to: read) else {
      Issue.record("the read came to another end")
      return
    }
    rig.thread.stop()
  }

  @Test("a read sees every commit that was complete when it was requested")
  func order() throws {
    let rig = try StoreThreadRig(folder)
    rig.create("n")
    for revision in 1...100 {
      rig.append(revision)
      let text = rig.submit(.text(id: "n", at: .revision(.max)))
      let note = rig.submit(.note(id: "n"))
      let entries = rig.submit(.entries(id: "n", after: revision - 1, through: revision))
      guard case .text(let found) = rig.reply(to: text),
        case .note(let summary) = rig.reply(to: note),
        case .entries(let read) = rig.reply(to: entries)
      else {
        Issue.record("a read of revision \(revision) failed")
        return
      }
      #expect(found.revision == revision)
      #expect(summary.revision == revision)
      #expect(read.map(\.revision) == [revision])
    }
    let metrics = rig.thread.metrics
    #expect(metrics.reads == 300)
    #expect(metrics.readsQueued == 0)
    rig.thread.stop()
  }

  @Test("a snapshot of a room's values has all publications that were requested before it")
  func snapshots() throws {
    let rig = try StoreThreadRig(folder)
    let change = ValueChange([ValueOperation("n", .add(1))])
    let query = ValueQuery(.prefix("", after: nil))
    for number in 1...50 {
      let publish = RoomRequest.publish(
        "r", PublicationDraft(time: 1, data: nil, change: change), retention: .standard, keyAge: 1)
      let tickets = rig.submit([
        .room(publish), .room(.values("r", query)),
        .room(
          .recover(
            "r", from: nil, limit: 1, bytesMax: 1, retention: .standard, now: 1, values: query)),
      ])
      guard case .room(.values(let page)) = rig.reply(to: tickets[1]),
        case .room(.recovery(let recovery)) = rig.reply(to: tickets[2])
      else {
        Issue.record("a read failed")
        return
      }
      for page in [page, recovery.values] {
        #expect(page?.head.offset == number)
        #expect(page?.values.map(\.value.value.integer) == [number])
      }
    }
    rig.thread.stop()
  }

  @Test("reads during commits change nothing")
  func readOnly() throws {
    let rig = try StoreThreadRig(folder)
    rig.create("n")
    rig.thread.stop()
    let store = try SQLiteStore(reading: folder.storePath)
    guard case .failed(.unavailable) = store.perform([.delete(id: "n")])[0] else {
      Issue.record("a store opened for reading was written to")
      return
    }
  }

  @Test("stopping answers waiting reads, and leaves all data in one file")
  func stopping() throws {
    let rig = try StoreThreadRig(folder)
    rig.create("n")
    rig.append(1)
    let reads = (0..<50).map { _ in rig.submit(.history(id: "n", after: 0, limit: 9, pause: 1)) }
    rig.thread.stop()
    for read in reads {
      guard case .history(let page) = rig.reply(to: read) else {
        Issue.record("a read was not answered")
        return
      }
      #expect(page.head == 1)
    }
    #expect(folder.size(of: "notes.parley-wal") == 0)
  }
}

@Suite("Folding during commits")
struct FoldingTests {
  private let folder = TestFolder()

  @Test("the reading thread folds snapshots as the log grows, with the same result")
  func snapshots() throws {
    let rig = try StoreThreadRig(folder)
    rig.create("n")
    var revision = 0
    while rig.thread.metrics.folds < 3 {
      rig.append(from: revision + 1, through: revision + 400)
      revision += 400
      guard case .text(let text) = rig.reply(to: rig.submit(.text(id: "n", at: .revision(.max))))
      else {
        Issue.record("no text came")
        return
      }
      #expect(text.revision == revision)
      #expect(text.authors == [AuthorRun(author: "Ann", count: revision)])
    }
    rig.thread.stop()
    let store = try SQLiteStore(reading: folder.storePath)
    let findings = store.check()
    #expect(findings.problems == [])
    #expect(findings.snapshots >= 3)
  }

  /// Creates a store with an empty note, whose log another connection folds.
  private func storeWithReader() throws -> (SQLiteStore, reader: SQLiteStore, FoldRig) {
    let store = try SQLiteStore(path: folder.storePath)
    store.runsChoresElsewhere = true
    let rig = FoldRig(store)
    rig.create()
    return (store, try SQLiteStore(reading: folder.storePath), rig)
  }

  @Test("a late fold of a note is discarded")
  func late() throws {
    let (store, reader, rig) = try storeWithReader()
    rig.append(1...900)
    let orders = store.takeChores()
    #expect(orders.map(\.id) == ["n"])
    #expect(store.takeChores().isEmpty)
    let folded = try #require(try reader.work(on: orders[0]))
    // Create the note again, with a log of the same length.
    rig.delete()
    rig.create()
    rig.append(1...900)
    try store.keep(folded)
    #expect(store.check().snapshots == 0)
    // The fold of the new note is stored, and entries after it count towards the next fold.
    let again = try #require(try reader.work(on: store.takeChores()[0]))
    rig.append(901...950)
    try store.keep(again)
    #expect(store.check().snapshots == 1)
    #expect(store.check().problems == [])
    #expect(store.takeChores().isEmpty)
    rig.append(951...1_800)
    #expect(store.takeChores().count == 1)
  }

  @Test("an imported log is folded in pieces")
  func inPieces() throws {
    let (store, reader, rig) = try storeWithReader()
    rig.append(1...9_000)
    var count = 0
    while let chore = store.takeChores().first {
      try store.keep(try #require(try reader.work(on: chore)))
      count += 1
      #expect(store.check().snapshots == count)
    }
    // Entries are single letters: 64 KiB of the log contain about 900.
    #expect((8...10).contains(count))
    #expect(store.check().problems == [])
    for revision in [0, 1, 999, 4_321, 8_999, 9_000] {
      let reply = reader.perform([.text(id: "n", at: .revision(revision))])[0]
      guard case .text(let text) = reply else {
        Issue.record("no text came")
        return
      }
      #expect(text.text.utf8.count == revision)
    }
  }

  @Test("entries removed by retention are folded first")
  func retention() throws {
    let store = try SQLiteStore(path: folder.storePath)
    store.runsChoresElsewhere = true
    store.retention = Retention(entriesMin: 100, ageMin: 0)
    let reader = try SQLiteStore(reading: folder.storePath)
    let rig = FoldRig(store)
    rig.create()
    rig.append(1...1_300)
    #expect(
      rig.isDone(
        .saveVersion(
          id: "n", epoch: StoreThreadRig.epoch,
          version: NamedVersion(revision: 7, name: "v", author: "Ann", time: 1))))
    for order in store.takeChores() {
      guard let folded = try reader.work(on: order) else { continue }
      try store.keep(folded)
    }
    while store.maintain() {}
    let findings = store.check()
    #expect(findings.problems == [])
    #expect(findings.entries == 100)
    guard case .text(let text) = reader.perform([.text(id: "n", at: .revision(7))])[0] else {
      Issue.record("the version's text is gone")
      return
    }
    #expect(text.text == "xxxxxxx")
  }

  /// A store with one note.
  private struct FoldRig {
    let store: SQLiteStore

    init(_ store: SQLiteStore) { self.store = store }

    func isDone(_ request: StoreRequest) -> Bool {
      if case .done = store.perform([request])[0] { true } else { false }
    }

    func create() {
      _ = store.perform([.create(id: "n", epoch: StoreThreadRig.epoch, title: "", time: 1)])
    }

    func delete() { #expect(isDone(.delete(id: "n"))) }

    func append(_ revisions: ClosedRange<Int>) {
      #expect(
        isDone(
          .append(
            id: "n", epoch: StoreThreadRig.epoch,
            entries: revisions.map(StoreThreadRig.entry))))
    }
  }
}
