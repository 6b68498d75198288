#if !hasFeature(Embedded)
  public import ParleyJSON
#endif

/// A person in a room, as others see them. All connections of the person count as one.
public struct PersonProfile: Sendable, Hashable {
  /// The person's id: the token's user, or the client's id if tokens are not used.
  public var personID: PersonID
  /// The display name.
  public var name: String
  /// The colour, as `#rrggbb`.
  public var color: String?
  #if !hasFeature(Embedded)
    /// The data with which the person is present, such as a status; `nil` for none.
    public var data: JSONValue?
  #endif

  /// Creates a profile, by default without a colour.
  public init(personID: PersonID, name: String, color: String? = nil) {
    self.personID = personID
    self.name = name
    self.color = color
  }

  /// Whether a text is a colour as in messages: `#` and six hexadecimal digits.
  package static func isColor(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 7 && bytes[0] == UInt8(ascii: "#")
      && bytes.dropFirst().allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20)
      }
  }
}

/// The changes of a room's presence since the last diff.
public struct PresenceChange: Sendable, Hashable {
  /// The room.
  public var room: RoomName
  /// People who have entered.
  public var joined: [PersonProfile]
  /// People whose name or colour has changed.
  public var updated: [PersonProfile]
  /// The ids of the people who have left.
  public var left: [PersonID]

  /// Creates a change, by default without any people.
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
