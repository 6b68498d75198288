import Testing

/// The pages for developers of apps: what they promise is in the tree.
@Suite("Pages for app developers")
struct ClientPageTests {
  private let tree = SourceTree()

  /// The rows below each head of a page's tables.
  private func rows(of page: String, below head: [String]) throws -> [[String]] {
    var rows: [[String]] = []
    var isBelow = false
    for line in try tree.text(page).split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("| ") else {
        isBelow = false
        continue
      }
      let cells = line.dropFirst(2).dropLast(2).split(
        separator: " | ", omittingEmptySubsequences: false
      ).map { $0.trimming(" ") }
      if cells == head { isBelow = true } else if isBelow, cells[0] != "---" { rows.append(cells) }
    }
    return rows
  }

  @Test("each row of the layers has a test that there is, or is an app's own screen")
  func layers() throws {
    let rows = try rows(of: "Documentation/ClientLayers.md", below: ["row", "here", "test"])
    var own = 0
    for row in rows {
      let test = row.last ?? ""
      let links = test.matches(of: /\[`(\w+)\/(\w+)`\]\(\.\.\/([\w\/.]+)\)/)
      if test == "the app's own" { own += 1 } else { #expect(!links.isEmpty, "\(row[0])") }
      for link in links {
        let code = try tree.text(String(link.3))
        #expect(code.contains("struct \(link.1)"), "\(link.3) has no suite \(link.1)")
        #expect(code.contains("func \(link.2)("), "\(link.3) has no test \(link.2)")
      }
    }
    #expect(rows.count >= 65)
    #expect(own <= 15, "\(own) rows have no test")
  }

  @Test("each message of the troubleshooting page is one of the clients")
  func messages() throws {
    let sources = try ["Sources", "Clients/python/parley", "Web/sdk"]
      .flatMap { try tree.files(in: $0, endings: ["swift", "py", "js"]) }
      // Texts that are written in several lines.
      .map { Self.joined($0.text) }
    var count = 0
    let head = ["message", "cause", "do"]
    for row in try rows(of: "Documentation/Troubleshooting.md", below: head) {
      count += 1
      let message = row[0].trimming("`")
      for part in message.split(separator: "…") {
        let words = part.trimming(" ();:,")
        guard words.utf8.count > 5 else { continue }
        #expect(sources.contains { $0.contains(words) }, "no client says: \(words)")
      }
    }
    #expect(count > 30)
  }

  private static func joined(_ code: String) -> String {
    code.replacing(/"\s*\n\s*\+ "/, with: "").replacing(/" \+\s*\n?\s*"/, with: "")
  }
}

extension StringProtocol {
  /// The text without these characters at its ends.
  fileprivate func trimming(_ characters: String) -> String {
    var rest = self[...]
    while let first = rest.first, characters.contains(first) { rest = rest.dropFirst() }
    while let last = rest.last, characters.contains(last) { rest = rest.dropLast() }
    return String(rest)
  }
}
