import Bayeux
import SocketIO

/// What an operator can set of the dialects of others.
public struct DialectSettings: Sendable {
  var socketIO: SocketSession.Settings
  var bayeux: BayeuxSession.Settings
  /// Sessions of clients that poll, at once and of all such dialects.
  public var sessionsMax: Int
  /// Milliseconds within which a Socket.IO client must authenticate.
  public var authenticateMilliseconds: Int64
  /// Milliseconds after a user's last connection has ended until others are told; who comes back
  /// in time was never gone.
  public var graceMilliseconds: Int64
  /// Milliseconds between two signs of life on the channel of a Bayeux user.
  public var pingMilliseconds: Int64
  /// Whether the room token that old Twake servers took from everybody opens every room, and rooms
  /// that begin with `previous::` are open.
  public var allowsLegacyRoomTokens: Bool

  /// The defaults.
  public init() {
    socketIO = SocketSession.Settings()
    bayeux = BayeuxSession.Settings()
    sessionsMax = 10_000
    authenticateMilliseconds = 15_000
    graceMilliseconds = 2_000
    pingMilliseconds = 30_000
    allowsLegacyRoomTokens = false
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
