import Testing

/// The stores' rules, each a struct in a file of its own.
@Suite("Rules of the stores")
struct StoreRuleTests {
  private static let folder = "Sources/Adapters/ParleyStoreRecords/Statements"

  private let tree = SourceTree()

  @Test("files of rules do not depend on each other in a circle")
  func circles() throws {
    let files = try tree.files(in: Self.folder, endings: ["swift"])
    var owners: [String: String] = [:]
    for file in files {
      for line in file.code {
        let declared = line.firstMatch(
          of: /^(?:package |private |final |fileprivate )*(?:struct|class|enum|protocol) (\w+)/)
        if let declared { owners[String(declared.1)] = file.path }
      }
    }
    #expect(owners.count >= 30)
    var uses: [String: Set<String>] = [:]
    for file in files {
      let words = file.code.flatMap { $0.matches(of: /\w+/).map { String($0.output) } }
      uses[file.path] = Set(words.compactMap { owners[$0] }).subtracting([file.path])
    }
    // What depends on nothing that is left is removed, until only circles are left.
    while let free = uses.first(where: { $0.value.isDisjoint(with: uses.keys) }) {
      uses[free.key] = nil
    }
    #expect(uses.keys.sorted() == [])
  }
}
