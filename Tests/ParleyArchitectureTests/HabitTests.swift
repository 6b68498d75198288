import Testing

/// Habits that the code of some targets, or of all, must not have.
@Suite("Habits")
struct HabitTests {
  private let tree = SourceTree()

  /// Words that a target's code may not contain, and why.
  struct Ban: Sendable, CustomTestStringConvertible {
    let targets: [String]
    let words: [String]
    let reason: String

    var testDescription: String { reason }
  }

  private static let pure = [
    "OTCore", "ParleyJSON", "ParleyModel", "SocketMessages", "ParleySocketIO", "ParleyBayeux",
    "ParleyPusher", "ParleyShareDB", "ParleyRustpad", "ParleyOTEvents",
    "ParleyWebSocketFrames",
    "ParleyHTTP1", "ParleyClientCore",
  ]
  private static let core = pure + ["ParleyGatewayPorts", "Gateway"]

  private static let bans = [
    Ban(
      targets: core + ["ParleySimulationKit", "ParleyOTWorkloads"],
      words: [
        "Date(", "ContinuousClock", "SuspendingClock", "clock_gettime(", "gettimeofday(",
        "SystemRandomNumberGenerator", "arc4random", "getrandom(", "UUID(",
      ],
      reason: "time and chance are handed in, so that a run can be repeated"),
    Ban(
      targets: core, words: [".random(in:", ".randomElement()", ".shuffled()"],
      reason: "randomness without a generator is the system's"),
    Ban(
      targets: pure, words: ["LogSink", "log.write("], reason: "the algebra and the wire return"),
    Ban(
      targets: core, words: ["await ", "async ", "Task {", "Task.detached", "actor "],
      reason: "the message path is synchronous"),
    Ban(
      targets: core + [
        "ParleyTransportLibwebsockets", "ParleyStoreRecords", "ParleyStoreSQLite",
        "ParleyPostgreSQLAdapter",
        "ParleyCryptoOpenSSL", "ParleyHashing", "ParleyServer",
        "parley", "ParleySimulationKit", "ParleyOTWorkloads",
      ],
      words: ["print(", "debugPrint(", "dump("],
      reason: "programs speak through a log or the terminal"),
    Ban(
      targets: core + ["ParleyServer", "parley"],
      words: ["unsafeBitCast(", "unowned(unsafe)", "nonisolated(unsafe)"],
      reason: "what the compiler cannot check stays in adapters"),
    Ban(
      targets: core + [
        "ParleyTransportLibwebsockets", "ParleyStoreRecords", "ParleyStoreSQLite",
        "ParleyPostgreSQLAdapter",
        "ParleyCryptoOpenSSL", "ParleyHashing", "ParleyServer",
      ],
      words: ["try!", "as!"],
      reason: "nothing is forced"),
    Ban(
      targets: [
        "ParleySocketIO", "ParleyBayeux", "ParleyPusher", "ParleyShareDB", "ParleyRustpad",
        "ParleyOTEvents", "SocketMessages", "ParleyDialectModels",
        "ParleyGatewayPorts", "Gateway", "ParleyStoreRecords", "ParleyStoreSQLite",
        "ParleyPostgreSQLAdapter", "ParleyCryptoOpenSSL", "ParleyServer", "parley", "ParleyClient",
        "ParleyChat", "ParleyOffline", "ParleySimulationKit", "ParleyPortConformance",
      ],
      words: ["utf8.elementsEqual(", "unicodeScalars.elementsEqual("],
      reason: "a name compares its bytes by its type, a ByteName, and other texts by isExactly"),
    Ban(
      targets: [
        "ParleyGatewayPorts", "Gateway", "ParleyStoreRecords", "ParleyStoreSQLite",
        "ParleyPostgreSQLAdapter", "ParleyServer", "ParleyPortConformance",
      ],
      words: ["epoch: String", "personID: String", "room: String"],
      reason: "a name is a ByteName behind the edge, so that no String's == compares it"),
    Ban(
      targets: [
        "ParleyServer", "ParleyClient", "ParleyOffline", "ParleyStoreSQLite", "ot-bench", "parley",
      ],
      words: ["(of: entry.pointee."],
      reason: "a directory entry is shorter than its type, so that a copy reads past its end"),
  ]

  @Test(arguments: bans)
  func `no target does what it may not`(ban: Ban) throws {
    for target in ban.targets {
      let folder = try #require(try tree.modules()[target])
      for file in try tree.files(in: folder, endings: ["swift"]) {
        let words = ban.words.filter(file.text.holds)
        guard !words.isEmpty else { continue }
        for (number, line) in file.code.enumerated() {
          for word in words where Self.contains(line, word) {
            Issue.record("\(file.path):\(number + 1) has “\(word)”: \(ban.reason)")
          }
        }
      }
    }
  }

  @Test func `answers to clients name no flags of the command line`() throws {
    let folders =
      ["Sources/Gateway", "Sources/ParleyGatewayPorts", "Sources/ParleyHTTP1"]
      + ["Loops", "Page", "Provider", "SignIn"].map { "Sources/ParleyServer/" + $0 }
    let flag = /"(?:[^"]*[\s(“])?--[a-z][^"]*"/
    for file in try folders.flatMap({ try tree.files(in: $0, endings: ["swift"]) }) {
      // It asks a server, for a command that has these flags.
      if file.path.hasSuffix("/LinkRequest.swift") { continue }
      for (number, line) in file.code.enumerated() where line.holds("--") {
        guard line.firstMatch(of: flag) != nil else { continue }
        Issue.record(
          "\(file.path):\(number + 1) has a flag: a client over HTTP has no command line")
      }
    }
  }

  /// Whether the line contains the word, and not only as the end of a longer name.
  private static func contains(_ line: Substring, _ word: String) -> Bool {
    guard line.holds(word) else { return false }
    var rest = line
    while let range = rest.firstRange(of: word) {
      let before = rest[..<range.lowerBound].last ?? line[..<range.lowerBound].last
      let isName = before.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
      if !isName || word.hasPrefix(".") { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }

  @Test(
    "no file names a path of a developer's machine",
    arguments: ["Sources", "Tests", "Web", "Scripts", "Documentation", "Benchmarks", "Clients"])
  func machinePaths(folder: String) throws {
    let endings: Set<String> = [
      "swift", "h", "c", "js", "mjs", "ts", "css", "html", "json", "md", "sh", "py", "txt", "toml",
      "conf", "modulemap", "svg", "yml", "yaml",
    ]
    // Homes and temporary folders; a bare folder name is fine in prose, one path is on the wire.
    let folders = ["home", "root", "Users", "work", "mnt", "private"].map { "/\($0)/" }
    let path = /(?:^|[^A-Za-z0-9_.\-])\/(?:home|root|Users|work|mnt|private)\/[A-Za-z0-9_.]/
    for file in try tree.files(in: folder, endings: endings)
    where folders.contains(where: file.text.holds) {
      for (number, line) in file.text.split(separator: "\n").enumerated()
      where folders.contains(where: line.holds) && line.contains(path)
        && !line.contains("/private/pusher")
        && !file.path.hasSuffix("ParleyArchitectureTests/HabitTests.swift")
      {
        Issue.record("\(file.path):\(number + 1): \(line)")
      }
    }
  }

  @Test("tests wait for events, never for a while")
  func sleeps() throws {
    let words = ["Task.sleep", "Thread.sleep", "usleep(", "nanosleep(", "sleep("]
    for file in try tree.files(in: "Tests", endings: ["swift", "py"])
    where !file.path.contains("ParleyArchitectureTests") && file.text.holds("sleep") {
      for (number, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      where words.contains(where: { Self.contains(line, $0) }) {
        Issue.record("\(file.path):\(number + 1): \(line)")
      }
    }
  }

  /// `Scripts/run_tests.py` runs tests of this name alone, and all others beside other work.
  @Test("tests that measure processor time are named growth…")
  func measuringTests() throws {
    for file in try tree.files(in: "Tests", endings: ["swift"])
    where !file.path.contains("ParleyArchitectureTests")
      && file.text.holds("@Test")
      && ["GrowthLaw", "ThreadClock", "TimedRig("].contains(where: file.text.holds)
    {
      let names = file.code.lazy.filter { $0.holds("  func growth") }
      #expect(!names.isEmpty, "\(file.path) measures processor time, and has no test named growth…")
      var isTest = false
      var name = Substring()
      for line in file.code {
        if line.holds("@Test") { isTest = true }
        if let found = line.firstMatch(of: /\bfunc ([A-Za-z0-9_`]+)/), isTest {
          name = found.1
          isTest = false
        }
        let words = [".check()", "check(law)", "ThreadClock.", "TimedRig("]
        let measures = words.contains(where: line.holds)
        if measures, !name.isEmpty, !name.hasPrefix("growth"), !line.holds("private ") {
          Issue.record("\(file.path): \(name) measures processor time; name it growth…")
        }
        if line == "  }" { name = "" }
      }
    }
  }
}
