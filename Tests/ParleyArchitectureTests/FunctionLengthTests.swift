import Testing

/// Functions that a reader sees at once: at most 60 lines, of which an exhaustive switch may have more.
@Suite("Lengths of functions")
struct FunctionLengthTests {
  private static let linesMax = 60

  /// Functions that are one exhaustive switch, which splitting would not make easier to read.
  private static let switches: Set<String> = [
    "Sources/Adapters/ParleyStoreRecords/Statements/RequestRules.swift reply",
    "Sources/Gateway/HTTP/NotesAPI.swift answer",
    "Sources/Kits/ParleySimulationKit/MemoryRooms+People.swift reply",
    "Sources/Kits/ParleySimulationKit/MemoryStore.swift reply",
    "Sources/ParleyClientCore/ClientMachine.swift take",
  ]

  /// Others that are still longer. The list only shrinks.
  private static let longer: Set<String> = [
    "Sources/Adapters/StorePostgres/PostgresStore+Append.swift append",
    "Sources/Adapters/StorePostgres/PostgresStore+Sharing.swift news",
    "Sources/Adapters/ParleyStoreRecords/NoteImport.swift draft",
    "Sources/Adapters/ParleyStoreRecords/Statements/CheckRules.swift check",
    "Sources/ParleyServer/Loops/Server.swift init",
    "Sources/ParleyServer/Page/StaticFiles.swift response",
  ]

  @Test("no function has more than 60 lines, but for exhaustive switches")
  func lengths() throws {
    for file in try SourceTree().files(in: "Sources", endings: ["swift"])
    where !file.path.contains(".docc/") {
      for (name, line, count) in Self.functions(in: file.text) where count > Self.linesMax {
        let place = "\(file.path) \(name)"
        guard !Self.switches.contains(place), !Self.longer.contains(place) else { continue }
        Issue.record("\(file.path):\(line): \(name) has \(count) lines; at most \(Self.linesMax)")
      }
    }
  }

  @Test("functions are measured with their signature, and those inside others by themselves")
  func measuring() {
    let text = """
      struct A {
        init() {
        }
        func short() -> Int { 1 }
        private static func long<T>(
          _ value: T
        ) {
          func inner() {
            value()
          }
        }
      }
      """
    let found = Self.functions(in: text).map { "\($0.name) \($0.line) \($0.count)" }
    #expect(found == ["init 2 2", "inner 8 3", "long 5 7"])
  }

  /// The functions of a formatted file that end in a line of their own: that of the brace below their first word.
  private static func functions(in text: String) -> [(name: Substring, line: Int, count: Int)] {
    var open: [(name: Substring, line: Int, indent: Int)] = []
    var found: [(name: Substring, line: Int, count: Int)] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let rest = line.drop { $0 == " " }
      let indent = line.utf8.count - rest.utf8.count
      if rest.utf8.first == UInt8(ascii: "}"), let last = open.last, last.indent == indent {
        open.removeLast()
        found.append((last.name, last.line, index + 2 - last.line))
      } else if rest.holds("func ") || rest.holds("init"), let name = name(declaredIn: rest) {
        // A declaration without a body, or with one on its line, ended before this one.
        while let last = open.last, last.indent >= indent { open.removeLast() }
        open.append((name, index + 1, indent))
      }
    }
    return found
  }

  private static func name(declaredIn line: Substring) -> Substring? {
    for word in line.split(separator: " ", maxSplits: 8) {
      if word == "func" { continue }
      if modifiers.contains(word) || word.utf8.first == UInt8(ascii: "@") { continue }
      let name = word.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "`" }
      let isDeclared = name == "init" || !name.isEmpty && line.holds("func \(name)")
      return isDeclared ? name : nil
    }
    return nil
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate", "static", "class", "final",
    "override",
    "mutating", "nonisolated", "convenience", "required", "consuming", "borrowing", "isolated",
  ]
}
