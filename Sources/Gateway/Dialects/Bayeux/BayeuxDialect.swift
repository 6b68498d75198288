import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Sessions of Bayeux, carried by WebSockets and requests.
///
/// Only code in this folder accesses its state.
final class BayeuxDialect: SessionDialect, SessionMessaging {
  typealias Way = BayeuxLink.Way

  /// A WebSocket, which may carry several sessions.
  struct Carrier {
    let address: String
    /// The address whose limits apply; `nil` if none do.
    let limitedAddress: IPAddress?
    /// Measures the traffic received over the WebSocket.
    var meter: Meter
    /// Whether a token was accepted in one of its messages.
    var isAdmitted = false
    var links: [BayeuxLink] = []
  }

  /// The sessions by the secret ids of their clients.
  var bySession: ExactDictionary<BayeuxLink> = [:]
  /// The sessions by the ids of their connection objects.
  var byConnection: [ConnectionID: BayeuxLink] = [:]
  /// The WebSockets by connection id.
  var carriers: [ConnectionID: Carrier] = [:]
  /// The sessions by their waiting request.
  var byRequest: [RequestID: BayeuxLink] = [:]
  /// The sessions with pattern subscriptions.
  var withPatterns: [ConnectionID: BayeuxLink] = [:]
  /// The replies to send after the current publication is delivered.
  var afterDelivery: [(bytes: [UInt8], way: BayeuxLink.Way)] = []
  /// The number of sessions in which a token was accepted, by client address.
  var admitted: [String: Int] = [:]
  /// The events that wait for the store, by number. The store's backlog limits their count.
  var publishings: [UInt64: BayeuxPublishing] = [:]
  /// The number of the next event that will wait for the store.
  var nextPublishing: UInt64 = 1
  /// The number of the next event, which becomes its id.
  var nextEvent: UInt64 = 1

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms, _ table: SessionTable) {
    super.init(
      board, Traits(listing: .bayeux, isSession: true, hasIdentityPerSubscription: true), access,
      rooms, table)
  }

  /// The number of sessions.
  var count: Int { bySession.count }

  /// Whether there are no sessions.
  var isEmpty: Bool { byConnection.isEmpty }

  // MARK: The session's connection

  func carrier(of connection: Connection) -> ConnectionID? {
    byConnection[connection.id]?.carrier
  }

  func endSession(of connection: Connection, mayReconnect: Bool) -> Bool {
    guard let link = byConnection[connection.id] else { return false }
    perform(link.session.end(mayReconnect: mayReconnect), for: link)
    return true
  }

  func endAtOnce(_ connection: Connection) {
    if let link = byConnection[connection.id] { perform(link.session.end(), for: link) }
  }

  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool {
    byConnection[connection.id]?.subscriptions.values.contains { $0.identity.isExpired(at: now) }
      ?? false
  }

  func applyRights(to connection: Connection) -> Bool {
    guard let link = byConnection[connection.id] else { return false }
    endSubscriptions(of: link)
    return true
  }

  func updateIdentities(of connection: Connection) {
    guard let link = byConnection[connection.id] else { return }
    for (text, subscription) in link.subscriptions {
      if let identity = access.updated(subscription.identity) {
        link.subscriptions[text]?.identity = identity
      } else {
        // The user no longer exists.
        link.subscriptions[text]?.identity.expiresAt = dependencies.clock.now
      }
    }
    endSubscriptions(of: link)
  }

  func endIdentities(of connection: Connection, by end: Timestamp) {
    byConnection[connection.id]?.endSubscriptions(by: end)
  }

  /// Performs the actions of a session.
  func perform(_ actions: [BayeuxSession.Action], for link: BayeuxLink) {
    for action in actions {
      switch action {
      case .send(let messages):
        guard let carrier = link.carrier else { break }
        send(messages, overWebSocket: carrier)
      case .answer(let messages):
        guard let exchange = link.exchange else { break }
        link.exchange = nil
        byRequest[exchange.request] = nil
        exchange.isHeld = false
        exchange.replies += messages
        finish(exchange)
      case .end: forget(link)
      }
    }
  }

  private func forget(_ link: BayeuxLink) {
    if let carrier = link.carrier { carriers[carrier]?.links.removeAll { $0 === link } }
    if let exchange = link.exchange {
      byRequest[exchange.request] = nil
      exchange.isHeld = false
      finish(exchange)
    }
    if link.isAdmitted, let count = admitted[link.address] {
      admitted[link.address] = count > 1 ? count - 1 : nil
    }
    bySession[link.session.id] = nil
    byConnection[link.connection.id] = nil
    withPatterns[link.connection.id] = nil
    forget(link.connection)
  }

  /// Breaks the reference cycles between sessions and their dialect.
  func breakReferenceCycles() {
    (bySession, byConnection, carriers, byRequest, withPatterns) = ([:], [:], [:], [:], [:])
  }

  /// Does the periodic work: pings, and the end of sessions without a token or client.
  func ticked() {
    let now = dependencies.clock.uptime
    for link in Array(byConnection.values) {
      perform(link.session.ticked(now: now), for: link)
      if let deadline = link.authenticateBy, deadline <= now {
        metrics.sessionsExpired += 1
        perform(link.session.end(), for: link)
        continue
      }
      guard link.pingAt <= now else { continue }
      link.pingAt = now + settings.dialects.pingMilliseconds
      let own = link.subscriptions.values.first { $0.channel.text.utf8.starts(with: "/user/".utf8) }
      guard let own, !own.channel.isPattern, link.session.isOnWebSocket else { continue }
      deliver(["type": JSONValue("ping")], own.channel, to: link)
    }
  }
}
