import CParleyLinux
import Gateway
package import ParleyGatewayPorts
import ParleyTransportLibwebsockets

/// The number of loops, and the assignment of requests to them.
extension Configuration {
  /// Minimum cores for which `auto` selects several loops; fewer cores are left to the store.
  private static let coresMin = 4
  /// Maximum loops that `auto` selects: each uses connections to the database, whose default
  /// maximum is a hundred for all gateways.
  private static let automaticMax = 16
  /// Connections to the database in addition to those of loops: two for search, one for hints.
  private static let sharedConnections = 3

  /// The number of loops.
  package var loopCount: Int {
    // A store in a file has a single gateway.
    guard isStoreInDatabase else { return 1 }
    return loops ?? Self.loops(onCores: Self.cores)
  }

  /// Returns the number of loops that `auto` selects.
  package static func loops(onCores cores: Int) -> Int {
    cores < coresMin ? 1 : min(cores, automaticMax)
  }

  /// The number of this gateway's connections to the database: two per loop, and the shared ones.
  package var databaseConnections: Int { 2 * loopCount + Self.sharedConnections }

  /// The number of cores that this process may use.
  package static var cores: Int {
    let allowed = max(1, Int(CLinux_cores()))
    return max(1, min(allowed, quota ?? allowed))
  }

  /// The number of cores allowed by the container's CPU quota, rounded up; `nil` for no limit.
  private static var quota: Int? {
    guard let text = try? Files.text(at: "/sys/fs/cgroup/cpu.max") else { return nil }
    let words = text.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    guard words.count == 2, words[1] > 0 else { return nil }
    return (words[0] + words[1] - 1) / words[1]
  }

  /// Checks that the store allows the configured number of loops.
  func validateLoops() throws(ConfigurationError) {
    guard let loops, loops > 1, !isStoreInDatabase else { return }
    throw .conflict(
      "loops (\(loops)) require a store that gateways can share: set store-url to a PostgreSQL "
        + "database, or loops to 1 for the file in data-dir")
  }

  /// Returns the settings of one of several loops, with its share of limits over all loops.
  func share(among count: Int) -> Configuration {
    guard count > 1 else { return self }
    var share = self
    share.storeQueueMax = max(storeQueueMax / count, 1)
    share.storeQueueBytesMax = max(storeQueueBytesMax / count, messageBytesMax)
    return share
  }

  /// Returns the loop that must handle a request; `nil` for any loop.
  package static func home(of head: RequestHead, among count: Int) -> Int? {
    switch head.path {
    // One loop handles all logins, since it counts the attempts.
    case "/api/user/login", "/api/user/refresh", "/api/user/join", "/api/user/password",
      "/api/user/name", "/api/user/forgot", "/api/user/reset":
      return 0
    // The same loop counts sign-ins with the identity provider.
    case ProviderSettings.beginPath, ProviderSettings.returnPath: return 0
    // The loop with the sessions, since a subscription by pattern matches publications of its loop.
    case "/api/publish": return count - 1
    case let path where path.hasPrefix("/api/rooms/") && path.hasSuffix("/publish"):
      return count - 1
    // The channels, about which an app's back end asks, are where the app's connections are.
    case let path where path.hasPrefix("/apps/"): return count - 1
    default: break
    }
    switch ClientKind(head, shareDBPath: "") {
    // Sessions are in the memory of one gateway, where they exchange presence and typing. All are
    // on the last loop, since the first accepts connections.
    case .socketIO?, .bayeux?, .pusher?: return count - 1
    case .native?, .whaler?, .shareDB?, .rustpad?, nil: break
    }
    guard let connection = connection(in: head.path) else { return nil }
    let loop = ConnectionBalancer.loop(of: connection)
    return loop < count ? loop : nil
  }

  /// Returns the connection that an operator's request names.
  private static func connection(in path: String) -> ConnectionID? {
    let words = path.utf8.split(separator: UInt8(ascii: "/"))
    guard words.count == 4, words[0].elementsEqual("api".utf8),
      words[1].elementsEqual("connections".utf8), words[3].elementsEqual("disconnect".utf8)
    else { return nil }
    return UInt64(Substring(words[2])).map { ConnectionID($0) }
  }
}
