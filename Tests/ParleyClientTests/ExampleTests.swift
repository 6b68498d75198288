import Foundation
import ParleyClient
import Testing

@Suite("The examples", .timeLimit(.minutes(30)))
struct ExampleTests {
  /// A running example, of the build that these tests are part of.
  private final class Example {
    private let process = Process()
    let output = Pipe()

    init(_ name: String, _ arguments: String...) throws {
      let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.executableURL = tests.deletingLastPathComponent().appendingPathComponent(name)
      process.arguments = arguments
      process.standardOutput = output
      try process.run()
    }

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

  private struct Dish: Encodable {
    let id: Int
    let dish: String
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

  @Test("none is longer than 60 lines", arguments: ["TodoBot", "LiveList"])
  func length(name: String) throws {
    let file = GatewayProgram.root.appendingPathComponent("Examples/\(name)/main.swift")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count < 60)
  }
}
