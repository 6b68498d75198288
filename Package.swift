// swift-tools-version: 6.2
import PackageDescription

// Modules point inwards: OTCore knows nobody, an adapter wraps one outside system, and only the
// programs know them all. Tests/ArchitectureTests holds the table of what may import what.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A product: targets that other packages may use. Quoted, for `library` alone makes a target here.
func product(_ name: String, _ targets: [String]) -> Product {
  .`library`(name: name, targets: targets)
}

func library(
  _ name: String, in folder: String? = nil, _ dependencies: [Target.Dependency] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: folder.map { "Sources/\($0)/\(name)" },
    swiftSettings: settings)
}

/// A library of the system, as a module.
func system(_ name: String, _ pkgConfig: String, _ packages: [String]) -> Target {
  .systemLibrary(
    name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt(packages)])
}

/// For code that need not be fast: tests, and what only they use. It is compiled in half of the time.
let unoptimised = settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// Tests of modules that are compiled as they ship.
func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [])
  -> Target
{
  .testTarget(
    name: name, dependencies: dependencies, resources: resources, swiftSettings: unoptimised)
}

let package = Package(
  name: "Parley",
  // For the products of clients; servers run on Linux.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    product("OTCore", ["OTCore"]),
    product("SocketMessages", ["JSON", "ParleyModel", "SocketMessages"]),
    product("ParleyClientCore", ["ParleyClientCore"]),
    product("ParleyClient", ["ParleyClient"]),
    product("DialectModels", ["JSON", "DialectModels"]),
    product("ParleyChat", ["ParleyChat"]),
    product("ParleyOffline", ["ParleyOffline"]),
    product("ParleyUI", ["ParleyUI"]),
    product("ParleyGroups", ["ParleyGroups"]),
    product("TwakeCubits", ["DialectModels", "TwakeCubits"]),
    product("Gateway", ["JSON", "ParleyModel", "GatewayPorts", "Gateway"]),
    product("ParleyServer", ["ParleyServer"]),
    .executable(name: "parley", targets: ["parley"]),
    .executable(name: "ot-bench", targets: ["ot-bench"]),
  ],
  targets: [
    // Algebra.
    library("OTCore"),
    // Wire.
    library("JSON"),
    // Words that wire and ports share.
    library("ParleyModel", ["JSON"]),
    library("SocketMessages", ["JSON", "OTCore", "ParleyModel"]),
    library("SocketIO", ["JSON"]),
    library("Bayeux", ["JSON"]),
    library("ParleyPusher", ["JSON"]),
    library("WebSocketFrames"),
    library("HTTP1"),
    // Under whatever works on several threads.
    library("Locks"),
    // The client's end.
    library("DialectModels", ["JSON", "ParleyModel"]),
    library("ParleyClientCore", ["OTCore", "SocketMessages"]),
    // TLS of clients; not a system library, so that a package that depends on this one needs no
    // pkg-config.
    .target(
      name: "CClientTLS",
      path: "Sources/SystemLibraries/CClientTLS",
      linkerSettings: [
        .linkedLibrary("ssl", .when(platforms: [.linux])),
        .linkedLibrary("crypto", .when(platforms: [.linux])),
      ]),
    library(
      "WebSocketClient", in: "Adapters", ["HTTP1", "WebSocketFrames", "Locks", "CClientTLS"]),
    library(
      "ParleyClient",
      [
        "OTCore", "JSON", "SocketMessages", "ParleyClientCore", "Locks",
        .target(name: "WebSocketClient", condition: .when(platforms: [.linux])),
      ]),
    // SQLite of clients; not a system library either.
    .target(
      name: "CClientSQLite",
      path: "Sources/SystemLibraries/CClientSQLite",
      linkerSettings: [.linkedLibrary("sqlite3", .when(platforms: [.linux]))]),
    // Chats, as handlers, and resources with delegates.
    library("ParleyChat", ["ParleyClient", "ParleyClientCore", "JSON", "SocketMessages"]),
    // Lists, and changes that wait for a server, on the device's disk.
    library(
      "ParleyOffline",
      [
        "ParleyClient", "ParleyModel", "JSON", "CClientSQLite",
        .target(name: "WebSocketClient", condition: .when(platforms: [.linux])),
      ]),
    // Group chats over these.
    library("ParleyGroups", ["ParleyOffline", "ParleyClient", "JSON"]),
    // State of apps of the Twake family.
    library("TwakeCubits", ["DialectModels", "JSON"]),
    // Views for Apple's systems; what decides how they behave is compiled everywhere.
    library("ParleyUI", ["OTCore", "ParleyClient", "ParleyOffline"]),
    // Files that become notes; also in the page, as WebAssembly.
    library("Importing", ["ParleyModel"]),
    // Ports, and the core behind them.
    library("GatewayPorts", ["OTCore", "JSON", "ParleyModel", "WebSocketFrames"]),
    library(
      "Gateway",
      [
        "OTCore", "JSON", "SocketMessages", "SocketIO", "Bayeux", "ParleyPusher", "WebSocketFrames",
        "GatewayPorts",
      ]),
    // Under the adapters: SHA-256 and random bytes, which several need.
    library("Hashing", in: "Adapters", ["COpenSSL"]),
    // Under the stores: records' checksums, texts folded from logs, exports.
    library("StoreRecords", in: "Adapters", ["OTCore", "JSON", "GatewayPorts", "Hashing"]),
    // Under the brokers: queues between a loop and a broker's thread, hints as bytes.
    library("BrokerQueues", in: "Adapters", ["GatewayPorts", "Hashing", "Locks"]),
    // Adapters: each wraps one outside system, and none imports another.
    system(
      "CLibwebsockets", "libwebsockets",
      ["libwebsockets-dev", "libwebsockets-evlib-ev", "libev-dev"]),
    system("CSQLite", "sqlite3", ["libsqlite3-dev"]),
    system("CPostgres", "libpq", ["libpq-dev"]),
    system("CNATS", "libnats", ["libnats-dev"]),
    system("COpenSSL", "libcrypto", ["libssl-dev"]),
    system("CCurl", "libcurl", ["libcurl4-openssl-dev"]),
    system("CZlib", "zlib", ["zlib1g-dev"]),
    // Questions to the kernel that Swift's Glibc leaves out.
    .target(name: "CLinux", path: "Sources/SystemLibraries/CLinux"),
    .target(
      name: "CLibwebsocketsShim", dependencies: ["CLibwebsockets"],
      path: "Sources/SystemLibraries/CLibwebsocketsShim",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    library(
      "TransportLibwebsockets", in: "Adapters",
      ["GatewayPorts", "HTTP1", "WebSocketFrames", "Locks", "CLibwebsocketsShim"]),
    library(
      "StoreSQLite", in: "Adapters",
      ["OTCore", "JSON", "GatewayPorts", "CSQLite", "Hashing", "StoreRecords"]),
    library(
      "PostgreSQLAdapter", in: "Adapters",
      ["OTCore", "JSON", "GatewayPorts", "CPostgres", "Hashing", "StoreRecords", "BrokerQueues"]),
    library("BrokerNATS", in: "Adapters", ["GatewayPorts", "CNATS", "BrokerQueues"]),
    library("CryptoOpenSSL", in: "Adapters", ["JSON", "GatewayPorts", "Hashing", "COpenSSL"]),
    library("HTTPClientCurl", in: "Adapters", ["CCurl"]),
    library("CompressionZlib", in: "Adapters", ["CZlib"]),
    // The description of the HTTP API, as a part of the program.
    .target(name: "CAPIDescription", exclude: ["openapi.json"]),
    // Programs.
    library(
      "ParleyServer",
      [
        "Gateway", "GatewayPorts", "SocketMessages", "JSON", "OTCore", "TransportLibwebsockets",
        "StoreSQLite", "PostgreSQLAdapter", "StoreRecords", "Importing", "BrokerNATS",
        "CryptoOpenSSL", "Hashing", "HTTPClientCurl", "CompressionZlib", "CLinux",
        "CAPIDescription", "WebSocketFrames", "Locks", "ParleyPusher",
      ]),
    .executableTarget(
      name: "parley",
      dependencies: [
        "ParleyServer", "CryptoOpenSSL", "GatewayPorts", "StoreSQLite", "StoreRecords",
        "ParleyClient", "Locks",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ot-bench", dependencies: ["OTCore", "OTWorkloads", "Hashing"],
      swiftSettings: settings),
    .executableTarget(
      name: "simulate", dependencies: ["SimulationKit"], path: "Sources/Kits/simulate",
      swiftSettings: settings),
    .executableTarget(
      name: "parley-store-bench",
      dependencies: [
        "ParleyServer", "StoreSQLite", "Gateway", "GatewayPorts", "OTCore", "OTWorkloads", "Locks",
      ],
      path: "Benchmarks/Store", swiftSettings: settings),
    .systemLibrary(name: "CEpoll", path: "Benchmarks/CEpoll"),
    .executableTarget(
      name: "parley-load",
      dependencies: [
        "OTCore", "JSON", "SocketMessages", "WebSocketFrames", "CEpoll", "CClientTLS",
        "CLibwebsocketsShim",
      ],
      path: "Benchmarks/Load",
      swiftSettings: settings),
    .executableTarget(
      name: "parley-outbox-bench", dependencies: ["ParleyOffline", "ParleyClient"],
      path: "Benchmarks/Outbox",
      swiftSettings: settings),
    // Examples, which the tests run.
    .executableTarget(
      name: "example-todo-bot", dependencies: ["ParleyClient"], path: "Examples/TodoBot",
      swiftSettings: unoptimised),
    .executableTarget(
      name: "example-live-list", dependencies: ["ParleyClient"], path: "Examples/LiveList",
      swiftSettings: unoptimised),
    .executableTarget(
      name: "example-offline-list", dependencies: ["ParleyOffline", "ParleyClient"],
      path: "Examples/OfflineList", swiftSettings: unoptimised),
    // A process that the tests kill.
    .executableTarget(
      name: "offline-victim", dependencies: ["ParleyOffline", "ParleyClient"],
      path: "Tests/OfflineVictim", swiftSettings: unoptimised),
    // Beside.
    library("OTWorkloads", in: "Kits", ["OTCore"]),
    library("GrowthKit", in: "Kits"),
    library(
      "SimulationKit", in: "Kits",
      [
        "OTCore", "OTWorkloads", "JSON", "SocketMessages", "WebSocketFrames", "ParleyClientCore",
        "GatewayPorts", "Gateway",
      ]),
    .target(
      name: "PortConformance", dependencies: ["OTCore", "OTWorkloads", "JSON", "GatewayPorts"],
      path: "Sources/Kits/PortConformance", swiftSettings: unoptimised),
    // Tests.
    tests("ArchitectureTests", []),
    tests(
      "OTCoreTests", ["OTCore", "OTWorkloads", "GrowthKit"], resources: [.copy("Vectors")]),
    .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
    tests(
      "SocketMessagesTests",
      ["SocketMessages", "JSON", "OTCore", "OTWorkloads", "GrowthKit", "CAllocationCount"]),
    tests("DialectModelsTests", ["DialectModels", "JSON", "GrowthKit"]),
    tests(
      "ParleyClientCoreTests",
      ["ParleyClientCore", "SocketMessages", "JSON", "OTCore", "OTWorkloads"]),
    tests("WebSocketClientTests", ["WebSocketClient", "OTWorkloads"]),
    tests(
      "ParleyClientTests",
      [
        "ParleyClient", "ParleyClientCore", "WebSocketClient", "SocketMessages", "JSON", "OTCore",
        "OTWorkloads", "Locks",
      ]),
    tests(
      "ParleyChatTests",
      ["ParleyChat", "ParleyClient", "JSON", "OTWorkloads", "SocketMessages"]),
    tests(
      "ParleyOfflineTests",
      [
        "ParleyOffline", "ParleyClient", "JSON", "OTWorkloads", "CSQLite", "CSQLiteFaults",
        "GrowthKit",
      ]),
    tests(
      "ParleyGroupsTests",
      ["ParleyGroups", "TwakeCubits", "DialectModels", "ParleyOffline", "ParleyClient", "JSON"]),
    tests("TwakeCubitsTests", ["TwakeCubits", "DialectModels"]),
    tests(
      "ParleyUITests",
      [
        "ParleyUI", "ParleyClient", "ParleyOffline", "ParleyClientCore", "SocketMessages", "OTCore",
        "OTWorkloads", "Locks",
      ]),
    tests("SocketIOTests", ["SocketIO", "JSON", "GrowthKit"]),
    tests("BayeuxTests", ["Bayeux", "JSON", "GrowthKit"]),
    tests("ParleyPusherTests", ["ParleyPusher", "CryptoOpenSSL", "JSON"]),
    tests("WebSocketFramesTests", ["WebSocketFrames", "OTWorkloads", "GrowthKit"]),
    tests("ImportingTests", ["Importing", "ParleyModel"]),
    tests("HTTP1Tests", ["HTTP1", "OTWorkloads", "GrowthKit"]),
    tests(
      "GatewayTests",
      [
        "Gateway", "GatewayPorts", "SocketMessages", "JSON", "WebSocketFrames", "OTCore",
        "SimulationKit",
        "OTWorkloads", "CAllocationCount", "GrowthKit", "DialectModels", "Locks", "ParleyPusher",
        "CryptoOpenSSL",
      ]),
    .target(name: "CSQLiteFaults", dependencies: ["CSQLite"], path: "Tests/CSQLiteFaults"),
    tests(
      "StoreSQLiteTests",
      [
        "StoreSQLite", "StoreRecords", "PortConformance", "SimulationKit", "GatewayPorts", "JSON",
        "OTCore",
        "OTWorkloads", "CSQLite", "CSQLiteFaults", "GrowthKit",
      ]),
    tests(
      "PostgreSQLAdapterTests",
      [
        "PostgreSQLAdapter", "BrokerQueues", "StoreRecords", "PortConformance", "GatewayPorts",
        "JSON", "OTCore", "OTWorkloads", "CPostgres",
      ]),
    tests("BrokerNATSTests", ["BrokerNATS", "BrokerQueues", "GatewayPorts"]),
    tests(
      "TransportLibwebsocketsTests",
      ["TransportLibwebsockets", "GatewayPorts", "WebSocketFrames", "OTWorkloads", "Locks"]),
    tests("CryptoOpenSSLTests", ["CryptoOpenSSL", "GatewayPorts", "Hashing"]),
    tests(
      "ParleyServerTests",
      [
        "ParleyServer", "Gateway", "GatewayPorts", "SocketMessages", "OTCore", "OTWorkloads",
        "StoreSQLite", "StoreRecords", "CryptoOpenSSL", "CompressionZlib", "Hashing", "Locks",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// SwiftPM compiles a target again when the interface of one that it names has changed. Values of modules behind that one
// are laid out in it, too, and it would misread them once they have another layout. So each names all that is behind it,
// but for what some platforms do without.
let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
for dependent in package.targets {
  var known: Set<String> = []
  var next = dependent.dependencies
  dependent.dependencies = []
  while !next.isEmpty {
    let dependency = next.removeFirst()
    switch dependency {
    case .byNameItem(let name, let condition), .targetItem(let name, let condition):
      guard known.insert(name).inserted else { continue }
      if condition == nil { next += targets[name]?.dependencies ?? [] }
    default: break
    }
    dependent.dependencies.append(dependency)
  }
}
