public import ParleyGatewayPorts

/// Stores reports to moderators.
public protocol ModerationHandler: AnyObject {
  /// Stores a report, or withdraws it.
  func set(
    _ flag: PublicationFlag, in room: RoomName, isFlagged: Bool, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
  /// Lists the reports of a room, newest publications first. Replies `flags` or `failed`.
  func list(
    _ room: RoomName, limit: Int, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void)
}

/// Reports in the gateway's own store.
public final class StoredModeration: ModerationHandler {
  /// Creates a handler.
  public init() {}

  /// See ``ModerationHandler``.
  public func set(
    _ flag: PublicationFlag, in room: RoomName, isFlagged: Bool, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    let place = PublicationAddress(room: room, offset: flag.offset)
    store.perform(isFlagged ? .flag(room, flag) : .unflag(place, flag.personID), then: proceed)
  }

  /// See ``ModerationHandler``.
  public func list(
    _ room: RoomName, limit: Int, store: any PeopleStore,
    then proceed: @escaping (PeopleReply) -> Void
  ) {
    store.perform(.flags(room, limit: limit), then: proceed)
  }
}
