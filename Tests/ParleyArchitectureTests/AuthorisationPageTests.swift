import Testing

/// `Documentation/Authorisation.md` against the tests it names and the protocol it covers.
@Suite("The page about rights")
struct AuthorisationPageTests {
  private let tree = SourceTree()
  private let page: String

  init() throws {
    page = try tree.text("Documentation/Authorisation.md")
  }

  @Test("every test named on the page exists")
  func tests() throws {
    let swift = try tree.files(in: "Tests", endings: ["swift"])
    let python = try tree.files(in: "Tests", endings: ["py"])
    var count = 0
    for match in page.matches(of: /`(\w+Tests)\.(\w+)`/) {
      count += 1
      let isThere = swift.contains {
        $0.path.hasSuffix("/\(match.1).swift") && $0.text.contains("func \(match.2)(")
      }
      #expect(isThere, "\(match.0)")
    }
    for match in page.matches(of: /`(test_\w+\.py)::(\w+)`/) {
      count += 1
      let isThere = python.contains {
        $0.path.hasSuffix("/\(match.1)") && $0.text.contains("def \(match.2)(")
      }
      #expect(isThere, "\(match.0)")
    }
    #expect(count > 50)
  }

  @Test("every message of a client has a row")
  func messages() throws {
    let protocolPage = try tree.text("Documentation/Protocol.md")
    let types = protocolPage.matches(of: /<!-- golden (?:whaler-)?client (\w+) -->/).map(\.1)
    #expect(!types.isEmpty)
    for type in Set(types) { #expect(page.contains("\n| `\(type)` |"), "\(type)") }
  }

  @Test("every request has a row")
  func requests() throws {
    let requests = try tree.text("Documentation/HTTP.md").matches(of: /\n\| `([A-Z]+ \/api[^ ?`]*)/)
      .map(\.1)
    #expect(!requests.isEmpty)
    for request in Set(requests) { #expect(page.contains("\n| `\(request)` |"), "\(request)") }
  }
}
