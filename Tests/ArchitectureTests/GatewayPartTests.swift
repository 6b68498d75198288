import Foundation
import Testing

/// The parts inside `Gateway`: they are one module, so the compiler puts no walls between them.
@Suite("Parts of the gateway")
struct GatewayPartTests {
  private static let root = "Sources/Gateway"

  /// For each folder, the other folders whose types it may name. What stands in `Sources/Gateway`
  /// itself is everybody's, and may name everything: it puts the parts together.
  private static let allowed: [String: Set<String>] = [
    "Access": ["HTTP"],
    "Dialects": ["Access", "Documents", "HTTP", "Rooms"],
    "Dialects/Apps": ["Access", "Dialects", "HTTP", "Rooms", "Store"],
    "Dialects/Bayeux": ["Access", "Dialects", "HTTP", "Rooms"],
    "Dialects/Native": ["Access", "Dialects", "Documents", "Rooms"],
    "Dialects/SocketIO": ["Access", "Dialects", "HTTP", "Rooms", "Store"],
    "Dialects/Whaler": ["Access", "Dialects", "Documents", "Rooms"],
    "Documents": ["Dialects", "Store"],
    "HTTP": ["Access", "Dialects", "Documents", "Rights", "Rooms", "Store"],
    "Rights": ["Access", "Dialects/Native", "Documents", "Rooms"],
    "Rooms": ["Dialects", "Dialects/Native", "Store"],
    "Store": ["HTTP", "Rooms"],
    "Webhooks": ["HTTP", "Rooms"],
  ]

  /// The parts that hold their own state, by the folder: the type, the gateway's name for it, and how
  /// many properties are its state at least.
  private static let walled = [
    "Access": (type: "Access", name: "access", stateCount: 1),
    "Dialects/Bayeux": (type: "BayeuxDialect", name: "bayeux", stateCount: 8),
    "Dialects/SocketIO": (type: "SocketIODialect", name: "socketIO", stateCount: 9),
    "Documents": (type: "Documents", name: "documents", stateCount: 4),
    "HTTP": (type: "HTTP", name: "http", stateCount: 2),
    "Rights": (type: "Rights", name: "rights", stateCount: 2),
    "Rooms": (type: "Rooms", name: "rooms", stateCount: 4),
  ]

  private let tree = SourceTree()

  @Test("each folder names only the folders that it may")
  func names() throws {
    let files = try tree.files(in: Self.root, endings: ["swift"])
    var folders: [String: Set<String>] = [:]
    for file in files {
      for type in Self.types(in: file) { folders[type, default: []].insert(Self.folder(of: file)) }
    }
    for file in files where Self.folder(of: file) != "" {
      let own = Self.folder(of: file)
      let allowed = try #require(Self.allowed[own], "\(own) is not in the table")
      for word in Self.words(in: file) {
        guard let declaring = folders[word], !declaring.contains(own), !declaring.contains("")
        else { continue }
        #expect(!allowed.isDisjoint(with: declaring), "\(file.path) names \(word)")
      }
    }
  }

  @Test(
    "a walled part knows nothing of the gateway, and no dialect does",
    arguments: ["Dialects"] + walled.keys.sorted())
  func gateway(folder: String) throws {
    for file in try tree.files(in: Self.root + "/" + folder, endings: ["swift"]) {
      #expect(!Self.words(in: file).contains("Gateway"), "\(file.path)")
    }
  }

  @Test(
    "no part of the gateway's class stands in the folder of a part of its own",
    arguments: allowed.keys.sorted())
  func extensions(folder: String) throws {
    for file in try tree.files(in: Self.root + "/" + folder, endings: ["swift"]) {
      #expect(!file.code.contains { $0.hasPrefix("extension Gateway ") }, "\(file.path)")
      #expect(!file.code.contains { $0.hasPrefix("extension Gateway:") }, "\(file.path)")
    }
  }

  @Test("nothing reaches into the state of a walled part", arguments: walled.keys.sorted())
  func state(folder: String) throws {
    let part = try #require(Self.walled[folder])
    let main = try #require(
      try tree.files(in: Self.root + "/" + folder, endings: ["swift"])
        .first { $0.path.hasSuffix("/\(part.type).swift") })
    let properties = main.code.compactMap { $0.firstMatch(of: /^  var (\w+): [^{]*$/)?.1 }
    #expect(properties.count >= part.stateCount, "\(main.path) keeps its state elsewhere")
    for file in try tree.files(in: Self.root, endings: ["swift"])
    where Self.folder(of: file) != folder {
      for property in properties {
        let reach = "\(part.name).\(property)"
        for line in file.code {
          for range in line.ranges(of: reach) {
            let next = line[range.upperBound...].first
            let isLonger = next.map { $0.isLetter || $0.isNumber || $0 == "(" } ?? false
            #expect(isLonger, "\(file.path) reaches for \(reach)")
          }
        }
      }
    }
  }

  @Test("nobody asks a connection for its dialect to tell it from others")
  func dialects() throws {
    for file in try tree.files(in: Self.root, endings: ["swift"]) {
      for line in file.code {
        #expect(
          line.firstMatch(of: /dialect [=!]==? \.|switch .*\.dialect\b|case \.session: break/)
            == nil,
          "\(file.path): \(line)")
      }
    }
  }

  /// The folder below `Sources/Gateway`; empty for what stands there itself.
  private static func folder(of file: SourceTree.File) -> String {
    file.path.dropFirst(root.count + 1).split(separator: "/").dropLast().joined(separator: "/")
  }

  /// The types that a file declares for others.
  private static func types(in file: SourceTree.File) -> [String] {
    file.code.compactMap { line in
      line.firstMatch(
        of: /^(?:(?:public|package|final) )*(?:struct|class|enum|protocol|typealias) (\w+)/
      ).map { String($0.1) }
    }
  }

  private static func words(in file: SourceTree.File) -> Set<String> {
    var words: Set<String> = []
    for line in file.code {
      for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
        words.insert(String(word))
      }
    }
    return words
  }
}
