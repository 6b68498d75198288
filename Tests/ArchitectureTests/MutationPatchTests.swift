import Testing

/// `Tests/Mutations`: a patch that no longer fits finds no bug, and nobody would notice until
/// `make mutations` is run.
@Suite("Deliberate bugs")
struct MutationPatchTests {
  private let tree = SourceTree()

  @Test("every patch fits the code")
  func patches() throws {
    let patches = try tree.files(in: "Tests/Mutations", endings: ["patch"])
    #expect(!patches.isEmpty)
    for patch in patches {
      var hunks = 0
      for file in patch.text.split(separator: "\n--- a/").dropFirst() {
        let path = String(file.prefix { $0 != "\n" })
        let code = try tree.text(path)
        for hunk in file.split(separator: "\n@@ ").dropFirst() {
          hunks += 1
          // What stands there before: lines that stay, and those that go.
          let before = hunk.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .filter { $0.hasPrefix(" ") || $0.hasPrefix("-") }
            .map { $0.dropFirst() }
            .joined(separator: "\n")
          #expect(code.contains(before), "\(patch.path) does not fit \(path):\n\(before)")
        }
      }
      #expect(hunks > 0, "\(patch.path) changes nothing")
    }
  }
}
