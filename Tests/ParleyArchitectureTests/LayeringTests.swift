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
    "ParleyJSON": [],
    "ParleyModel": ["ParleyJSON"],
    "SocketMessages": ["ParleyJSON", "OTCore", "ParleyModel"],
    // Formatted texts as Delta, HTML and Markdown.
    "ParleyRichForms": ["OTCore", "ParleyJSON", "ParleyModel"],
    "ParleySocketIO": ["ParleyJSON"],
    "ParleyBayeux": ["ParleyJSON"],
    "ParleyPusher": ["ParleyJSON"],
    "ParleyShareDB": ["OTCore", "ParleyJSON"],
    "ParleyRustpad": ["OTCore", "ParleyJSON"],
    "ParleyOTEvents": ["OTCore", "ParleyJSON"],
    "ParleyWebSocketFrames": [],
    "ParleyHTTP1": [],
    // A lock, for whatever works on several threads.
    "ParleyLocks": ["Darwin", "Glibc"],
    // The models of other apps, for their clients.
    "ParleyDialectModels": ["ParleyJSON", "ParleyModel", "Foundation", "FoundationEssentials"],
    // The client's end: also WebAssembly.
    "ParleyClientCore": ["OTCore", "SocketMessages"],
    // A client's sockets on Linux, and the models of apps and services around the core.
    "ParleyWebSocketClient": [
      "ParleyHTTP1", "ParleyWebSocketFrames", "ParleyLocks", "CParleyClientTLS", "Dispatch",
      "Glibc",
    ],
    "ParleyClient": [
      "OTCore", "ParleyJSON", "SocketMessages", "ParleyClientCore", "ParleyLocks",
      "ParleyWebSocketClient", "Darwin",
      "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Network", "Observation",
      "Synchronization",
    ],
    // Chats and resources, for apps that have them.
    "ParleyChat": [
      "ParleyClient", "ParleyClientCore", "ParleyJSON", "ParleyModel", "SocketMessages",
      "Foundation", "FoundationEssentials", "Observation",
    ],
    // A client's lists and waiting changes, on the device's disk.
    "ParleyOffline": [
      "ParleyClient", "ParleyModel", "ParleyJSON", "CParleyClientSQLite", "SQLite3",
      "ParleyWebSocketClient",
      "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
    ],
    // Group chats, and cubits, for apps that have them.
    "ParleyGroups": ["ParleyOffline", "ParleyClient", "ParleyJSON", "Synchronization"],
    "ParleyTwakeCubits": [
      "ParleyDialectModels", "ParleyClient", "ParleySocketIO", "ParleyJSON", "ParleyModel",
      "Foundation", "FoundationEssentials", "Synchronization",
    ],
    // Views. What is not drawing needs none of Apple's modules; Foundation for attributed strings.
    "ParleyUI": [
      "OTCore", "ParleyClient", "ParleyOffline", "AppKit", "Foundation", "Observation", "SwiftUI",
      "UIKit",
    ],
    // Files that become notes: also WebAssembly.
    "ParleyImporting": ["ParleyModel", "Swift"],
    // Mail messages.
    "ParleyMail": [],
    // Ports and the core behind them: no C, no adapter, no Foundation.
    "ParleyGatewayPorts": ["OTCore", "ParleyJSON", "ParleyModel", "ParleyWebSocketFrames"],
    "Gateway": [
      "OTCore", "ParleyJSON", "SocketMessages", "ParleySocketIO", "ParleyBayeux", "ParleyPusher",
      "ParleyShareDB", "ParleyRustpad", "ParleyRichForms", "ParleyWebSocketFrames",
      "ParleyGatewayPorts",
    ],
    // What several adapters need of a system library.
    "ParleyHashing": ["CParleyOpenSSL"],
    // Adapters: each knows one outside system, and none knows another.
    "ParleyTransportLibwebsockets": [
      "ParleyGatewayPorts", "ParleyHTTP1", "ParleyWebSocketFrames", "ParleyLocks",
      "CParleyLibwebsocketsShim", "Glibc",
    ],
    // What stores have in common.
    "ParleyStoreRecords": [
      "OTCore", "ParleyJSON", "ParleyRichForms", "ParleyGatewayPorts", "ParleyHashing",
    ],
    "ParleyStoreSQLite": [
      "OTCore", "ParleyJSON", "ParleyGatewayPorts", "ParleyHashing", "ParleyStoreRecords",
      "CParleySQLite", "Glibc",
    ],
    // What brokers have in common.
    "ParleyBrokerQueues": ["ParleyGatewayPorts", "ParleyHashing", "ParleyLocks", "Glibc"],
    "ParleyPostgreSQLAdapter": [
      "OTCore", "ParleyJSON", "ParleyGatewayPorts", "ParleyHashing", "ParleyStoreRecords",
      "ParleyBrokerQueues", "CParleyPostgres",
      "Glibc", "Synchronization",
    ],
    "ParleyBrokerNATS": ["ParleyGatewayPorts", "ParleyBrokerQueues", "CParleyNATS", "Glibc"],
    "ParleyCryptoOpenSSL": [
      "ParleyJSON", "ParleyGatewayPorts", "ParleyHashing", "CParleyOpenSSL", "Glibc",
    ],
    "ParleyHTTPClientCurl": ["CParleyCurl"],
    "ParleyCompressionZlib": ["CParleyZlib"],
    // Programs.
    "ParleyServer": [
      "CParleyAPIDescription", "ParleyWebSocketFrames", "ParleyLocks",
      "Gateway", "ParleyGatewayPorts", "SocketMessages", "ParleyJSON", "OTCore",
      "ParleyTransportLibwebsockets",
      "ParleyStoreSQLite", "ParleyPostgreSQLAdapter", "ParleyStoreRecords", "ParleyImporting",
      "ParleyBrokerNATS", "ParleyMail",
      "ParleyCryptoOpenSSL", "ParleyHashing", "ParleyHTTPClientCurl", "ParleyCompressionZlib",
      "CParleyLinux",
      "ParleyPusher", "Glibc",
      "Synchronization", "FoundationEssentials",
    ],
    "parley": [
      "ParleyServer", "ParleyCryptoOpenSSL", "ParleyGatewayPorts", "ParleyStoreSQLite",
      "ParleyStoreRecords", "ParleyImporting",
      "Glibc",
      "ParleyClient", "ParleyLocks", "ParleyJSON", "ParleyMail",
      "Dispatch", "Synchronization",
    ],
    "ot-bench": ["OTCore", "ParleyOTWorkloads", "Glibc", "FoundationEssentials", "ParleyHashing"],
    "parley-simulate": ["ParleySimulationKit", "Glibc"],
    // Beside.
    "ParleyOTWorkloads": ["OTCore"],
    "ParleyGrowthKit": ["Glibc"],
    "ParleySimulationKit": [
      "OTCore", "ParleyOTWorkloads", "ParleyJSON", "SocketMessages", "ParleyWebSocketFrames",
      "ParleyClientCore",
      "ParleyGatewayPorts", "Gateway",
      "Synchronization",
    ],
    "ParleyPortConformance": ["OTCore", "ParleyOTWorkloads", "ParleyJSON", "ParleyGatewayPorts"],
    // System modules and C.
    "CParleyLibwebsockets": [], "CParleyLibwebsocketsShim": [], "CParleySQLite": [],
    "CParleyPostgres": [], "CParleyNATS": [],
    "CParleyOpenSSL": [],
    "CParleyCurl": [], "CParleyZlib": [], "CParleyLinux": [], "CParleyClientTLS": [],
    "CParleyClientSQLite": [],
    "CParleyAPIDescription": [],
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

  /// An app that depends on this package may have no other target of the same name, wherever that comes from.
  @Test("every target has a prefix that no other package uses")
  func prefixes() throws {
    let required: Set = ["OTCore", "SocketMessages", "Gateway", "ot-bench"]
    let targets = try tree.text("Package.swift").matches(
      of: /(?:library|system|tests)\(\s*"([^"]+)"|[tT]arget\(\s*name: "([^"]+)"/)
    let names = targets.compactMap { ($0.1 ?? $0.2).map(String.init) }
    #expect(names.count > 80)
    for name in names where !required.contains(name) {
      let module = name.hasSuffix("Tests") ? String(name.dropLast(5)) : name
      #expect(
        required.contains(module)
          || ["Parley", "CParley", "parley"].contains { name.hasPrefix($0) },
        "\(name) may be the name of another package's target")
    }
  }

  @Test("no two targets differ by case only")
  func caseOnly() throws {
    let names = try tree.modules().keys + tree.folders(in: "Tests")
    #expect(Set(names.map { $0.lowercased() }).count == names.count)
  }

  @Test("a C module is imported only by its own adapter")
  func systemModules() throws {
    let owners: [String: Set<String>] = [
      "CParleyLibwebsockets": ["ParleyTransportLibwebsockets"],
      "CParleyLibwebsocketsShim": ["ParleyTransportLibwebsockets"],
      "CParleySQLite": ["ParleyStoreSQLite"],
      "CParleyNATS": ["ParleyBrokerNATS"],
      "CParleyPostgres": ["ParleyPostgreSQLAdapter"],
      "CParleyOpenSSL": ["ParleyCryptoOpenSSL", "ParleyHashing"],
      "CParleyCurl": ["ParleyHTTPClientCurl"], "CParleyZlib": ["ParleyCompressionZlib"],
      "CParleyLinux": ["ParleyServer"],
      "CParleyAPIDescription": ["ParleyServer"],
      "CParleyClientTLS": ["ParleyWebSocketClient"], "CParleyClientSQLite": ["ParleyOffline"],
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
      "ParleyTransportLibwebsockets", "ParleyStoreSQLite", "ParleyPostgreSQLAdapter",
      "ParleyBrokerNATS", "ParleyCryptoOpenSSL",
      "ParleyHTTPClientCurl", "ParleyCompressionZlib",
    ])
  func adapters(adapter: String) throws {
    for (target, modules) in Self.allowed where target != adapter && modules.contains(adapter) {
      // Programs put adapters together.
      #expect(["ParleyServer", "parley"].contains(target), "\(target) may import \(adapter)")
    }
  }

  @Test(
    "an app that uses the client needs none of the server's libraries",
    arguments: [("ParleyClient", "CParleyClientTLS"), ("ParleyOffline", "CParleyClientSQLite")])
  func client(product: String, own: String) {
    var found: Set = [product]
    var open = [product]
    while let next = open.popLast() {
      for module in Self.allowed[next] ?? [] where found.insert(module).inserted {
        open.append(module)
      }
    }
    for chat in ["ParleyChat", "ParleyGroups", "ParleyTwakeCubits", "ParleyDialectModels"] {
      #expect(!found.contains(chat), "ParleyClient needs \(chat), which not every app wants")
    }
    // The system libraries, which are looked for with pkg-config.
    for library in [
      "CParleyLibwebsockets", "CParleySQLite", "CParleyPostgres", "CParleyNATS", "CParleyOpenSSL",
      "CParleyCurl", "CParleyZlib",
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
      .filter { $0.imports.contains("ParleyStoreSQLite") }
      .compactMap { $0.path.split(separator: "/").last }
    // The commands copy, check, convert and move files of that store.
    #expect(
      importing == ["Configuration+Store.swift", "StoreCommands.swift", "StoreMigration.swift"])
  }
}
