import ParleyGatewayPorts
import ParleyGrowthKit
import ParleyPortConformance
import ParleyStoreSQLite
import Testing

@Suite("The index of words in SQLite")
struct SearchIndexTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func note(_ id: String, _ text: String, revision: Int = 1) -> IndexedNote {
    IndexedNote(
      id: DocumentID(id), title: "Note \(id)", text: text,
      state: IndexedState(revision: revision, updatedAt: 1, createdAt: 1))
  }

  @Test("the index satisfies the port's requirements", arguments: SearchIndexConformance.checks)
  func conforms(check: SearchIndexConformance.Check) throws {
    try check.run(try SQLiteSearchIndex(beside: folder.file()))
  }

  @Test("indexed notes are found after a restart, and by a second reader")
  func reopened() throws {
    #expect(try SQLiteSearchIndex(reading: folder.file()) == nil)
    var owner: SQLiteSearchIndex? = try SQLiteSearchIndex(beside: folder.file())
    try owner?.put(Self.note("n", "a duck"))
    let reader = try #require(try SQLiteSearchIndex(reading: folder.file()))
    #expect(try reader.find(SearchQuery("duck"), skipping: 0, limit: 9) == ["n"])
    #expect(throws: StoreError.self) { try reader.put(Self.note("m", "")) }
    owner = nil
    owner = try SQLiteSearchIndex(beside: folder.file())
    #expect(try owner?.states(of: ["n"]).first??.revision == 1)
  }

  @Test("a file of another version, or with other contents, is rebuilt")
  func foreign() throws {
    let path = SQLiteSearchIndex.path(beside: folder.file())
    for bytes in [Array("no database at all, and more than a page's header ".utf8), []] {
      removeFile(path)
      try writeFile(path, bytes)
      let index = try SQLiteSearchIndex(beside: folder.file())
      #expect(try index.ids(after: nil, limit: 9) == [])
      try index.put(Self.note("n", "a duck"))
      #expect(try index.find(SearchQuery("duck"), skipping: 0, limit: 9) == ["n"])
    }
    // Bytes 60 to 63 of the header contain the version.
    var bytes = try readFile(path)
    bytes[63] = 99
    removeFile(path + "-wal")
    removeFile(path + "-shm")
    try writeFile(path, bytes)
    #expect(try SQLiteSearchIndex(reading: folder.file()) == nil)
    #expect(try SQLiteSearchIndex(beside: folder.file()).ids(after: nil, limit: 9) == [])
  }

  @Test("indexing a note costs in proportion to its length")
  func growthWithLength() throws {
    let path = folder.file("long")
    let law = GrowthLaw("put, scalars", size: 40_000) { size in
      let index = try? SQLiteSearchIndex(beside: "\(path)-\(size)")
      let text = (0..<(size / 10)).map { "word\($0 % 10_000)" }.joined(separator: " ")
      return (index, text)
    } run: { index, text in
      _ = try? index?.put(Self.note("n", text))
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }

  @Test("to index a note costs no more among many: notes cost in proportion to their number")
  func growthWithNotes() throws {
    let path = folder.file("many")
    let law = GrowthLaw(
      "put, notes", size: 250,
      prepareEach: { size in
        for ending in ["", "-wal", "-shm"] {
          removeFile(SQLiteSearchIndex.path(beside: path) + ending)
        }
        let index = try? SQLiteSearchIndex(beside: path)
        return (index, size)
      }
    ) { input in
      for number in 0..<input.1 {
        _ = try? input.0?.put(Self.note("\(number)", "some words \(number) duck x\(number % 100)"))
      }
    }
    let finding = law.check()
    #expect(finding.holds, "\(finding)")
  }
}
