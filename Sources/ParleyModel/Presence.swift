/// A person in a room, with any number of connections, as others see them.
public struct PersonProfile: Sendable, Hashable {
  /// The token's user, or the client's id without tokens.
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

  /// Whether a text is a colour in the form of messages: `#` and six hexadecimal digits.
  package static func isColor(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 7 && bytes[0] == UInt8(ascii: "#")
      && bytes.dropFirst().allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
      }
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
  /// The ids of the people who have left.
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
