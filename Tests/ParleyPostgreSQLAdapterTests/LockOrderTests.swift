import Foundation
import ParleyGatewayPorts
import ParleyPostgreSQLAdapter
import Synchronization
import Testing

/// Rows that a batch changes are locked in one order: two batches never wait for each other in a circle.
@Suite("The order of locks")
struct LockOrderTests {
  /// Rows of which a batch changes several.
  enum Rows: String, CaseIterable {
    case sessions
    case documents

    /// Holds the first row until the batch waits for it, and then looks whether the batch has the second already.
    var witness: String {
      """
      BEGIN;
      SELECT 1 FROM parley.\(rawValue) WHERE id = 's.a' FOR UPDATE;
      DO $$ BEGIN
        WHILE NOT EXISTS (SELECT 1 FROM pg_locks
          WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))
        LOOP PERFORM pg_sleep(0.005); END LOOP;
      END $$;
      SELECT 1 FROM parley.\(rawValue) WHERE id = 's.b' FOR UPDATE NOWAIT;
      COMMIT
      """
    }

    func make(_ user: String) -> StoreRequest {
      switch self {
      case .sessions:
        let session = Session(
          id: "s." + user, user: user, begunAt: 1, endsAt: 9_000,
          device: Session.Device(browser: "", system: ""), LockOrderTests.rule)
        return .logins(.begin(session, countMax: 9))
      case .documents:
        return .create(
          id: "s.\(user)", epoch: "e.\(user)", title: "", time: 1, folder: FolderPath.none)
      }
    }

    func change(_ user: String) -> StoreRequest {
      switch self {
      case .sessions:
        .logins(
          .renew(id: "s." + user, user: user, turn: 1, now: 2, LockOrderTests.rule))
      case .documents: .rename(id: "s.\(user)", title: "new", time: 2)
      }
    }
  }

  private static let rule = SessionRule(idleMilliseconds: 1_000)

  @Test(
    "the order of locks does not depend on the order of changes", arguments: Rows.allCases)
  func order(rows: Rows) throws {
    let server = try PostgresServer.shared.get()
    let database = try server.newDatabase()
    let store = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    for user in ["a", "b"] { #expect(store.perform([rows.make(user)])[0].isDone) }
    let outcome = Mutex<String?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread {
      let words = Result { try server.execute(rows.witness, in: database) }
      outcome.withLock { if case .failure(let error) = words { $0 = "\(error)" } }
      hasEnded.signal()
    }.start()
    let look = "SELECT 1 FROM parley.\(rows.rawValue) WHERE id = 's.a' FOR UPDATE SKIP LOCKED"
    while try !server.execute(look, in: database).isEmpty { poll(nil, 0, 5) }
    let replies = store.perform(["b", "a"].map(rows.change))
    #expect(replies.map(\.isDone) == [true, true])
    hasEnded.wait()
    #expect(outcome.withLock { $0 } == nil)
  }
}
