/// The counts and gauges of a gateway at one moment, or of several together.
public struct GatewaySummary: Sendable {
  /// The counts since the start.
  public var metrics = GatewayMetrics()
  /// See ``Gateway/openConnections``.
  public var openConnections = OpenConnections()
  /// See ``Gateway/unidentifiedSessions``.
  public var unidentifiedSessions = 0
  /// Documents in memory, once for each gateway that has them.
  public var openDocuments = 0
  /// See ``Gateway/documentSubscriptions``.
  public var documentSubscriptions = 0
  /// Rooms that have subscribers, once for each gateway.
  public var openRooms = 0
  /// See ``Gateway/laggingConnections``.
  public var laggingConnections = 0
  /// See ``Gateway/unreadiness``: the first reason of any.
  public var unreadiness: String?
  /// Requests and bytes that wait for the store, and how long the oldest has waited.
  public var storeBacklog: (requests: Int, bytes: Int, waitMilliseconds: Int64) = (0, 0, 0)

  /// Sums up nothing.
  public init() {}

  /// Sums up a gateway.
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

  /// Takes in those of others.
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
