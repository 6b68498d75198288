import Gateway
import GatewayPorts
import OTCore
import ParleyServer
import StoreSQLite
import Testing

@Suite("Reading beside commits")
struct StoreReaderTests {
  private let folder = TestFolder()

  @Test("a reader that does not come back delays no commit")
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

  @Test("a read sees every commit that was over when it was asked for")
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

  @Test("what the reader is asked for beside commits changes nothing")
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

  @Test("a stop answers the reads that wait, and leaves everything in the one file")
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
