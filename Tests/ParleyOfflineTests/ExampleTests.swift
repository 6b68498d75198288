import Foundation
import Testing

import ParleyOffline

@Suite("The example of a list", .timeLimit(.minutes(15)))
struct ExampleTests {
  @Test("it has fewer than 60 lines")
  func length() throws {
    let file = GatewayProgram.root.appendingPathComponent("Examples/OfflineList/main.swift")
    #expect(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count < 60)
  }
}
