/// An entry for an app's log: a fixed message, and data beside it. It contains neither texts of
/// users nor tokens.
public struct ClientLogEntry: Sendable, Hashable {
  /// The importance of an entry.
  public enum Level: String, Sendable, Hashable {
    /// A decision of the client.
    case debug
    /// A failure that the client handles itself, such as a lost connection.
    case info
    /// A failure that needs an action of the app, the person or the operator.
    case error
  }

  /// The importance.
  public let level: Level
  /// The message, such as `token function failed`.
  public let message: String
  /// The data, such as `problem`.
  public let details: [String: String]
}

/// Receives a client's log entries, in order. It is called in the client's isolation, and must not
/// block.
public typealias ClientLog = @Sendable (ClientLogEntry) -> Void
