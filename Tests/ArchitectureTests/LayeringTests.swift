import Testing

/// The imports that a target may have. The build checks that what is imported is declared in the manifest;
/// this checks that the layers hold, and that system modules stay where they belong.
@Suite("Layers")
struct LayeringTests {
  /// For each module, everything that its Swift files may import. Imports point down.
  private static let allowed: [String: Set<String>] = [
    // Algebra: the standard library alone, for it also becomes WebAssembly.
    "OTCore": [],
    // Wire.
    "JSON": [],
    "ParleyModel": ["JSON"],
    "SocketMessages": ["JSON", "OTCore", "ParleyModel"],
    "SocketIO": ["JSON"],
    "Bayeux": ["JSON"],
    "ParleyPusher": ["JSON"],
    "WebSocketFrames": [],
    "HTTP1": [],
    // A lock, for whatever works on several threads.
    "Locks": ["Darwin", "Glibc"],
    // The models of other apps, for their clients.
    "DialectModels": ["JSON", "ParleyModel"],
    // The client's end: also WebAssembly.
    "ParleyClientCore": ["OTCore", "SocketMessages"],
    // A client's sockets on Linux, and the models of apps and services around the core.
    "WebSocketClient": [
      "HTTP1", "WebSocketFrames", "Locks", "CClientTLS", "Dispatch", "Glibc",
    ],
    "ParleyClient": [
      "OTCore", "JSON", "SocketMessages", "ParleyClientCore", "Locks", "WebSocketClient", "Darwin",
      "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Network", "Observation",
      "Synchronization",
    ],
    // Chats and resources, for apps that have them.
    "ParleyChat": [
      "ParleyClient", "ParleyClientCore", "JSON", "SocketMessages", "Foundation",
      "FoundationEssentials", "Observation",
    ],
    // A client's lists and waiting changes, on the device's disk.
    "ParleyOffline": [
      "ParleyClient", "ParleyModel", "JSON", "CClientSQLite", "SQLite3", "WebSocketClient",
      "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
    ],
    // Group chats, and cubits, for apps that have them.
    "ParleyGroups": ["ParleyOffline", "ParleyClient", "JSON", "Synchronization"],
    "TwakeCubits": ["DialectModels", "JSON", "Synchronization"],
    // Views. What is not drawing needs none of Apple's modules.
    "ParleyUI": [
      "OTCore", "ParleyClient", "ParleyOffline", "AppKit", "Observation", "SwiftUI", "UIKit",
    ],
    // Files that become notes: also WebAssembly.
    "Importing": ["ParleyModel", "Swift"],
    // Ports and the core behind them: no C, no adapter, no Foundation.
    "GatewayPorts": ["OTCore", "JSON", "ParleyModel", "WebSocketFrames"],
    "Gateway": [
      "OTCore", "JSON", "SocketMessages", "SocketIO", "Bayeux", "ParleyPusher", "WebSocketFrames",
      "GatewayPorts",
    ],
    // What several adapters need of a system library.
    "Hashing": ["COpenSSL"],
    // Adapters: each knows one outside system, and none knows another.
    "TransportLibwebsockets": [
      "GatewayPorts", "HTTP1", "WebSocketFrames", "Locks", "CLibwebsocketsShim", "Glibc",
    ],
    // What stores have in common.
    "StoreRecords": ["OTCore", "JSON", "GatewayPorts", "Hashing"],
    "StoreSQLite": [
      "OTCore", "JSON", "GatewayPorts", "Hashing", "StoreRecords", "CSQLite", "Glibc",
    ],
    // What brokers have in common.
    "BrokerQueues": ["GatewayPorts", "Hashing", "Locks", "Glibc"],
    "PostgreSQLAdapter": [
      "OTCore", "JSON", "GatewayPorts", "Hashing", "StoreRecords", "BrokerQueues", "CPostgres",
      "Glibc", "Synchronization",
    ],
    "BrokerNATS": ["GatewayPorts", "BrokerQueues", "CNATS", "Glibc"],
    "CryptoOpenSSL": ["JSON", "GatewayPorts", "Hashing", "COpenSSL", "Glibc"],
    "HTTPClientCurl": ["CCurl"],
    "CompressionZlib": ["CZlib"],
    // Programs.
    "ParleyServer": [
      "CAPIDescription", "WebSocketFrames", "Locks",
      "Gateway", "GatewayPorts", "SocketMessages", "JSON", "OTCore", "TransportLibwebsockets",
      "StoreSQLite", "PostgreSQLAdapter", "StoreRecords", "Importing", "BrokerNATS",
      "CryptoOpenSSL", "Hashing", "HTTPClientCurl", "CompressionZlib", "CLinux",
      "ParleyPusher", "Glibc",
      "Synchronization", "FoundationEssentials",
    ],
    "parley": [
      "ParleyServer", "CryptoOpenSSL", "GatewayPorts", "StoreSQLite", "StoreRecords", "Importing",
      "Glibc",
      "ParleyClient", "Locks",
      "Dispatch", "Synchronization",
    ],
    "ot-bench": ["OTCore", "OTWorkloads", "Glibc", "FoundationEssentials", "Hashing"],
    "simulate": ["SimulationKit", "Glibc"],
    // Beside.
    "OTWorkloads": ["OTCore"],
    "GrowthKit": ["Glibc"],
    "SimulationKit": [
      "OTCore", "OTWorkloads", "JSON", "SocketMessages", "WebSocketFrames", "ParleyClientCore",
      "GatewayPorts", "Gateway",
      "Synchronization",
    ],
    "PortConformance": ["OTCore", "OTWorkloads", "JSON", "GatewayPorts"],
    // System modules and C.
    "CLibwebsockets": [], "CLibwebsocketsShim": [], "CSQLite": [], "CPostgres": [], "CNATS": [],
    "COpenSSL": [],
    "CCurl": [], "CZlib": [], "CLinux": [], "CClientTLS": [], "CClientSQLite": [],
    "CAPIDescription": [],
  ]

  private let tree = SourceTree()

  @Test("each target imports only what its layer may", arguments: allowed.keys.sorted())
  func imports(target: String) throws {
    let allowed = try #require(Self.allowed[target])
    let folder = try #require(try tree.modules()[target])
    // The code of tutorials is an app's.
    for file in try tree.files(in: folder, endings: ["swift"]) where !file.path.contains(".docc/") {
      for module in file.imports {
        #expect(allowed.contains(module), "\(file.path) imports \(module)")
      }
    }
  }

  @Test("the table names every target, and no other")
  func completeness() throws {
    #expect(try tree.modules().keys.sorted() == Self.allowed.keys.sorted())
  }

  @Test("ARCHITECTURE.md names every target")
  func page() throws {
    let page = try tree.text("ARCHITECTURE.md")
    for target in Self.allowed.keys { #expect(page.contains("`\(target)`"), "\(target)") }
  }

  @Test("no two targets differ by case only")
  func caseOnly() throws {
    let names = try tree.modules().keys + tree.folders(in: "Tests")
    #expect(Set(names.map { $0.lowercased() }).count == names.count)
  }

  @Test("a C module is imported only by its own adapter")
  func systemModules() throws {
    let owners: [String: Set<String>] = [
      "CLibwebsockets": ["TransportLibwebsockets"],
      "CLibwebsocketsShim": ["TransportLibwebsockets"],
      "CSQLite": ["StoreSQLite"],
      "CNATS": ["BrokerNATS"],
      "CPostgres": ["PostgreSQLAdapter"],
      "COpenSSL": ["CryptoOpenSSL", "Hashing"],
      "CCurl": ["HTTPClientCurl"], "CZlib": ["CompressionZlib"], "CLinux": ["ParleyServer"],
      "CAPIDescription": ["ParleyServer"],
      "CClientTLS": ["WebSocketClient"], "CClientSQLite": ["ParleyOffline"],
    ]
    for (target, modules) in Self.allowed {
      for module in modules {
        #expect(owners[module]?.contains(target) ?? true, "\(target) may import \(module)")
      }
    }
  }

  @Test(
    "no adapter imports another",
    arguments: [
      "TransportLibwebsockets", "StoreSQLite", "PostgreSQLAdapter", "BrokerNATS", "CryptoOpenSSL",
      "HTTPClientCurl", "CompressionZlib",
    ])
  func adapters(adapter: String) throws {
    for (target, modules) in Self.allowed where target != adapter && modules.contains(adapter) {
      // Programs put adapters together.
      #expect(["ParleyServer", "parley"].contains(target), "\(target) may import \(adapter)")
    }
  }

  @Test(
    "an app that uses the client needs none of the server's libraries",
    arguments: [("ParleyClient", "CClientTLS"), ("ParleyOffline", "CClientSQLite")])
  func client(product: String, own: String) {
    var found: Set = [product]
    var open = [product]
    while let next = open.popLast() {
      for module in Self.allowed[next] ?? [] where found.insert(module).inserted {
        open.append(module)
      }
    }
    for chat in ["ParleyChat", "ParleyGroups", "TwakeCubits", "DialectModels"] {
      #expect(!found.contains(chat), "ParleyClient needs \(chat), which not every app wants")
    }
    // The system libraries, which are looked for with pkg-config.
    for library in [
      "CLibwebsockets", "CSQLite", "CPostgres", "CNATS", "COpenSSL", "CCurl", "CZlib",
    ] {
      #expect(Self.allowed[library] != nil)
      #expect(!found.contains(library), "\(product) needs \(library)")
    }
    #expect(found.contains(own))
  }

  @Test("imports are read with their attributes and access levels")
  func reading() {
    let file = SourceTree.File(
      path: "x.swift",
      text: """
        import A
        public import B
        @preconcurrency import C
        @_spi(Inside) package import struct D.Thing
        // import E
        /* import F
        import G */
        let important = 1
        """)
    #expect(file.imports == ["A", "B", "C", "D"])
  }

  @Test("the server's threads know the store by its port, and one file says which store it is")
  func store() throws {
    let importing = try tree.files(in: "Sources/ParleyServer", endings: ["swift"])
      .filter { $0.imports.contains("StoreSQLite") }
      .compactMap { $0.path.split(separator: "/").last }
    // The commands copy, check, convert and move files of that store.
    #expect(
      importing == ["Configuration+Store.swift", "StoreCommands.swift", "StoreMigration.swift"])
  }
}
