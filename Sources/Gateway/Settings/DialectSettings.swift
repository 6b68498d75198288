import ParleyBayeux
import ParleySocketIO

/// An operator's settings for the compatibility dialects.
public struct DialectSettings: Sendable {
  var socketIO = SocketSession.Settings()
  var bayeux = BayeuxSession.Settings()
  /// Apps of Pusher's protocol.
  public var pusher = PusherSettings()
  /// Maximum number of sessions of all such dialects; those without a token can have a quarter of it.
  public var sessionsMax = 10_000
  /// Milliseconds within which a client must show a token.
  public var authenticateMilliseconds: Int64 = 15_000
  /// Milliseconds after which a session of Bayeux ends that has not shown a token or sent a connect.
  var unconnectedMilliseconds: Int64 { min(10_000, authenticateMilliseconds) }
  /// Milliseconds after a user's last connection has ended until others are notified; a user who reconnects
  /// in time was never gone.
  public var graceMilliseconds: Int64 = 2_000
  /// Milliseconds between two signs of life on the channel of a Bayeux user.
  public var pingMilliseconds: Int64 = 30_000
  /// Whether the room token that old Twake servers took from every client opens every room, and rooms that
  /// begin with `previous::` are open.
  public var allowsLegacyRoomTokens = false

  /// Milliseconds for which a Socket.IO client that asked for it may resume its session; 0 for never.
  public var recoveryMilliseconds: Int64 = 120_000
  /// Bytes kept of the events sent to such clients, for all of them together.
  public var recoveryBytesMax = 8 << 20
  /// Whether every client of Socket.IO 3 or later may resume so, unasked.
  public var recoversEverybody = false

  /// The defaults.
  public init() {}

  /// Milliseconds for which events are kept for clients to resume: until a silent client is noticed, and
  /// then until it may no longer resume.
  var recoveryLogMilliseconds: Int64 {
    recoveryMilliseconds + socketIO.pingInterval + socketIO.pingTimeout
  }

  /// Milliseconds between two pings of Socket.IO.
  public var pingInterval: Int64 {
    get { socketIO.pingInterval }
    set { socketIO.pingInterval = newValue }
  }

  /// Milliseconds for which a connect of Bayeux is held. A session without one is forgotten after
  /// twice as long.
  public var connectHoldMilliseconds: Int64 {
    get { bayeux.holdMilliseconds }
    set {
      bayeux.holdMilliseconds = newValue
      bayeux.idleMilliseconds = 2 * newValue
    }
  }
}
