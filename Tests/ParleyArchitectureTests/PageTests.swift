import Foundation
import Testing

/// The pages' statements about the tree: links, files, targets of `make`.
@Suite("Pages")
struct PageTests {
  private let tree: SourceTree
  private let pages: [SourceTree.File]

  init() throws {
    let tree = SourceTree()
    self.tree = tree
    pages =
      try ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
      .map { SourceTree.File(path: $0, text: try tree.text($0)) }
      + ["Documentation", "Benchmarks", "Sources", "Tests"]
      .flatMap { try tree.files(in: $0, endings: ["md"]) }
      // Exported notes are no pages.
      .filter { !$0.path.hasPrefix("Tests/Fixtures/0") }
  }

  @Test("every link leads somewhere")
  func links() throws {
    var count = 0
    for page in pages {
      let links = page.text.matches(of: /\]\(([^)\s]+)\)/).map(\.1)
      let pictures = page.text.matches(of: /\ssrc(?:set)?="([^"\s]+\.png)"/).map(\.1)
      for link in links + pictures where !link.hasPrefix("http") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0].isEmpty ? page.path : Self.path(parts[0], from: page.path)
        guard tree.exists(target) else {
          Issue.record("\(page.path): there is no \(link)")
          continue
        }
        guard parts.count == 2, target.hasSuffix(".md") else { continue }
        #expect(
          try Self.anchors(of: tree.text(target)).contains(String(parts[1])),
          "\(page.path): \(target) has no heading for #\(parts[1])")
      }
    }
    #expect(count > 50)
  }

  @Test("every named file exists")
  func files() {
    for page in pages {
      let named = page.text.matches(
        of: /`((?:Sources|Tests|Scripts|Documentation|Packaging|Benchmarks|Web|Fuzz)\/[\w+.\/\-]+)`/
      )
      for match in named {
        #expect(tree.exists(String(match.1)), "\(page.path) names \(match.1)")
      }
    }
  }

  @Test("every named target of make exists")
  func targets() throws {
    let makefile = try tree.text("Makefile")
    let known = Set(
      makefile.matches(of: /(?:^|\n)([a-z][a-z\- ]*):/)
        .flatMap { $0.1.split(separator: " ").map(String.init) })
    for page in pages {
      for match in page.text.matches(of: /(?:`|\n    )make ([a-z][a-z\-]*)/) {
        #expect(known.contains(String(match.1)), "\(page.path) names make \(match.1)")
      }
    }
  }

  @Test("every decision is in their list; one that is superseded says so in both")
  func decisions() throws {
    let list = try tree.text("Documentation/Decisions/README.md")
    for file in try tree.files(in: "Documentation/Decisions", endings: ["md"]) {
      let name = file.path.split(separator: "/").last ?? ""
      guard name != "README.md" else { continue }
      let entry = list.split(separator: "\n").first { $0.contains("(\(name))") } ?? ""
      #expect(!entry.isEmpty, "\(name)")
      let listed = entry.firstMatch(of: /\((superseded[^)]*)\)$/).map { String($0.1) }
      let first = file.text.split(separator: "\n").dropFirst().first ?? ""
      let stated = first.firstMatch(of: /^\*\*Superseded( in part)? by \[decision (\d+)\]/)
        .map { "superseded\($0.1 ?? "") by \($0.2)" }
      #expect(listed == stated, "\(name)")
    }
  }

  @Test("ARCHITECTURE.md says in few lines where something new goes")
  func newThings() throws {
    let page = try tree.text("ARCHITECTURE.md")
    let section = try #require(
      page.components(separatedBy: "\n## ").first { $0.hasPrefix("Where something new goes") })
    let paragraphs = section.components(separatedBy: "\n\n")
    for thing in ["A message", "A dialect", "A store", "A second node", "A request"] {
      let lines = paragraphs.first { $0.hasPrefix("**\(thing).** ") }?.split(separator: "\n")
      #expect(lines?.count == 3, "\(thing)")
    }
    // The files that are named by their names alone.
    let swift = try tree.files(in: "Sources", endings: ["swift"]).map(\.path)
    for match in section.matches(of: /`([\w+]+\.swift)`/) {
      #expect(swift.contains { $0.hasSuffix("/\(match.1)") }, "\(match.1)")
    }
  }

  @Test("the plan of the gateway in ARCHITECTURE.md has every part")
  func plan() throws {
    let page = try tree.text("ARCHITECTURE.md")
    for part in try tree.folders(in: "Sources/Gateway") {
      #expect(page.contains("\n      \(part) "), "\(part)")
    }
  }

  /// A path as a page names it, from the package's root.
  private static func path(_ link: Substring, from page: String) -> String {
    var parts = page.split(separator: "/").dropLast()
    for part in link.split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return parts.joined(separator: "/")
  }

  /// The name of a heading in an address.
  private static func anchors(of page: String) -> [String] {
    page.matches(of: /(?:^|\n)#+ ([^\n]*)/).map { match in
      match.1.lowercased().compactMap { character in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character)
          ? String(character) : nil
      }.joined()
    }
  }
}
