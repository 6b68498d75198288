public import ParleyGatewayPorts

/// Manages the members of rooms, who remain members while offline.
public protocol MembershipHandler: AnyObject {
  /// Adds a person to the members of a room, or removes them.
  func set(
    _ person: PersonID, in room: RoomName, isMember: Bool, store: any PeopleStore,
    then proceed: @escaping (StoreError?) -> Void)
  /// Lists the members of a room.
  func members(
    of room: RoomName, store: any PeopleStore,
    then proceed: @escaping (Result<[PersonID], StoreError>) -> Void)
}

/// Members in the gateway's own store.
public final class StoredMembership: MembershipHandler {
  /// Creates a handler.
  public init() {}

  /// See ``MembershipHandler``.
  public func set(
    _ person: PersonID, in room: RoomName, isMember: Bool, store: any PeopleStore,
    then proceed: @escaping (StoreError?) -> Void
  ) {
    store.perform(.member(room, person, isMember: isMember)) { reply in
      proceed(reply.failure)
    }
  }

  /// See ``MembershipHandler``.
  public func members(
    of room: RoomName, store: any PeopleStore,
    then proceed: @escaping (Result<[PersonID], StoreError>) -> Void
  ) {
    store.perform(.members(room)) { reply in
      proceed(reply.outcome { if case .members(let members) = $0 { members } else { nil } })
    }
  }
}
