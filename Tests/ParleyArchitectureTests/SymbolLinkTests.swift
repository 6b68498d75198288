import Testing

/// Links to symbols in doc comments of the client products. A module's documentation is built alone, so
/// that a link to another module's symbol leads nowhere.
@Suite("Links to symbols")
struct SymbolLinkTests {
  static let modules = [
    "SocketMessages", "ParleyClientCore", "ParleyClient", "ParleyUI", "ParleyOffline", "ParleyChat",
    "ParleyGroups", "ParleyTwakeCubits", "ParleyDialectModels",
  ]
  private let tree = SourceTree()

  @Test("each is declared in its own module", arguments: modules)
  func own(module: String) throws {
    let files = try tree.files(in: "Sources/\(module)", endings: ["swift", "md", "tutorial"])
    var declared: Set<Substring> = [Substring(module), "init"]
    for file in files where file.path.hasSuffix(".swift") {
      let declarations = file.text.matches(
        of: /\b(?:struct|class|enum|actor|protocol|typealias|func|var|let|case) `?(\w+)/)
      for match in declarations { declared.insert(match.1) }
      // Further cases of one line.
      for line in file.text.split(separator: "\n") where line.contains(" case ") {
        for match in line.matches(of: /[, ](\w+)/) { declared.insert(match.1) }
      }
    }
    for file in files {
      // A link, not the fence of a code block.
      for match in file.text.matches(of: /[^`]``(\w+)[^`]*``(?!`)/) {
        #expect(declared.contains(match.1), "\(file.path) links to \(match.0)")
      }
    }
  }

  @Test("each product for apps has a tutorial", arguments: modules.dropFirst(2))
  func tutorials(module: String) throws {
    let files = try tree.files(
      in: "Sources/\(module)/\(module).docc", endings: ["tutorial", "swift"])
    let code = files.filter { $0.path.hasSuffix(".swift") }.map(\.path)
    var named = 0
    for file in files where file.path.hasSuffix(".tutorial") {
      for match in file.text.matches(of: /file: "([\w.\-]+\.swift)"/) {
        named += 1
        #expect(code.contains { $0.hasSuffix("/\(match.1)") }, "\(file.path) names \(match.1)")
      }
    }
    #expect(named == code.count && named > 1)
  }
}
