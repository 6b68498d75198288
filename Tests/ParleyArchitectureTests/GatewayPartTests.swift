import Testing

/// The parts inside `Gateway`: they are one module, so the compiler puts no walls between them.
@Suite("Parts of the gateway")
struct GatewayPartTests {
  private static let root = "Sources/Gateway"

  /// For each folder, the other folders whose types it may name. `Sources/Gateway` itself puts the
  /// parts together: it may name all of them, and none names it.
  private static let allowed: [String: Set<String>] = [
    "Access": ["Rates", "Requests", "Store", "Switchboard"],
    "Audit": ["Access", "Requests", "Store", "Switchboard", "Values"],
    "Bodies": ["Requests", "Rooms", "Settings", "Switchboard", "Values"],
    "Comments": [
      "Access", "Bodies", "Notices", "Rates", "Rooms", "Settings", "Store", "Switchboard",
    ],
    "Dialects": ["Access", "Live", "Rates", "Rooms", "Switchboard"],
    "Dialects/Apps": ["Access", "Dialects", "Requests", "Rooms", "Store", "Switchboard"],
    "Dialects/Bayeux": [
      "Access", "Dialects", "Rates", "Requests", "Rooms", "Switchboard", "Values",
    ],
    "Dialects/Native": [
      "Access", "Documents", "Live", "Rates", "Rooms", "Store", "Switchboard",
    ],
    "Dialects/Pusher": [
      "Access", "Live", "Nodes", "Rates", "Requests", "Rooms", "Store", "Switchboard", "Values",
    ],
    "Dialects/Rustpad": [
      "Access", "Documents", "Live", "Rates", "Requests", "Store", "Switchboard",
    ],
    "Dialects/ShareDB": [
      "Access", "Documents", "Live", "Rates", "Store", "Switchboard", "Values",
    ],
    "Dialects/SocketIO": [
      "Access", "Dialects", "Rates", "Requests", "Rooms", "Store", "Switchboard", "Values",
    ],
    "Dialects/Whaler": ["Documents", "Live", "Rates", "Rooms", "Store", "Switchboard"],
    "Documents": [
      "Documents/Delivery", "Documents/Followers", "Documents/Pages", "Documents/People",
      "Documents/Refusals", "Documents/State", "Live", "Store", "Switchboard", "Values",
    ],
    "Documents/Delivery": ["Documents/People", "Documents/State", "Live", "Store", "Switchboard"],
    "Documents/Followers": [
      "Documents/Delivery", "Documents/People", "Documents/State", "Live", "Store", "Switchboard",
    ],
    "Documents/Pages": ["Live", "Store", "Switchboard"],
    "Documents/People": ["Live", "Nodes", "Switchboard"],
    "Documents/Refusals": ["Documents/Pages", "Documents/State", "Live", "Switchboard"],
    "Documents/State": ["Live", "Nodes", "Store", "Values"],
    "Files": ["Access", "Store", "Switchboard", "Values"],
    "Folders": ["Access", "Documents", "Requests", "Rooms", "Store", "Switchboard"],
    "HTTP": [
      "Access", "Audit", "Bodies", "Comments", "Documents", "Documents/Delivery", "Documents/State",
      "Files",
      "Folders", "HTTP/Idempotency", "Links", "Live", "Notices", "Requests", "Rights", "Rooms",
      "Search",
      "Sessions", "SharedValues", "Store", "Switchboard", "Values",
    ],
    "HTTP/Idempotency": ["Requests", "Values"],
    "Links": ["Access", "Requests", "Rights", "Store", "Switchboard"],
    "Live": ["Values"],
    "Nodes": ["Live", "Store", "Values"],
    "Notices": ["Access", "Bodies", "Rooms", "Store", "Switchboard", "Values"],
    "Rates": [],
    "Requests": [],
    "Rights": ["Access", "Dialects/Native", "Documents", "Rates", "Rooms", "Switchboard"],
    "Rooms": [
      "Live", "Nodes", "Rooms/People", "Rooms/State", "Store", "Switchboard", "Values",
    ],
    "Rooms/People": ["Live", "Settings", "Store", "Switchboard"],
    "Rooms/State": ["Switchboard"],
    "Search": ["Access", "Bodies", "Requests", "Store", "Switchboard"],
    "Sessions": ["Access", "Rights", "Store", "Switchboard"],
    "Settings": [],
    "SharedValues": ["Access", "Bodies", "Nodes", "Rooms", "Store", "Switchboard"],
    "Store": ["Requests"],
    "Switchboard": ["Documents/State", "Live", "Nodes", "Rates", "Settings", "Store", "Values"],
    "Values": [],
    "Webhooks": ["Bodies", "Rooms/People"],
  ]

  private static let table = FolderTable(root: root, allowed: allowed)

  /// Lines that the files of one folder may have together: as many as a reader takes in at once.
  private static let linesMax = 2_500

  /// The parts that hold their own state, by the folder: the type, the gateway's name for it, and how
  /// many properties are its state at least.
  private static let walled = [
    "Access": (type: "Access", name: "access", stateCount: 1),
    "Audit": (type: "Audit", name: "audit", stateCount: 3),
    "Comments": (type: "Comments", name: "comments", stateCount: 2),
    "Dialects/Bayeux": (type: "BayeuxDialect", name: "bayeux", stateCount: 8),
    "Dialects/Pusher": (type: "PusherDialect", name: "pusher", stateCount: 1),
    "Dialects/Rustpad": (type: "RustpadDialect", name: "rustpad", stateCount: 2),
    "Dialects/ShareDB": (type: "ShareDBDialect", name: "shareDB", stateCount: 1),
    "Dialects/SocketIO": (type: "SocketIODialect", name: "socketIO", stateCount: 9),
    "Documents": (type: "Documents", name: "documents", stateCount: 3),
    "Documents/Delivery": (type: "DocumentDelivery", name: "delivery", stateCount: 2),
    "Documents/People": (type: "DocumentPeople", name: "people", stateCount: 3),
    "Files": (type: "Files", name: "files", stateCount: 6),
    "HTTP": (type: "HTTP", name: "http", stateCount: 1),
    "Notices": (type: "Notices", name: "notices", stateCount: 4),
    "Rights": (type: "Rights", name: "rights", stateCount: 2),
    "Rooms": (type: "Rooms", name: "rooms", stateCount: 3),
    "Search": (type: "Search", name: "search", stateCount: 1),
  ]

  private let tree = SourceTree()

  @Test("each folder names the folders that it may, and those alone")
  func names() throws { try Self.table.check(tree) }

  @Test("no part is both above and below another")
  func order() { #expect(Self.table.circle.isEmpty, "a circle goes through some of these") }

  @Test("a part is small enough to be read as one", arguments: [""] + allowed.keys.sorted())
  func size(folder: String) throws {
    let files = try tree.files(in: Self.root, endings: ["swift"])
      .filter { Self.table.folder(of: $0) == folder }
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
      #expect(!FolderTable.words(in: file).contains("Gateway"), "\(file.path)")
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
    let properties = main.code.compactMap {
      $0.firstMatch(of: /^  (?:private )?var (\w+)(?:: | = )[^{]*$/)?.1
    }
    #expect(properties.count >= part.stateCount, "\(main.path) keeps its state elsewhere")
    for file in try tree.files(in: Self.root, endings: ["swift"])
    where Self.table.folder(of: file) != folder {
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
}
