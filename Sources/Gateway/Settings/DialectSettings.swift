import ParleyBayeux
import ParleySocketIO

/// An operator's settings for the compatibility dialects.
public struct DialectSettings: Sendable {
  var socketIO = SocketSession.Settings()
  var bayeux = BayeuxSession.Settings()
  /// Apps of Pusher's protocol.
  public var pusher = PusherSettings()
  /// The path of ShareDB clients; empty for none.
  public var shareDBPath = "/sharedb"
  /// Maximum sessions of all dialects; at most a quarter of them may be without a token.
  public var sessionsMax = 10_000
  /// Milliseconds within which a client must send a token.
  public var authenticateMilliseconds: Int64 = 15_000
  /// Milliseconds after which a Bayeux session without a token or a connect ends.
  var unconnectedMilliseconds: Int64 { min(10_000, authenticateMilliseconds) }
  /// Milliseconds from the end of a user's last connection until others are notified. Users who
  /// reconnect earlier are never reported as absent.
  public var graceMilliseconds: Int64 = 2_000
  /// Milliseconds between two heartbeats on a Bayeux user's channel.
  public var pingMilliseconds: Int64 = 30_000
  /// Whether the room token that old Twake servers accepted from every client opens every room, and
  /// whether rooms with the prefix `previous::` are open.
  public var allowsLegacyRoomTokens = false

  /// Milliseconds within which a Socket.IO client may resume its session on request; 0 for never.
  public var recoveryMilliseconds: Int64 = 120_000
  /// Maximum bytes of events that are retained for resuming, over all clients.
  public var recoveryBytesMax = 8 << 20
  /// Whether every client of Socket.IO 3 or later may resume without a request for it.
  public var recoversAllClients = false

  /// The defaults.
  public init() {}

  /// Milliseconds for which events are retained: until a silent client is noticed, and then until
  /// it may no longer resume.
  var recoveryLogMilliseconds: Int64 {
    recoveryMilliseconds + socketIO.pingInterval + socketIO.pingTimeout
  }

  /// Milliseconds between two Socket.IO pings.
  public var pingInterval: Int64 {
    get { socketIO.pingInterval }
    set { socketIO.pingInterval = newValue }
  }

  /// Milliseconds for which a Bayeux connect is held. A session without a connect expires after
  /// twice this time.
  public var connectHoldMilliseconds: Int64 {
    get { bayeux.holdMilliseconds }
    set {
      bayeux.holdMilliseconds = newValue
      bayeux.idleMilliseconds = 2 * newValue
    }
  }
}
