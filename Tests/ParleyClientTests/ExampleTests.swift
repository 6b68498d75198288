import Foundation
import ParleyClient
import Testing

@Suite("The examples", .timeLimit(.minutes(30)))
struct ExampleTests {
  /// A running example, of the build that these tests are part of.
  private final class Example {
    private let process = Process()
    let output = Pipe()
    private let input = Pipe()

    init(_ name: String, _ arguments: String...) throws {
      let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.executableURL = tests.deletingLastPathComponent().appendingPathComponent(name)
      process.arguments = arguments
      process.standardOutput = output
      process.standardInput = input
      try process.run()
    }

    func write(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    deinit {
      process.terminate()
      process.waitUntilExit()
    }
  }

  @Test("the bot ticks what is done in another user's note")
  func bot() async throws {
    let server = try GatewayProgram()
    try await server.makeNote("n")
    let bot = try Example("parley-example-todo-bot", server.address, "n")
    defer { withExtendedLifetime(bot) {} }
    let ann = ParleyService(server.address, as: "Ann", timeout: .seconds(600))
    let note = await ann.note("n")
    try await note.append("todo: tea\ntodo: milk\n")
    var text = ""
    for await _ in await note.updates {
      text = try await note.text()
      if text == "[ ] tea\n[ ] milk\n" { try await note.append("done: milk\n") }
      if text == "[ ] tea\n[x] milk\n" { break }
    }
    #expect(text == "[ ] tea\n[x] milk\n")
  }

  @Test("the list shows each order as it comes")
  func list() async throws {
    let server = try GatewayProgram()
    let list = try Example("parley-example-live-list", server.address, "orders")
    defer { withExtendedLifetime(list) {} }
    #expect(line(of: list) == "following")
    let kitchen = await ParleyService(server.address, as: "kitchen", timeout: .seconds(600)).room(
      "orders")
    try await kitchen.publish(Dish(id: 1, dish: "soup"))
    #expect(line(of: list) == "soup")
    try await kitchen.publish(Dish(id: 2, dish: "rice"))
    #expect(line(of: list) == "soup, rice")
    try await kitchen.publish(Dish(id: 1, dish: "stew"))
    #expect(line(of: list) == "rice, stew")
  }

  @Test("two boards show each other's cards and moves")
  func board() async throws {
    let server = try GatewayProgram()
    let ann = try Example("parley-example-board", server.address, "plans", "Ann")
    let ben = try Example("parley-example-board", server.address, "plans", "Ben")
    defer { withExtendedLifetime((ann, ben)) {} }
    ann.write("add Hot soup")
    let added = line(of: ben) { $0.contains("Hot soup") }
    let shape = #/todo: Hot soup \((card-\d+)\); doing: ; done: ; moves: 0/#
    let card = try #require(added.wholeMatch(of: shape)).1
    ben.write("move \(card) done")
    #expect(line(of: ann) { $0.hasSuffix("moves: 1") }.contains("done: Hot soup"))
    ann.write("show")
    let shown = line(of: ann) { $0.hasPrefix("{") }
    let cards = try JSONDecoder().decode([String: [String: String]].self, from: Data(shown.utf8))
    #expect(cards[String(card)]?["by"] == "Ben")
    ann.write("delete \(card)")
    #expect(
      line(of: ben) { !$0.contains("Hot soup") && $0.hasPrefix("todo") }
        == "todo: ; doing: ; done: ; moves: 1")
  }

  private struct Dish: Encodable {
    let id: Int
    let dish: String
  }

  /// The next line of an example's output that meets a condition.
  private func line(of example: Example, where isWanted: (String) -> Bool) -> String {
    while true {
      let line = line(of: example)
      if line.isEmpty || isWanted(line) { return line }
    }
  }

  /// The next line of an example's output.
  private func line(of example: Example) -> String {
    var line = Data()
    let newline = Data("\n".utf8)
    while let byte = try? example.output.fileHandleForReading.read(upToCount: 1), byte != newline {
      line += byte
    }
    return String(decoding: line, as: UTF8.self)
  }

  @Test(
    "none is longer than 60 lines",
    arguments: ["TodoBot/main", "LiveList/main", "board/main", "board/Board"])
  func length(name: String) throws {
    let file = GatewayProgram.root.appendingPathComponent("Examples/\(name).swift")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count < 60)
  }
}
