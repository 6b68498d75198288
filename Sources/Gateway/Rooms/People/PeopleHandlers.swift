public import ParleyGatewayPorts
import SocketMessages

/// Optional features for people in rooms. Each has a handler.
///
/// A feature without a handler is missing from the capabilities in `welcome`, and its messages are
/// answered with `notOffered`. Embedders can replace each handler.
///
/// Handlers are called on the gateway's loop. They reply at once, or call back later on the same
/// loop. A handler that calls back later must have the gateway's owner take the actions afterwards.
public struct PeopleHandlers {
  /// Presence in rooms.
  public var presence: (any PresenceHandler)?
  /// Typing indicators.
  public var typing: (any TypingHandler)?
  /// Delivery and read receipts.
  public var receipts: (any ReceiptHandler)?
  /// Times at which people were last online.
  public var lastOnline: (any LastOnlineHandler)?
  /// Blocking of people by others.
  public var blocking: (any BlockingHandler)?
  /// Reports to moderators.
  public var moderation: (any ModerationHandler)?
  /// Membership of rooms, which lasts while a person is offline.
  public var membership: (any MembershipHandler)?
  /// Notifications for people who are offline.
  public var push: (any PushHandler)?
  /// The observer of rooms that become occupied or vacant.
  public var rooms: (any RoomObserver)?

  /// Creates handlers for no feature.
  public init() {}

  /// Returns handlers for all features but pushes, which need a push service.
  public static func standard(_ settings: GatewaySettings) -> PeopleHandlers {
    var handlers = PeopleHandlers()
    handlers.presence = CountedPresence(graceMilliseconds: settings.presenceGraceMilliseconds)
    handlers.typing = TimedTyping(
      milliseconds: Int64(settings.limits.typingMilliseconds))
    handlers.receipts = StoredReceipts()
    handlers.lastOnline = StoredLastOnline()
    handlers.blocking = StoredBlocking(isMutual: settings.blocksBothWays)
    handlers.moderation = StoredModeration()
    handlers.membership = StoredMembership()
    return handlers
  }

  /// The capabilities of the handlers that are set.
  var capabilities: [String] {
    var names: [String] = []
    if blocking != nil { names.append("blocking") }
    if lastOnline != nil { names.append("lastOnline") }
    if membership != nil { names.append("membership") }
    if moderation != nil { names.append("moderation") }
    if push != nil { names.append("push") }
    if receipts != nil { names.append("receipts") }
    if presence != nil { names.append("roomPresence") }
    if typing != nil { names.append("typing") }
    return names
  }
}

/// The interface of the store for handlers.
public protocol PeopleStore: AnyObject {
  /// Sends a request to the store, and calls back with the reply.
  func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void)
}

/// Observes when a room gets its first subscriber or loses its last one, and changes of its
/// presence.
public protocol RoomObserver: AnyObject {
  /// The room has its first subscriber.
  func occupied(_ room: RoomName)
  /// The room has lost its last subscriber.
  func vacated(_ room: RoomName)
  /// People have entered a room, left it, or changed their profiles.
  func changed(_ presence: PresenceChange)
}

extension RoomObserver {
  /// Ignores the change.
  public func changed(_ presence: PresenceChange) {}
}

/// The store for handlers, with the handlers' callbacks.
final class PeopleStorage: Part, PeopleStore {
  let board: Switchboard
  /// The handlers that wait for the store's replies.
  private var callbacks = Callbacks<PeopleReply>()

  init(_ board: Switchboard) { self.board = board }

  /// Passes the store's reply to the handler that waits for it.
  func finish(_ number: Callbacks<PeopleReply>.Number, _ reply: PeopleReply) {
    callbacks.take(number)(reply)
  }

  /// Sends a handler's request to the store; see ``PeopleStore``.
  func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void) {
    store(.people(request), under: .token, then: .people(callbacks.add(proceed)))
  }
}

/// The effects of blocks.
extension PeopleHandlers {
  /// Whether a block hides an author's actions from a person. Applies to all kinds of messages.
  func separates(_ person: PersonID, from author: PersonID) -> Bool {
    guard let blocking, blocking.concerns(person) else { return false }
    return person != author && blocking.separates(person, from: author)
  }

  /// Whether every reader may see an author's actions. If so, readers are not checked singly.
  func isForAll(by author: PersonID?) -> Bool {
    guard let author, let blocking else { return true }
    return !blocking.conceals(author)
  }

  /// Whether this reader may see what an author causes.
  func isFor(_ connection: Connection, by author: PersonID?) -> Bool {
    author.map { !separates(connection.person, from: $0) } ?? true
  }

  /// Whether each of two people may see the other.
  func visibleTo(_ person: PersonID, _ other: PersonID) -> (first: Bool, second: Bool) {
    guard let blocking else { return (true, true) }
    return (
      !blocking.separates(person, from: other), !blocking.separates(other, from: person)
    )
  }
}
