import ParleyBayeux
import ParleyGatewayPorts

/// A session of Bayeux, and what carries it.
///
/// A reference, owned by the gateway and confined to its loop.
final class BayeuxLink {
  /// A channel or a pattern, and by whose right it is heard.
  struct Subscription {
    let channel: BayeuxChannel
    var identity: Identity
  }

  /// A request whose answers are being gathered; it may wait for a connect.
  final class Exchange {
    let request: RequestID
    let head: RequestHead
    /// The function that gets the answers, where they are a script.
    let callback: ScriptCallback?
    var replies: [[UInt8]] = []
    /// Messages whose answers are not there yet.
    var pending = 0
    /// Whether all its messages have been looked at.
    var isRead = false
    /// Whether a connect is held, and the request with it.
    var isHeld = false

    init(_ request: RequestID, _ head: RequestHead, _ callback: ScriptCallback?) {
      self.request = request
      self.head = head
      self.callback = callback
    }
  }

  /// The way that answers to messages take.
  enum Way {
    case webSocket(ConnectionID)
    case request(Exchange)
  }

  var session: BayeuxSession
  /// The session's place among connections, under an id that no transport knows.
  let connection: Connection
  /// The client's address at the start; the session is bound to it.
  let address: String
  /// Whether a token was accepted in one of its messages.
  var isAdmitted = false
  /// The WebSocket that carries the session.
  var carrier: ConnectionID?
  /// The request that waits.
  var exchange: Exchange?
  /// The subscriptions by their channels' texts, which are ASCII.
  var subscriptions: [String: Subscription] = [:]
  /// The time of the next ping on the user's own channel, in milliseconds of uptime.
  var pingAt: Int64
  /// The time at which the session ends unless its client shows a token, in milliseconds of uptime; `nil` once it has.
  var authenticateBy: Int64?
  /// Whether a connect has come.
  var hasConnected = false

  init(session: BayeuxSession, connection: Connection, address: String, pingAt: Int64) {
    self.session = session
    self.connection = connection
    self.address = address
    self.pingAt = pingAt
  }

  /// Limits subscriptions whose rights come from a token to a given end.
  func endSubscriptions(by end: Timestamp) {
    for (text, subscription) in subscriptions where !subscription.identity.isListed {
      let own = subscription.identity.expiresAt ?? end
      subscriptions[text]?.identity.expiresAt = min(own, end)
    }
  }

  /// Whether one of its subscriptions matches a channel.
  func hears(_ channel: BayeuxChannel, now: Timestamp) -> Bool {
    if let exact = subscriptions[channel.text], exact.isValid(for: channel, now) { return true }
    return subscriptions.values.contains {
      $0.channel.isPattern && $0.channel.matches(channel) && $0.isValid(for: channel, now)
    }
  }
}

extension BayeuxLink.Subscription {
  /// Whether the right to hear the channel is still valid: for a pattern it is checked per channel.
  func isValid(for channel: BayeuxChannel, _ now: Timestamp) -> Bool {
    !identity.isExpired(at: now)
      && (!self.channel.isPattern || BayeuxDialect.mayHear(channel, identity))
  }
}

/// An event that waits for the store.
struct BayeuxPublishing {
  let message: BayeuxMessage
  /// The answer when it has been taken.
  let reply: [UInt8]
  let way: BayeuxLink.Way
}
