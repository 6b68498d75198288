import CLinux
import Gateway
package import GatewayPorts
import TransportLibwebsockets

/// The loops that serve together, each with a gateway of its own.
extension Configuration {
  /// Cores from which `auto` takes as many loops; on fewer the store's threads want the rest.
  private static let coresMin = 4
  /// The most loops that `auto` takes: each has connections to the database, which has a hundred for all
  /// gateways unless it is set otherwise.
  private static let automaticMax = 16
  /// Connections to the database beside those of loops: two for search, one for hints.
  private static let sharedConnections = 3

  /// The number of loops.
  package var loopCount: Int {
    // A file has one gateway.
    guard isStoreInDatabase else { return 1 }
    return loops ?? Self.loops(onCores: Self.cores)
  }

  /// The loops that `auto` takes.
  package static func loops(onCores cores: Int) -> Int {
    cores < coresMin ? 1 : min(cores, automaticMax)
  }

  /// The connections to the database that this gateway has: two for each loop, and those of all.
  package var databaseConnections: Int { 2 * loopCount + Self.sharedConnections }

  /// Cores that this process may use.
  package static var cores: Int {
    let allowed = max(1, Int(CLinux_cores()))
    return max(1, min(allowed, quota ?? allowed))
  }

  /// The cores that a container may use the time of, rounded up; `nil` for no limit.
  private static var quota: Int? {
    guard let text = try? Files.text(at: "/sys/fs/cgroup/cpu.max") else { return nil }
    let words = text.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    guard words.count == 2, words[1] > 0 else { return nil }
    return (words[0] + words[1] - 1) / words[1]
  }

  /// Checks that there may be as many loops as are set.
  func validateLoops() throws(ConfigurationError) {
    guard let loops, loops > 1, !isStoreInDatabase else { return }
    throw .conflict(
      "loops (\(loops)) require a store that gateways can share: set store-url to a PostgreSQL "
        + "database, or loops to 1 for the file in data-dir")
  }

  /// The settings of one loop among several: bounds on memory that hold over all are shared out.
  func share(among count: Int) -> Configuration {
    guard count > 1 else { return self }
    var share = self
    share.storeQueueMax = max(storeQueueMax / count, 1)
    share.storeQueueBytesMax = max(storeQueueBytesMax / count, messageBytesMax)
    return share
  }

  /// Says which of several loops a request belongs to; `nil` for any.
  package static func home(of head: RequestHead, among count: Int) -> Int? {
    switch head.path {
    // Passwords are tried at one place, which counts the attempts.
    case "/api/user/login", "/api/user/refresh", "/api/user/join", "/api/user/password",
      "/api/user/name":
      return 0
    // Sign-ins at an identity provider are counted there, too.
    case ProviderSettings.beginPath, ProviderSettings.returnPath: return 0
    // Where the sessions are, whose patterns match what is published there alone.
    case "/api/publish": return count - 1
    case let path where path.hasPrefix("/api/rooms/") && path.hasSuffix("/publish"):
      return count - 1
    // The channels, about which an app's back end asks, are where the app's connections are.
    case let path where path.hasPrefix("/apps/"): return count - 1
    default: break
    }
    switch Opening(head) {
    // Sessions are in one gateway's memory, and tell each other who is there and who types. The last
    // loop has them all, for the first accepts.
    case .socketIO?, .bayeux?, .pusher?: return count - 1
    case .native?, .whaler?, nil: break
    }
    guard let connection = connection(in: head.path) else { return nil }
    let loop = LoopCrew.loop(of: connection)
    return loop < count ? loop : nil
  }

  /// The connection that an operator's request is about.
  private static func connection(in path: String) -> ConnectionID? {
    let words = path.utf8.split(separator: UInt8(ascii: "/"))
    guard words.count == 4, words[0].elementsEqual("api".utf8),
      words[1].elementsEqual("connections".utf8), words[3].elementsEqual("disconnect".utf8)
    else { return nil }
    return UInt64(Substring(words[2])).map { ConnectionID($0) }
  }
}
