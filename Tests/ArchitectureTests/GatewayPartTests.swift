import Foundation
import Testing

/// The parts inside `Gateway`: they are one module, so the compiler puts no walls between them.
@Suite("Parts of the gateway")
struct GatewayPartTests {
  private static let root = "Sources/Gateway"

  /// For each folder, the other folders whose types it may name. `Sources/Gateway` itself puts the
  /// parts together: it may name all of them, and none names it.
  private static let allowed: [String: Set<String>] = [
    "Access": ["Rates", "Requests", "Switchboard"],
    "Bodies": ["Requests", "Rooms", "Settings", "Switchboard"],
    "Comments": [
      "Access", "Bodies", "Rates", "Requests", "Rooms", "Settings", "Store", "Switchboard",
    ],
    "Dialects": ["Access", "Rooms", "Switchboard"],
    "Dialects/Apps": ["Access", "Dialects", "Requests", "Rooms", "Store", "Switchboard"],
    "Dialects/Bayeux": [
      "Access", "Dialects", "Rates", "Requests", "Rooms", "Switchboard", "Values",
    ],
    "Dialects/Native": [
      "Access", "Documents", "Live", "Rates", "Rooms", "Store", "Switchboard",
    ],
    "Dialects/SocketIO": [
      "Access", "Dialects", "Rates", "Requests", "Rooms", "Store", "Switchboard", "Values",
    ],
    "Dialects/Whaler": ["Documents", "Live", "Rates", "Rooms", "Store", "Switchboard"],
    "Documents": ["Live", "Nodes", "Store", "Switchboard", "Values"],
    "Files": ["Access", "Requests", "Store", "Switchboard", "Values"],
    "Folders": ["Documents", "Requests", "Rooms", "Store", "Switchboard"],
    "HTTP": [
      "Access", "Bodies", "Comments", "Documents", "Files", "Folders", "Links", "Live", "Requests",
      "Rights", "Rooms", "Search", "Sessions", "Store", "Switchboard", "Values",
    ],
    "Links": ["Access", "Requests", "Rights", "Store", "Switchboard"],
    "Live": ["Values"],
    "Nodes": ["Live", "Store", "Values"],
    "Rates": [],
    "Requests": [],
    "Rights": ["Access", "Dialects/Native", "Documents", "Rates", "Rooms", "Switchboard"],
    "Rooms": ["Live", "Nodes", "Settings", "Store", "Switchboard", "Values"],
    "Search": ["Access", "Bodies", "Requests", "Switchboard"],
    "Sessions": ["Access", "Rights", "Store", "Switchboard"],
    "Settings": [],
    "Store": ["Requests"],
    "Switchboard": ["Live", "Nodes", "Rates", "Settings", "Store", "Values"],
    "Values": [],
    "Webhooks": ["Bodies", "Rooms"],
  ]

  /// Lines that the files of one folder may have together: as many as a reader takes in at once.
  private static let linesMax = 2_500

  /// The parts that hold their own state, by the folder: the type, the gateway's name for it, and how
  /// many properties are its state at least.
  private static let walled = [
    "Access": (type: "Access", name: "access", stateCount: 1),
    "Comments": (type: "Comments", name: "comments", stateCount: 2),
    "Dialects/Bayeux": (type: "BayeuxDialect", name: "bayeux", stateCount: 8),
    "Dialects/SocketIO": (type: "SocketIODialect", name: "socketIO", stateCount: 9),
    "Documents": (type: "Documents", name: "documents", stateCount: 4),
    "Files": (type: "Files", name: "files", stateCount: 6),
    "HTTP": (type: "HTTP", name: "http", stateCount: 2),
    "Rights": (type: "Rights", name: "rights", stateCount: 2),
    "Rooms": (type: "Rooms", name: "rooms", stateCount: 4),
    "Search": (type: "Search", name: "search", stateCount: 1),
  ]

  private let tree = SourceTree()

  @Test("each folder names the folders that it may, and those alone")
  func names() throws {
    let files = try tree.files(in: Self.root, endings: ["swift"])
    var declaring: [String: Set<String>] = [:]
    for file in files {
      for type in Self.types(in: file) {
        declaring[type, default: []].insert(Self.folder(of: file))
      }
    }
    var named: [String: Set<String>] = Self.allowed.mapValues { _ in [] }
    for file in files where Self.folder(of: file) != "" {
      let own = Self.folder(of: file)
      let allowed = try #require(Self.allowed[own], "\(own) is not in the table")
      for word in Self.words(in: file) {
        guard let folders = declaring[word], !folders.contains(own) else { continue }
        #expect(!allowed.isDisjoint(with: folders), "\(file.path) names \(word)")
        named[own]?.formUnion(folders)
      }
    }
    for (folder, allowed) in Self.allowed {
      let unused = allowed.subtracting(named[folder] ?? []).sorted()
      #expect(unused.isEmpty, "\(folder) may name \(unused), and does not")
    }
  }

  @Test("no part is both above and below another")
  func order() {
    var rest = Self.allowed
    while !rest.isEmpty {
      let lowest = rest.filter { $0.value.isDisjoint(with: rest.keys) }
      guard !lowest.isEmpty else { break }
      for folder in lowest.keys { rest[folder] = nil }
    }
    #expect(rest.isEmpty, "a circle goes through some of \(rest.keys.sorted())")
  }

  @Test("a part is small enough to be read as one", arguments: [""] + allowed.keys.sorted())
  func size(folder: String) throws {
    let files = try tree.files(in: Self.root, endings: ["swift"])
      .filter { Self.folder(of: $0) == folder }
    #expect(!files.isEmpty)
    let lines = files.reduce(0) { $0 + $1.text.utf8.count { $0 == UInt8(ascii: "\n") } }
    #expect(
      lines <= Self.linesMax,
      "\(folder) has \(lines) lines; \(Self.linesMax) are the most. Cut it by concept.")
  }

  @Test(
    "no part knows the gateway",
    arguments: allowed.keys.sorted())
  func gateway(folder: String) throws {
    for file in try tree.files(in: Self.root + "/" + folder, endings: ["swift"]) {
      #expect(!Self.words(in: file).contains("Gateway"), "\(file.path)")
    }
  }

  @Test(
    "no part of the gateway's class is in the folder of a part of its own",
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
        for line in file.code where line.holds(reach) {
          for range in line.ranges(of: reach) {
            let next = line[range.upperBound...].first
            let isLonger = next.map { $0.isLetter || $0.isNumber || $0 == "(" } ?? false
            #expect(isLonger, "\(file.path) reaches for \(reach)")
          }
        }
      }
    }
  }

  @Test("no code asks a connection for its dialect to distinguish it")
  func dialects() throws {
    for file in try tree.files(in: Self.root, endings: ["swift"]) {
      for line in file.code where line.holds("dialect") || line.holds("case .session: break") {
        #expect(
          line.firstMatch(of: /dialect [=!]==? \.|switch .*\.dialect\b|case \.session: break/)
            == nil,
          "\(file.path): \(line)")
      }
    }
  }

  /// The folder below `Sources/Gateway`; empty for a file directly in it.
  private static func folder(of file: SourceTree.File) -> String {
    file.path.dropFirst(root.count + 1).split(separator: "/").dropLast().joined(separator: "/")
  }

  /// The types that a file declares for others.
  private static func types(in file: SourceTree.File) -> [String] {
    file.code.compactMap { line in
      guard line.utf8.first.map(isOfWord) == true else { return nil }
      return line.firstMatch(
        of: /^(?:(?:public|package|final) )*(?:struct|class|enum|protocol|typealias) (\w+)/
      ).map { String($0.1) }
    }
  }

  /// The words of a file that may be names of types; what follows a dot belongs to another type.
  private static func words(in file: SourceTree.File) -> Set<String> {
    var words: Set<String> = []
    for line in file.code {
      for word in line.utf8.split(whereSeparator: { !isOfWord($0) }) {
        let before = line.utf8[..<word.startIndex].suffix(2)
        guard before.last != UInt8(ascii: ".") || before.elementsEqual("..".utf8) else { continue }
        words.insert(String(Substring(word)))
      }
    }
    return words
  }

  /// Whether names have this byte: letters, digits, and whatever is not of ASCII.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
