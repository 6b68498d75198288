import Foundation
import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
import Synchronization
import Testing

/// Two nodes that move the notes of one folder at once.
@Suite("A folder that two nodes move")
struct FolderMoveTests {
  /// Moves the first note, and commits when another transaction waits for it.
  private static func otherNode(movingTo folder: String) -> String {
    """
    BEGIN;
    UPDATE parley.documents SET folder = '\(folder)' WHERE id = 'n0';
    DO $$ BEGIN
      WHILE NOT EXISTS (SELECT 1 FROM pg_locks
        WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))
      LOOP PERFORM pg_sleep(0.005); END LOOP;
    END $$;
    COMMIT
    """
  }

  private let server: PostgresServer
  private let database: String
  private let store: PostgresStore
  private let old: FolderPath

  /// Two notes in one folder.
  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.newDatabase()
    store = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    old = try FolderPath("old")
    for index in 0..<2 {
      let note = StoreRequest.create(
        id: "n\(index)", epoch: "e", title: "", time: Timestamp(index + 1), folder: old)
      #expect(store.perform([note])[0].isDone)
    }
  }

  /// Moves a portion of the folder's notes.
  private func move(
    to new: FolderPath, limit: Int
  ) throws -> (notes: [NoteSummary], hasMore: Bool) {
    let reply = store.perform([.folders(.moveAll(from: old, to: new, limit: limit))])[0]
    guard case .folders(.moved(let notes, let hasMore, rest: nil)) = reply else {
      throw StoreError.damaged("an unexpected reply")
    }
    return (notes, hasMore)
  }

  /// Runs `body` while another node holds the first note, which that node moves as soon as `body` waits for it.
  private func beside<Result>(
    _ otherNode: String, _ body: () throws -> Result
  ) throws -> Result {
    let failure = Mutex<String?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread { [server, database] in
      let words = Swift.Result { try server.execute(otherNode, in: database) }
      failure.withLock { if case .failure(let error) = words { $0 = "\(error)" } }
      hasEnded.signal()
    }.start()
    let look = "SELECT 1 FROM parley.documents WHERE id = 'n0' FOR UPDATE SKIP LOCKED"
    while try !server.execute(look, in: database).isEmpty { poll(nil, 0, 5) }
    let result = try body()
    hasEnded.wait()
    #expect(failure.withLock { $0 } == nil)
    return result
  }

  @Test("a portion whose notes another node moved first leaves the remaining ones for the next")
  func portions() throws {
    let new = try FolderPath("new")
    let first = try beside(Self.otherNode(movingTo: "new")) { try move(to: new, limit: 1) }
    #expect(first.notes.isEmpty && first.hasMore)
    let second = try move(to: new, limit: 1)
    #expect(second.notes.map(\.id) == ["n1"] && !second.hasMore)
  }

  @Test("a note that another node moved deeper meanwhile is moved from there")
  func deeper() throws {
    let new = try FolderPath("new")
    let moved = try beside(Self.otherNode(movingTo: "old/deep")) { try move(to: new, limit: 9) }
    let folders = Dictionary(uniqueKeysWithValues: moved.notes.map { ($0.id, $0.folder.text) })
    #expect(folders == ["n0": "new/deep", "n1": "new"])
  }
}
