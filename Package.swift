// swift-tools-version: 6.2
import PackageDescription

// Modules point inwards: OTCore knows nobody, an adapter wraps one outside system, and only the
// programs know them all. Tests/ParleyArchitectureTests holds the table of what may import what.
//
// Warnings are errors only in this package's own builds, which run in its folder. An app that names
// the package by its path would inherit them, and a warning of a newer compiler would end its
// build. SwiftPM does not tell a manifest whose build it is: an app that is built from this folder,
// by `--package-path`, sets PARLEY_WARNINGS=shown.
let isOwnBuild =
  Context.environment["PWD"] == Context.packageDirectory
  && Context.environment["PARLEY_WARNINGS"] != "shown"
let ownSettings: [SwiftSetting] = isOwnBuild ? [.treatAllWarnings(as: .error)] : []
let settings =
  ownSettings + [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]

/// A product: targets that other packages may use. Quoted, for `library` alone makes a target here.
func product(_ name: String, _ targets: [String]) -> Product {
  .`library`(name: name, targets: targets)
}

func library(
  _ name: String, in folder: String? = nil, _ dependencies: [Target.Dependency] = [],
  hasPrivacyManifest: Bool = false
) -> Target {
  // Elsewhere a resource would need Foundation.
  #if canImport(Darwin)
    let (excluded, resources) = ([String](), [Resource.process("PrivacyInfo.xcprivacy")])
  #else
    let (excluded, resources) = (["PrivacyInfo.xcprivacy"], [Resource]())
  #endif
  return .target(
    name: name, dependencies: dependencies, path: folder.map { "Sources/\($0)/\(name)" },
    exclude: hasPrivacyManifest ? excluded : [], resources: hasPrivacyManifest ? resources : [],
    swiftSettings: settings)
}

/// A library of the system, as a module.
func system(_ name: String, _ pkgConfig: String, _ packages: [String]) -> Target {
  .systemLibrary(
    name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt(packages)])
}

/// For code that need not be fast: tests, and what only they use. It is compiled in half of the time; and read once, since
/// hardly anything imports it: by default, the compiler reads unoptimised sources twice, first for importers.
let unoptimised =
  settings + [
    .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))
  ]

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
    product("SocketMessages", ["ParleyJSON", "ParleyModel", "SocketMessages"]),
    product("ParleyClientCore", ["ParleyClientCore"]),
    product("ParleyClient", ["ParleyClient"]),
    product("DialectModels", ["ParleyJSON", "ParleyDialectModels"]),
    product("ParleyChat", ["ParleyChat"]),
    product("ParleyOffline", ["ParleyOffline"]),
    product("ParleyUI", ["ParleyUI"]),
    product("ParleyGroups", ["ParleyGroups"]),
    product("TwakeCubits", ["ParleyDialectModels", "ParleyTwakeCubits"]),
    product("Gateway", ["ParleyJSON", "ParleyModel", "ParleyGatewayPorts", "Gateway"]),
    product("ParleyServer", ["ParleyServer"]),
    .executable(name: "parley", targets: ["parley"]),
    .executable(name: "ot-bench", targets: ["ot-bench"]),
  ],
  targets: [
    // Algebra.
    library("OTCore"),
    // Wire.
    library("ParleyJSON"),
    // Words that wire and ports share.
    library("ParleyModel", ["ParleyJSON"]),
    library("SocketMessages", ["ParleyJSON", "OTCore", "ParleyModel"]),
    // Formatted texts as Delta, HTML and Markdown.
    library("ParleyRichForms", ["OTCore", "ParleyJSON", "ParleyModel"]),
    library("ParleySocketIO", ["ParleyJSON"]),
    library("ParleyBayeux", ["ParleyJSON"]),
    library("ParleyPusher", ["ParleyJSON"]),
    library("ParleyShareDB", ["OTCore", "ParleyJSON"]),
    library("ParleyRustpad", ["OTCore", "ParleyJSON"]),
    library("ParleyOTEvents", ["OTCore", "ParleyJSON"]),
    library("ParleyWebSocketFrames"),
    library("ParleyHTTP1"),
    // Under whatever works on several threads.
    library("ParleyLocks"),
    // The client's end.
    library("ParleyDialectModels", ["ParleyJSON", "ParleyModel"]),
    library("ParleyClientCore", ["OTCore", "SocketMessages"]),
    // TLS of clients; not a system library, so that a package that depends on this one needs no
    // pkg-config.
    .target(
      name: "CParleyClientTLS",
      path: "Sources/SystemLibraries/CParleyClientTLS",
      linkerSettings: [
        .linkedLibrary("ssl", .when(platforms: [.linux])),
        .linkedLibrary("crypto", .when(platforms: [.linux])),
      ]),
    library(
      "ParleyWebSocketClient", in: "Adapters",
      ["ParleyHTTP1", "ParleyWebSocketFrames", "ParleyLocks", "CParleyClientTLS"]),
    library(
      "ParleyClient",
      [
        "OTCore", "ParleyJSON", "SocketMessages", "ParleyClientCore", "ParleyLocks",
        .target(name: "ParleyWebSocketClient", condition: .when(platforms: [.linux])),
      ], hasPrivacyManifest: true),
    // SQLite of clients; not a system library either.
    .target(
      name: "CParleyClientSQLite",
      path: "Sources/SystemLibraries/CParleyClientSQLite",
      linkerSettings: [.linkedLibrary("sqlite3", .when(platforms: [.linux]))]),
    // Chats, as handlers, and resources with delegates.
    library(
      "ParleyChat",
      ["ParleyClient", "ParleyClientCore", "ParleyJSON", "ParleyModel", "SocketMessages"]),
    // Lists, and changes that wait for a server, on the device's disk.
    library(
      "ParleyOffline",
      [
        "ParleyClient", "ParleyModel", "ParleyJSON", "CParleyClientSQLite",
        .target(name: "ParleyWebSocketClient", condition: .when(platforms: [.linux])),
      ], hasPrivacyManifest: true),
    // Group chats over these.
    library("ParleyGroups", ["ParleyOffline", "ParleyClient", "ParleyJSON"]),
    // State of apps of the Twake family.
    library(
      "ParleyTwakeCubits",
      ["ParleyDialectModels", "ParleyClient", "ParleySocketIO", "ParleyJSON", "ParleyModel"]),
    // Views for Apple's systems; what decides how they behave is compiled everywhere.
    library("ParleyUI", ["OTCore", "ParleyClient", "ParleyOffline"]),
    // Files that become notes; also in the page, as WebAssembly.
    library("ParleyImporting", ["ParleyModel"]),
    // Mail messages, as values.
    library("ParleyMail"),
    // Ports, and the core behind them.
    library(
      "ParleyGatewayPorts", ["OTCore", "ParleyJSON", "ParleyModel", "ParleyWebSocketFrames"]),
    library(
      "Gateway",
      [
        "OTCore", "ParleyJSON", "SocketMessages", "ParleySocketIO", "ParleyBayeux", "ParleyPusher",
        "ParleyShareDB", "ParleyRustpad", "ParleyRichForms", "ParleyWebSocketFrames",
        "ParleyGatewayPorts",
      ]),
    // Under the adapters: SHA-256 and random bytes, which several need.
    library("ParleyHashing", in: "Adapters", ["CParleyOpenSSL"]),
    // Under the stores: records' checksums, texts folded from logs, exports.
    library(
      "ParleyStoreRecords", in: "Adapters",
      ["OTCore", "ParleyJSON", "ParleyRichForms", "ParleyGatewayPorts", "ParleyHashing"]),
    // Under the brokers: queues between a loop and a broker's thread, hints as bytes.
    library(
      "ParleyBrokerQueues", in: "Adapters", ["ParleyGatewayPorts", "ParleyHashing", "ParleyLocks"]),
    // Adapters: each wraps one outside system, and none imports another.
    system(
      "CParleyLibwebsockets", "libwebsockets",
      ["libwebsockets-dev", "libwebsockets-evlib-ev", "libev-dev"]),
    system("CParleySQLite", "sqlite3", ["libsqlite3-dev"]),
    system("CParleyPostgres", "libpq", ["libpq-dev"]),
    system("CParleyNATS", "libnats", ["libnats-dev"]),
    system("CParleyOpenSSL", "libcrypto", ["libssl-dev"]),
    system("CParleyCurl", "libcurl", ["libcurl4-openssl-dev"]),
    system("CParleyZlib", "zlib", ["zlib1g-dev"]),
    // Questions to the kernel that Swift's Glibc leaves out.
    .target(name: "CParleyLinux", path: "Sources/SystemLibraries/CParleyLinux"),
    .target(
      name: "CParleyLibwebsocketsShim", dependencies: ["CParleyLibwebsockets"],
      path: "Sources/SystemLibraries/CParleyLibwebsocketsShim",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    library(
      "ParleyTransportLibwebsockets", in: "Adapters",
      [
        "ParleyGatewayPorts", "ParleyHTTP1", "ParleyWebSocketFrames", "ParleyLocks",
        "CParleyLibwebsocketsShim",
      ]),
    library(
      "ParleyStoreSQLite", in: "Adapters",
      [
        "OTCore", "ParleyJSON", "ParleyGatewayPorts", "CParleySQLite", "ParleyHashing",
        "ParleyStoreRecords",
      ]),
    library(
      "ParleyPostgreSQLAdapter", in: "Adapters",
      [
        "OTCore", "ParleyJSON", "ParleyGatewayPorts", "CParleyPostgres", "ParleyHashing",
        "ParleyStoreRecords", "ParleyBrokerQueues",
      ]),
    library(
      "ParleyBrokerNATS", in: "Adapters",
      ["ParleyGatewayPorts", "CParleyNATS", "ParleyBrokerQueues"]),
    library(
      "ParleyCryptoOpenSSL", in: "Adapters",
      ["ParleyJSON", "ParleyGatewayPorts", "ParleyHashing", "CParleyOpenSSL"]),
    library("ParleyHTTPClientCurl", in: "Adapters", ["CParleyCurl"]),
    library("ParleyCompressionZlib", in: "Adapters", ["CParleyZlib"]),
    // The description of the HTTP API, as a part of the program.
    .target(name: "CParleyAPIDescription", exclude: ["openapi.json"]),
    // Programs.
    library(
      "ParleyServer",
      [
        "Gateway", "ParleyGatewayPorts", "SocketMessages", "ParleyJSON", "OTCore",
        "ParleyTransportLibwebsockets",
        "ParleyStoreSQLite", "ParleyPostgreSQLAdapter", "ParleyStoreRecords", "ParleyImporting",
        "ParleyBrokerNATS", "ParleyMail",
        "ParleyCryptoOpenSSL", "ParleyHashing", "ParleyHTTPClientCurl", "ParleyCompressionZlib",
        "CParleyLinux",
        "CParleyAPIDescription", "ParleyWebSocketFrames", "ParleyLocks", "ParleyPusher",
      ]),
    .executableTarget(
      name: "parley",
      dependencies: [
        "ParleyServer", "ParleyCryptoOpenSSL", "ParleyGatewayPorts", "ParleyStoreSQLite",
        "ParleyStoreRecords",
        "ParleyClient", "ParleyLocks", "ParleyJSON", "ParleyMail",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ot-bench", dependencies: ["OTCore", "ParleyOTWorkloads", "ParleyHashing"],
      swiftSettings: settings),
    .executableTarget(
      name: "parley-simulate", dependencies: ["ParleySimulationKit"],
      path: "Sources/Kits/parley-simulate",
      swiftSettings: settings),
    .executableTarget(
      name: "parley-store-bench",
      dependencies: [
        "ParleyServer", "ParleyStoreSQLite", "Gateway", "ParleyGatewayPorts", "OTCore",
        "ParleyOTWorkloads", "ParleyLocks",
      ],
      path: "Benchmarks/Store", swiftSettings: settings),
    .systemLibrary(name: "CParleyEpoll", path: "Benchmarks/CParleyEpoll"),
    .executableTarget(
      name: "parley-load",
      dependencies: [
        "OTCore", "ParleyJSON", "SocketMessages", "ParleyWebSocketFrames", "CParleyEpoll",
        "CParleyClientTLS",
        "CParleyLibwebsocketsShim",
      ],
      path: "Benchmarks/Load",
      swiftSettings: settings),
    .executableTarget(
      name: "parley-outbox-bench", dependencies: ["ParleyOffline", "ParleyClient"],
      path: "Benchmarks/Outbox",
      swiftSettings: settings),
    // Examples, which the tests run.
    .executableTarget(
      name: "parley-example-todo-bot", dependencies: ["ParleyClient"], path: "Examples/TodoBot",
      swiftSettings: unoptimised),
    .executableTarget(
      name: "parley-example-live-list", dependencies: ["ParleyClient"], path: "Examples/LiveList",
      swiftSettings: unoptimised),
    .executableTarget(
      name: "parley-example-board", dependencies: ["ParleyClient", "ParleyJSON"],
      path: "Examples/board", exclude: ["BoardApp.swift", "bot.py", "index.html"],
      swiftSettings: unoptimised),
    .executableTarget(
      name: "parley-example-offline-list", dependencies: ["ParleyOffline", "ParleyClient"],
      path: "Examples/OfflineList", swiftSettings: unoptimised),
    // A process that the tests kill.
    .executableTarget(
      name: "parley-offline-victim", dependencies: ["ParleyOffline", "ParleyClient", "ParleyJSON"],
      path: "Tests/OfflineVictim", swiftSettings: unoptimised),
    // Beside.
    library("ParleyOTWorkloads", in: "Kits", ["OTCore"]),
    library("ParleyGrowthKit", in: "Kits"),
    library(
      "ParleySimulationKit", in: "Kits",
      [
        "OTCore", "ParleyOTWorkloads", "ParleyJSON", "SocketMessages", "ParleyWebSocketFrames",
        "ParleyClientCore",
        "ParleyGatewayPorts", "Gateway",
      ]),
    .target(
      name: "ParleyPortConformance",
      dependencies: ["OTCore", "ParleyOTWorkloads", "ParleyJSON", "ParleyGatewayPorts"],
      path: "Sources/Kits/ParleyPortConformance", swiftSettings: unoptimised),
    // Tests.
    tests("ParleyArchitectureTests", []),
    tests(
      "OTCoreTests", ["OTCore", "ParleyOTWorkloads", "ParleyGrowthKit"],
      resources: [.copy("Vectors")]),
    .target(name: "CParleyAllocationCount", path: "Tests/CParleyAllocationCount"),
    tests(
      "SocketMessagesTests",
      [
        "SocketMessages", "ParleyJSON", "OTCore", "ParleyOTWorkloads", "ParleyGrowthKit",
        "CParleyAllocationCount",
      ]),
    tests("ParleyDialectModelsTests", ["ParleyDialectModels", "ParleyJSON", "ParleyGrowthKit"]),
    tests(
      "ParleyClientCoreTests",
      ["ParleyClientCore", "SocketMessages", "ParleyJSON", "OTCore", "ParleyOTWorkloads"]),
    tests("ParleyWebSocketClientTests", ["ParleyWebSocketClient", "ParleyOTWorkloads"]),
    tests(
      "ParleyClientTests",
      [
        "ParleyClient", "ParleyClientCore", "ParleyWebSocketClient", "SocketMessages", "ParleyJSON",
        "OTCore",
        "ParleyOTWorkloads", "ParleyLocks", "ParleyGrowthKit",
      ]),
    tests(
      "ParleyChatTests",
      ["ParleyChat", "ParleyClient", "ParleyJSON", "ParleyOTWorkloads", "SocketMessages"]),
    tests(
      "ParleyOfflineTests",
      [
        "ParleyOffline", "ParleyClient", "ParleyJSON", "ParleyOTWorkloads", "CParleySQLite",
        "CParleySQLiteFaults",
        "ParleyGrowthKit",
      ]),
    tests(
      "ParleyGroupsTests",
      [
        "ParleyGroups", "ParleyTwakeCubits", "ParleyDialectModels", "ParleyOffline", "ParleyClient",
        "ParleyJSON",
      ]),
    tests(
      "ParleyTwakeCubitsTests",
      [
        "ParleyTwakeCubits", "ParleyDialectModels", "ParleyClient", "ParleySocketIO", "ParleyJSON",
        "ParleyLocks",
      ]),
    tests(
      "ParleyUITests",
      [
        "ParleyUI", "ParleyClient", "ParleyOffline", "ParleyClientCore", "SocketMessages", "OTCore",
        "ParleyOTWorkloads", "ParleyLocks",
      ]),
    tests("ParleyMailTests", ["ParleyMail", "ParleyOTWorkloads"]),
    tests("ParleySocketIOTests", ["ParleySocketIO", "ParleyJSON", "ParleyGrowthKit"]),
    tests("ParleyBayeuxTests", ["ParleyBayeux", "ParleyJSON", "ParleyGrowthKit"]),
    tests("ParleyOTEventsTests", ["ParleyOTEvents", "OTCore", "ParleyJSON"]),
    tests("ParleyRustpadTests", ["ParleyRustpad", "OTCore", "ParleyJSON"]),
    tests("ParleyShareDBTests", ["ParleyShareDB", "OTCore", "ParleyJSON"]),
    tests("ParleyPusherTests", ["ParleyPusher", "ParleyCryptoOpenSSL", "ParleyJSON"]),
    tests(
      "ParleyWebSocketFramesTests",
      ["ParleyWebSocketFrames", "ParleyOTWorkloads", "ParleyGrowthKit"]),
    tests("ParleyImportingTests", ["ParleyImporting", "ParleyModel"]),
    tests(
      "ParleyRichFormsTests",
      ["ParleyRichForms", "OTCore", "ParleyOTWorkloads", "ParleyGrowthKit", "ParleyJSON"]),
    tests("ParleyHTTP1Tests", ["ParleyHTTP1", "ParleyOTWorkloads", "ParleyGrowthKit"]),
    tests(
      "GatewayTests",
      [
        "Gateway", "ParleyGatewayPorts", "SocketMessages", "ParleyJSON", "ParleyWebSocketFrames",
        "OTCore",
        "ParleySimulationKit",
        "ParleyOTWorkloads", "CParleyAllocationCount", "ParleyGrowthKit", "ParleyDialectModels",
        "ParleyLocks", "ParleyPusher", "ParleyRichForms",
        "ParleyCryptoOpenSSL",
      ]),
    .target(
      name: "CParleySQLiteFaults", dependencies: ["CParleySQLite"],
      path: "Tests/CParleySQLiteFaults"),
    tests(
      "ParleyStoreSQLiteTests",
      [
        "ParleyStoreSQLite", "ParleyStoreRecords", "ParleyPortConformance", "ParleySimulationKit",
        "ParleyGatewayPorts", "ParleyJSON",
        "OTCore",
        "ParleyOTWorkloads", "CParleySQLite", "CParleySQLiteFaults", "ParleyGrowthKit",
      ]),
    tests(
      "ParleyPostgreSQLAdapterTests",
      [
        "ParleyPostgreSQLAdapter", "ParleyBrokerQueues", "ParleyStoreRecords",
        "ParleyPortConformance", "ParleyGatewayPorts",
        "ParleyJSON", "OTCore", "ParleyOTWorkloads", "CParleyPostgres",
      ]),
    tests(
      "ParleyBrokerNATSTests", ["ParleyBrokerNATS", "ParleyBrokerQueues", "ParleyGatewayPorts"]),
    tests(
      "ParleyTransportLibwebsocketsTests",
      [
        "ParleyTransportLibwebsockets", "ParleyGatewayPorts", "ParleyWebSocketFrames",
        "ParleyOTWorkloads", "ParleyLocks",
      ]),
    tests(
      "ParleyCryptoOpenSSLTests", ["ParleyCryptoOpenSSL", "ParleyGatewayPorts", "ParleyHashing"]),
    tests(
      "ParleyServerTests",
      [
        "ParleyServer", "Gateway", "ParleyGatewayPorts", "SocketMessages", "OTCore",
        "ParleyOTWorkloads",
        "ParleyStoreSQLite", "ParleyStoreRecords", "ParleyCryptoOpenSSL", "ParleyCompressionZlib",
        "ParleyHashing", "ParleyLocks",
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
