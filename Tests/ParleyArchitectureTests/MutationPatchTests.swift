import Testing

/// `Tests/Mutations`: a patch that no longer fits finds no bug, which would remain unnoticed until
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
          // The lines before the change: context and removed lines.
          let before = hunk.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .filter { $0.hasPrefix(" ") || $0.hasPrefix("-") }
            .map { $0.dropFirst() }
            .joined(separator: "\n")
          #expect(code.holds(before), "\(patch.path) does not fit \(path):\n\(before)")
        }
      }
      #expect(hunks > 0, "\(patch.path) changes nothing")
    }
  }

  @Test("every test that a mutation names exists")
  func killers() throws {
    let swift = try tree.files(in: "Tests", endings: ["swift"])
    for patch in try tree.files(in: "Tests/Mutations", endings: ["patch"]) {
      let preamble = patch.text.prefix(
        upTo: patch.text.firstRange(of: "\n--- ")?.lowerBound ?? patch.text.endIndex)
      let lines = preamble.split(separator: "\n").filter { $0.hasPrefix("Killed by: ") }
      #expect(lines.count <= 1, "\(patch.path)")
      guard let words = lines.first?.split(separator: " ", maxSplits: 3), words.count == 4 else {
        // The seeds of the simulation.
        #expect(lines.allSatisfy { $0 == "Killed by: seeds" }, "\(patch.path)")
        continue
      }
      let isThere: Bool
      switch words[2] {
      case "seeds": isThere = words[3] == "--nodes 0"
      case "swift":
        let parts = words[3].split(separator: "/")
        isThere = swift.contains {
          $0.path.hasSuffix("/\(parts[0]).swift") && $0.text.contains("func \(parts.last ?? "")(")
        }
      case "pytest":
        let parts = words[3].split(separator: ":")
        isThere =
          parts.count == 2
          && (try? tree.text(String(parts[0])))?.contains("def \(parts[1])(") ?? false
      default: isThere = false
      }
      #expect(isThere, "\(patch.path) names \(words[3])")
    }
  }
}
