import ParleyGatewayPorts
import ParleyPortConformance
import ParleyPostgreSQLAdapter
import Testing

@Suite("The index of words in PostgreSQL")
struct SearchIndexTests {
  @Test("the index satisfies the port's requirements", arguments: SearchIndexConformance.checks)
  func conforms(check: SearchIndexConformance.Check) throws {
    let address = try Self.database()
    _ = try PostgresStore(address)
    try check.run(try PostgresSearchIndex(address))
  }

  @Test("two nodes share one index, which keeps the newer revision")
  func shared() throws {
    let address = try Self.database()
    #expect(try PostgresSearchIndex(reading: address) == nil)
    _ = try PostgresStore(address)
    let indexes = [try PostgresSearchIndex(address), try PostgresSearchIndex(address)]
    #expect(indexes[0].isShared)
    for (index, revision) in [(0, 2), (1, 1)] {
      try indexes[index].put(
        IndexedNote(
          id: "n", title: "", text: "text \(revision)",
          state: IndexedState(revision: revision, updatedAt: 1, createdAt: 1)))
    }
    #expect(try indexes[1].text(of: "n") == "text 2")
    let reader = try #require(try PostgresSearchIndex(reading: address))
    #expect(try reader.find(SearchQuery("text"), skipping: 0, limit: 9) == ["n"])
  }

  private static func database() throws -> PostgresAddress {
    try #require(PostgresAddress(try PostgresServer.shared.get().newDatabase()))
  }
}
