import ParleyPortConformance
import ParleySimulationKit
import ParleyStoreRecords
import ParleyStoreSQLite
import Testing

@Suite("Stores do what the port says")
struct ConformanceTests {
  @Test("over SQLite", arguments: DocumentStoreConformance.checks)
  func sqlite(check: ConformanceCheck) throws {
    let folder = try TemporaryFolder(isInMemory: true)
    try check.run { try SQLiteStore(path: folder.file()) }
    #expect(try SQLiteStore(reading: folder.file()).check().problems == [])
  }

  @Test("groups over SQLite", arguments: GroupConformance.checks)
  func sqliteGroups(check: ConformanceCheck) throws {
    let folder = try TemporaryFolder(isInMemory: true)
    try check.run { try SQLiteStore(path: folder.file()) }
    #expect(try SQLiteStore(reading: folder.file()).check().problems == [])
  }

  @Test("groups in memory", arguments: GroupConformance.checks)
  func memoryGroups(check: ConformanceCheck) throws {
    let store = MemoryStore()
    try check.run {
      store.restart()
      return store
    }
  }

  @Test("in memory", arguments: DocumentStoreConformance.checks)
  func memory(check: ConformanceCheck) throws {
    let store = MemoryStore()
    try check.run {
      store.restart()
      return store
    }
  }
}
