import ParleyPortConformance
import ParleyPostgreSQLAdapter
import ParleyStoreRecords
import Testing

@Suite("PostgresStore does what the port says")
struct ConformanceTests {
  @Test(
    "over PostgreSQL", arguments: DocumentStoreConformance.checks + GroupConformance.checks)
  func postgres(check: ConformanceCheck) throws {
    let server = try PostgresServer.shared.get()
    let address = try #require(PostgresAddress(server.newDatabase()))
    try check.run { try PostgresStore(address) }
    #expect(try PostgresStore(address, sharing: .reading).check().problems == [])
  }
}
