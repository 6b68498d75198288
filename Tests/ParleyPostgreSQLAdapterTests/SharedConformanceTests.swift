import ParleyPortConformance
import ParleyPostgreSQLAdapter
import ParleyStoreRecords
import Testing

@Suite("PostgresStore, shared by nodes, does what the port says")
struct SharedConformanceTests {
  // A lost answer is settled by the store itself: see `ReconnectingTests`.
  @Test(
    "over PostgreSQL", arguments: SharedStoreConformance.checks.filter { !$0.needsLostAnswers })
  func postgres(check: SharedStoreCheck) throws {
    let server = try PostgresServer.shared.get()
    let address = try #require(PostgresAddress(server.newDatabase()))
    try check.run(opening: { try PostgresStore(address, sharing: .shared) })
    #expect(try PostgresStore(address, sharing: .reading).check().problems == [])
  }
}
