import ParleyBayeux
import ParleyGatewayPorts

/// A Bayeux session and its transport.
///
/// A reference, owned by the gateway and confined to its loop.
final class BayeuxLink {
  /// A subscription to a channel or pattern, with the identity whose right it uses.
  struct Subscription {
    let channel: BayeuxChannel
    var identity: Identity
  }

  /// A request whose replies are being collected; a connect may hold it.
  final class Exchange {
    let request: RequestID
    let head: RequestHead
    /// The script function that receives the replies; `nil` for a plain JSON response.
    let callback: ScriptCallback?
    var replies: [[UInt8]] = []
    /// The number of messages without a reply yet.
    var pending = 0
    /// Whether all its messages have been handled.
    var isRead = false
    /// Whether a connect holds the request.
    var isHeld = false

    init(_ request: RequestID, _ head: RequestHead, _ callback: ScriptCallback?) {
      self.request = request
      self.head = head
      self.callback = callback
    }
  }

  /// The transport of replies.
  enum Way {
    case webSocket(ConnectionID)
    case request(Exchange)
  }

  var session: BayeuxSession
  /// The session's connection object, under an id that no transport uses.
  let connection: Connection
  /// The client's address at the handshake; messages from other addresses are rejected.
  let address: String
  /// Whether a token was accepted in one of its messages.
  var isAdmitted = false
  /// The WebSocket that carries the session.
  var carrier: ConnectionID?
  /// The waiting request.
  var exchange: Exchange?
  /// The subscriptions by channel name, which is ASCII.
  var subscriptions: [String: Subscription] = [:]
  /// The time of the next ping on the user's own channel, in milliseconds of uptime.
  var pingAt: Int64
  /// The deadline for a token, in milliseconds of uptime; `nil` after a token was accepted.
  var authenticateBy: Int64?
  /// Whether the client has sent a connect.
  var hasConnected = false

  init(session: BayeuxSession, connection: Connection, address: String, pingAt: Int64) {
    self.session = session
    self.connection = connection
    self.address = address
    self.pingAt = pingAt
  }

  /// Limits the expiry of subscriptions whose rights come from their token alone.
  func endSubscriptions(by end: Timestamp) {
    for (text, subscription) in subscriptions where !subscription.identity.hasSourceRights {
      let own = subscription.identity.expiresAt ?? end
      subscriptions[text]?.identity.expiresAt = min(own, end)
    }
  }

  /// Whether a valid subscription matches a channel.
  func hears(_ channel: BayeuxChannel, now: Timestamp) -> Bool {
    if let exact = subscriptions[channel.text], exact.isValid(for: channel, now) { return true }
    return subscriptions.values.contains {
      $0.channel.isPattern && $0.channel.matches(channel) && $0.isValid(for: channel, now)
    }
  }
}

extension BayeuxLink.Subscription {
  /// Whether the right to the channel is still valid. For a pattern, each channel is checked.
  func isValid(for channel: BayeuxChannel, _ now: Timestamp) -> Bool {
    !identity.isExpired(at: now)
      && (!self.channel.isPattern || BayeuxDialect.mayHear(channel, identity))
  }
}

/// An event that waits for the store.
struct BayeuxPublishing {
  let message: BayeuxMessage
  /// The reply after the event is stored.
  let reply: [UInt8]
  let way: BayeuxLink.Way
}
