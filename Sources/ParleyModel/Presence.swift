/// A person in a room, with any number of connections, as others see them.
public struct PersonProfile: Sendable, Hashable {
  /// The token's user, or the client's id where nobody has one.
  public var personID: PersonID
  /// The name shown to others.
  public var name: String
  /// `#rrggbb`.
  public var color: String?

  /// Makes a profile.
  public init(personID: PersonID, name: String, color: String? = nil) {
    self.personID = personID
    self.name = name
    self.color = color
  }
}

/// The presence changes in a room since the last diff.
public struct PresenceChange: Sendable, Hashable {
  /// The room.
  public var room: RoomName
  /// People who have entered.
  public var joined: [PersonProfile]
  /// People whose name or colour has changed.
  public var updated: [PersonProfile]
  /// The ids of those who have gone.
  public var left: [PersonID]

  /// Makes a change.
  public init(
    room: RoomName, joined: [PersonProfile] = [], updated: [PersonProfile] = [],
    left: [PersonID] = []
  ) {
    self.room = room
    self.joined = joined
    self.updated = updated
    self.left = left
  }
}
