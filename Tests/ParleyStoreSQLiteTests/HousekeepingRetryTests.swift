import ParleyGatewayPorts
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

/// Housekeeping that first fails because of a disk error or a damaged log.
@Suite("Housekeeping that has failed")
struct HousekeepingRetryTests {
  /// A housekeeping task, and the trigger that makes it fail.
  enum Piece: CaseIterable {
    case snapshot, compaction, removal

    var trigger: String {
      let event =
        switch self {
        case .snapshot: "INSERT ON snapshots"
        case .compaction: "UPDATE OF base ON documents WHEN NEW.base > OLD.base"
        case .removal: "DELETE ON log"
        }
      return "CREATE TRIGGER refuse BEFORE \(event) BEGIN SELECT RAISE(ABORT, 'no'); END"
    }
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(isInMemory: true) }

  private func maintain(_ store: SQLiteStore) {
    for _ in 0..<100 where !store.maintain() { return }
    Issue.record("housekeeping does not end")
  }

  @Test("is done when it is tried again, without a change of its note", arguments: Piece.allCases)
  func retry(piece: Piece) throws {
    let store = try SQLiteStore(path: folder.file())
    let other = try SecondConnection(folder.file())
    store.create("n")
    if piece == .compaction { store.retention = Retention(entriesMin: 10, ageMin: 0) }
    try other.run(piece.trigger)
    store.type(String(repeating: "x", count: 1_300), in: "n", after: 0)
    if piece == .removal { #expect(store.error(.delete(id: "n")) == nil) }
    func isDone() throws -> Bool {
      switch piece {
      case .snapshot: try other.integer("SELECT count(*) FROM snapshots") > 0
      case .compaction: try other.integer("SELECT max(base) FROM documents") > 0
      case .removal: try other.integer("SELECT count(*) FROM log") == 0
      }
    }
    maintain(store)
    #expect(try !isDone())
    #expect(store.hasFailedChores)
    try other.run("DROP TRIGGER refuse")
    store.retryChores()
    #expect(!store.hasFailedChores)
    maintain(store)
    #expect(try isDone())
    #expect(!store.hasFailedChores)
  }

  @Test("a log that cannot be read does not keep other notes from their snapshots")
  func others() throws {
    let store = try SQLiteStore(path: folder.file())
    let other = try SecondConnection(folder.file())
    for id in ["a", "b", "c"] {
      store.create(DocumentID(id))
      store.type(String(repeating: "x", count: 1_300), in: DocumentID(id), after: 0)
    }
    try other.run("UPDATE log SET author = 'Eve' WHERE document = 2 AND revision = 7")
    maintain(store)
    #expect(try other.integer("SELECT count(*) FROM snapshots") == 2)
    #expect(store.hasFailedChores)
  }

  @Test("deleted notes that cannot be read do not keep others from being removed")
  func unreadableDeletions() throws {
    let store = try SQLiteStore(path: folder.file())
    let other = try SecondConnection(folder.file())
    for (index, id) in ["a", "b", "c", "d"].enumerated() {
      store.create(DocumentID(id))
      let deletion = Deletion(time: Timestamp(index), author: "Ann")
      #expect(store.error(.delete(id: DocumentID(id), keeping: deletion)) == nil)
    }
    try other.run("UPDATE deleted_documents SET title = 'x' WHERE deleted < 3")
    #expect(store.error(.deleted(.removeOlder(than: 100, limit: 2))) == nil)
    #expect(try other.integer("SELECT count(*) FROM deleted_documents") == 3)
  }
}
