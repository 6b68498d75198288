import Foundation
import GatewayPorts
import PostgresClient
import StorePostgres
import Synchronization
import Testing

/// Rows that a batch changes are locked in one order: two batches never wait for each other in a circle.
@Suite("The order of locks")
struct LockOrderTests {
  /// Holds one session until the batch waits for it, and then looks whether the batch has the other already.
  private static let witness = """
    BEGIN;
    SELECT 1 FROM parley.sessions WHERE id = 's.a' FOR UPDATE;
    DO $$ BEGIN
      WHILE NOT EXISTS (SELECT 1 FROM pg_locks
        WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))
      LOOP PERFORM pg_sleep(0.005); END LOOP;
    END $$;
    SELECT 1 FROM parley.sessions WHERE id = 's.b' FOR UPDATE NOWAIT;
    COMMIT
    """

  @Test("a batch takes sessions by their ids, in whatever order it renews them")
  func sessions() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.newDatabase()
    let store = try PostgresStore(try #require(PostgresAddress(database)), sharing: .shared)
    let rule = SessionRule(idleMilliseconds: 1_000)
    let device = Session.Device(browser: "", system: "")
    for user in ["a", "b"] {
      let session = Session(
        id: "s." + user, user: user, begunAt: 1, endsAt: 9_000, device: device, rule)
      #expect(store.perform([.logins(.begin(session, countMax: 9))])[0].isDone)
    }
    let outcome = Mutex<String?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread {
      let words = Result { try server.execute(Self.witness, in: database) }
      outcome.withLock { if case .failure(let error) = words { $0 = "\(error)" } }
      hasEnded.signal()
    }.start()
    let look = "SELECT 1 FROM parley.sessions WHERE id = 's.a' FOR UPDATE SKIP LOCKED"
    while try !server.execute(look, in: database).isEmpty { poll(nil, 0, 5) }
    let replies = store.perform(
      ["b", "a"].map { user in
        .logins(.renew(id: "s." + user, user: user, turn: 1, adopting: nil, now: 2, rule))
      })
    #expect(replies.map(\.isDone) == [true, true])
    hasEnded.wait()
    #expect(outcome.withLock { $0 } == nil)
  }
}
