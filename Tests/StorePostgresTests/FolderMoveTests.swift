import Foundation
import GatewayPorts
import PostgresClient
import StorePostgres
import Synchronization
import Testing

/// Two nodes that move the notes of one folder at once.
@Suite("A folder that two nodes move")
struct FolderMoveTests {
  /// Moves the first note, and commits when somebody waits for it.
  private static let otherNode = """
    BEGIN;
    UPDATE parley.documents SET folder = 'new' WHERE id = 'n0';
    DO $$ BEGIN
      WHILE NOT EXISTS (SELECT 1 FROM pg_locks
        WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))
      LOOP PERFORM pg_sleep(0.005); END LOOP;
    END $$;
    COMMIT
    """

  @Test("a portion whose notes another node moved first leaves those that are left for the next")
  func portions() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.newDatabase()
    let store = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    let (old, new) = (try FolderPath("old"), try FolderPath("new"))
    for index in 0..<2 {
      let note = StoreRequest.create(
        id: "n\(index)", epoch: "e", title: "", time: Timestamp(index + 1), folder: old)
      #expect(store.perform([note])[0].isDone)
    }
    let failure = Mutex<String?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread {
      let words = Result { try server.execute(Self.otherNode, in: database) }
      failure.withLock { if case .failure(let error) = words { $0 = "\(error)" } }
      hasEnded.signal()
    }.start()
    let look = "SELECT 1 FROM parley.documents WHERE id = 'n0' FOR UPDATE SKIP LOCKED"
    while try !server.execute(look, in: database).isEmpty { poll(nil, 0, 5) }
    func move() -> (ids: [DocumentID], hasMore: Bool)? {
      guard
        case .folders(.moved(let notes, let hasMore)) = store.perform([
          .folders(.moveAll(from: old, to: new, limit: 1))
        ])[0]
      else { return nil }
      return (notes.map(\.id), hasMore)
    }
    let first = try #require(move())
    hasEnded.wait()
    #expect(failure.withLock { $0 } == nil)
    #expect(first.ids.isEmpty && first.hasMore)
    let second = try #require(move())
    #expect(second.ids == ["n1"] && !second.hasMore)
  }
}
