/// The counters and gauges of one gateway, or the sum over several, at one moment.
public struct GatewaySummary: Sendable {
  /// The counters since the start.
  public var metrics = GatewayMetrics()
  /// See ``Gateway/openConnections``.
  public var openConnections = OpenConnections()
  /// See ``Gateway/unidentifiedSessions``.
  public var unidentifiedSessions = 0
  /// The number of documents in memory; a document counts once for each gateway that has loaded it.
  public var openDocuments = 0
  /// See ``Gateway/documentSubscriptions``.
  public var documentSubscriptions = 0
  /// The number of rooms with subscribers; a room counts once for each gateway.
  public var openRooms = 0
  /// See ``Gateway/laggingConnections``.
  public var laggingConnections = 0
  /// The first reason of any gateway; see ``Gateway/unreadiness``.
  public var unreadiness: String?
  /// The requests and bytes that wait for the store, and the wait of the oldest request.
  public var storeBacklog: (requests: Int, bytes: Int, waitMilliseconds: Int64) = (0, 0, 0)

  /// Creates a summary of no gateway.
  public init() {}

  /// Creates a summary of one gateway.
  public init(_ gateway: Gateway) {
    metrics = gateway.metrics
    openConnections = gateway.openConnections
    unidentifiedSessions = gateway.unidentifiedSessions
    openDocuments = gateway.openDocuments
    documentSubscriptions = gateway.documentSubscriptions
    openRooms = gateway.openRooms
    laggingConnections = gateway.laggingConnections
    unreadiness = gateway.unreadiness
    storeBacklog = gateway.storeBacklog
  }

  /// Adds the counters and gauges of another summary.
  public mutating func add(_ other: GatewaySummary) {
    metrics.add(other.metrics)
    openConnections.add(other.openConnections)
    unidentifiedSessions += other.unidentifiedSessions
    openDocuments += other.openDocuments
    documentSubscriptions += other.documentSubscriptions
    openRooms += other.openRooms
    laggingConnections += other.laggingConnections
    unreadiness = unreadiness ?? other.unreadiness
    storeBacklog.requests += other.storeBacklog.requests
    storeBacklog.bytes += other.storeBacklog.bytes
    storeBacklog.waitMilliseconds = max(
      storeBacklog.waitMilliseconds, other.storeBacklog.waitMilliseconds)
  }
}
