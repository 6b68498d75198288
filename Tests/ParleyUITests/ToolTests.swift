import Foundation
import Testing

/// The views for Apple's systems and the documentation, as the tools on Linux check them.
@Suite("Views and documentation", .serialized, .timeLimit(.minutes(30)))
struct ToolTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Runs a script on the modules that were built with these tests.
  private func run(
    _ script: String, _ arguments: String...
  ) throws -> (status: Int32, output: String) {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = Self.root.appendingPathComponent("Scripts/\(script)")
    process.arguments =
      [tests.deletingLastPathComponent().appendingPathComponent("Modules").path] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test("views, the example and the tutorials' code type-check, as far as Linux can")
  func views() throws {
    let (status, output) = try run("apple-check.sh")
    #expect(status == 0, "\(output)")
    #expect(output.contains("type-check"))
  }

  @Test("the documentation of the modules with tutorials builds without a warning")
  func documentation() throws {
    let (status, output) = try run("build-docs.sh", "OTCore", "ParleyClient", "ParleyOffline")
    #expect(status == 0, "\(output)")
  }

  @Test("the tutorial ends with the example, which has fewer than 60 lines")
  func example() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }
    let example = try text("Examples/TwoWindows/TwoWindowsApp.swift")
    let last = try text("Sources/ParleyClient/ParleyClient.docc/Code/TwoWindows-4.swift")
    #expect(example.hasSuffix(last))
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count < 60)
  }

  @Test("the page shows this view")
  func page() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("Documentation/SwiftApp.md"), encoding: .utf8)
    let code = try String(
      contentsOf: Self.root.appendingPathComponent("Tests/ParleyUITests/AppExample.swift"),
      encoding: .utf8)
    let block = try #require(
      page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
        .first { $0.contains("NoteEditor") })
    #expect(code.contains(block))
  }
}
