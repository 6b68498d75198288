import Foundation
import ParleyGatewayPorts
import OTCore
import ParleyServer
import Testing

// The README's Swift code, copied literally; a test compares both.

func meet() throws -> Document {
  // Two people change “Hello world” at the same time.
  var ada = TextOperation()
  ada.retain(5)
  ada.insert(",")
  ada.retain(6)
  var ben = TextOperation()
  ben.retain(11)
  ben.insert("!")
  let (_, benAfterAda) = try TextOperation.transform(ada, ben)

  var document = Document("Hello world")
  try document.apply(ada)
  try document.apply(benAfterAda)
  return document  // Hello, world!
}

/// Starts a whole Parley in this process, on a free port: `port` says which, `stop` ends it.
func startParley(in folder: String) throws -> Server {
  var configuration = Configuration()
  configuration.port = 0
  configuration.dataDirectory = folder
  let log = StandardErrorLog(level: .warning, format: .text)
  return try Server(configuration: configuration, log: log)
}

@Suite("The README's Swift")
struct ReadmeExampleTests {
  @Test("two changes are merged")
  func meeting() throws {
    #expect(try meet().text.utf8.elementsEqual("Hello, world!".utf8))
  }

  @Test("a custom program runs a server")
  func serving() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("parley-readme-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = try startParley(in: folder.path)
    defer { server.stop(drainMilliseconds: 1_000) }
    #expect(server.port > 0)
  }

  @Test("this file contains the README's examples")
  func page() throws {
    let this = URL(fileURLWithPath: #filePath)
    let root = this.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let code = try String(contentsOf: this, encoding: .utf8)
    let blocks = page.matches(of: /```swift\n(?:import \w+\n)+\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == 2)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }
}
