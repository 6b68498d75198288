public import ParleyGatewayPorts
import SocketMessages

/// The features for people in rooms besides publishing, each with a handler of its own.
///
/// An absent handler is absent from the capabilities in `welcome`, and its messages are answered
/// with `notOffered`. Embedders replace any of them.
///
/// Handlers are called on the gateway's loop, and answer at once or call back later on the same loop; a
/// handler that calls back of its own accord has the gateway's owner take the actions afterwards.
public struct PeopleHandlers {
  /// Presence in rooms.
  public var presence: (any PresenceHandler)?
  /// Typing signs.
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
  /// Notifies people who are offline.
  public var push: (any PushHandler)?
  /// Notified when rooms are occupied and vacated.
  public var rooms: (any RoomObserver)?

  /// Offers nothing.
  public init() {}

  /// Offers everything but pushes, which need a service that delivers them.
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

/// The store as handlers see it.
public protocol PeopleStore: AnyObject {
  /// Has the store work, and calls back with the outcome.
  func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void)
}

/// Notified when the first subscriber comes to a room, when the last has gone, and who comes and goes
/// meanwhile.
public protocol RoomObserver: AnyObject {
  /// The room has its first subscriber.
  func occupied(_ room: RoomName)
  /// The room has no subscriber left.
  func vacated(_ room: RoomName)
  /// People have come to a room, changed and gone.
  func changed(_ presence: PresenceChange)
}

extension RoomObserver {
  /// Ignores the change.
  public func changed(_ presence: PresenceChange) {}
}

extension Rooms: PeopleStore {
  /// The store has done a piece of work for a handler.
  func finish(_ number: Callbacks<PeopleReply>.Number, _ reply: PeopleReply) {
    callbacks.take(number)(reply)
  }

  /// Has the store do work for people; see ``PeopleStore``.
  func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void) {
    store(.people(request), under: .token, then: .people(callbacks.add(proceed)))
  }
}
