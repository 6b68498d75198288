import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Sessions of Bayeux, carried by WebSockets and requests.
///
/// Nothing outside this folder touches its state.
final class BayeuxDialect: SessionDialect, SessionMessaging {
  typealias Way = BayeuxLink.Way

  /// A WebSocket, which may carry several sessions.
  struct Carrier {
    let address: String
    /// The address whose limits it counts towards; `nil` if there are none.
    let limitedAddress: IPAddress?
    /// Of what was received over it.
    var meter: Meter
    /// Whether a token was accepted in a message of it.
    var isAdmitted = false
    var links: [BayeuxLink] = []
  }

  /// The sessions by the clients' secret ids.
  var bySession: ExactDictionary<BayeuxLink> = [:]
  /// The sessions by their connection ids.
  var byPlace: [ConnectionID: BayeuxLink] = [:]
  /// The WebSockets.
  var carriers: [ConnectionID: Carrier] = [:]
  /// The sessions by the request that waits.
  var byRequest: [RequestID: BayeuxLink] = [:]
  /// The sessions with patterns among their subscriptions.
  var withPatterns: [ConnectionID: BayeuxLink] = [:]
  /// The answers to be given after the publication that is being delivered.
  var afterDelivery: [(bytes: [UInt8], way: BayeuxLink.Way)] = []
  /// The sessions in which a token was accepted, by their clients' addresses.
  var admitted: [String: Int] = [:]
  /// The events on their way to the disk, by their numbers. Bounded by what may wait for the store.
  var publishings: [UInt64: BayeuxPublishing] = [:]
  /// Numbers events on their way to the disk.
  var nextPublishing: UInt64 = 1
  /// Numbers events.
  var nextEvent: UInt64 = 1

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms, _ table: SessionTable) {
    super.init(
      board, Traits(listing: .bayeux, isSession: true, hasIdentityPerSubscription: true), access,
      rooms, table)
  }

  /// The number of sessions.
  var count: Int { bySession.count }

  /// Whether there are no sessions.
  var isEmpty: Bool { byPlace.isEmpty }

  // MARK: The session's connection

  func carrier(of connection: Connection) -> ConnectionID? {
    byPlace[connection.id]?.carrier
  }

  func endSession(of connection: Connection, comesBack: Bool) -> Bool {
    guard let link = byPlace[connection.id] else { return false }
    perform(link.session.end(comesBack: comesBack), for: link)
    return true
  }

  func endAtOnce(_ connection: Connection) {
    if let link = byPlace[connection.id] { perform(link.session.end(), for: link) }
  }

  func hasExpiredIdentity(_ connection: Connection, at now: Timestamp) -> Bool {
    byPlace[connection.id]?.subscriptions.values.contains { $0.identity.isExpired(at: now) }
      ?? false
  }

  func applyRights(to connection: Connection) -> Bool {
    guard let link = byPlace[connection.id] else { return false }
    endSubscriptions(of: link)
    return true
  }

  func updateIdentities(of connection: Connection) {
    guard let link = byPlace[connection.id] else { return }
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
    byPlace[connection.id]?.endSubscriptions(by: end)
  }

  /// Does what a session wants done.
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
    byPlace[link.connection.id] = nil
    withPatterns[link.connection.id] = nil
    forget(link.connection)
  }

  /// Releases the sessions, whose places refer to their dialect.
  func letGo() {
    (bySession, byPlace, carriers, byRequest, withPatterns) = ([:], [:], [:], [:], [:])
  }

  /// Time has passed.
  func ticked() {
    let now = dependencies.clock.uptime
    for link in Array(byPlace.values) {
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
