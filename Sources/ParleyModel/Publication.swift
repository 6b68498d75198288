public import ParleyJSON

/// A publication in a room.
public struct Publication: Sendable, Hashable {
  /// Its place in the room, counting from 1.
  public var offset: Int
  /// The time at which the server accepted it; never less than its predecessor's, unless the clock
  /// was set back by more than the store follows.
  public var time: Timestamp
  /// The publishing person, stamped by the server; `nil` for a backend.
  public var personID: PersonID?
  /// A name that the publisher gave, so that their own app can ignore it.
  public var senderID: String?
  /// Any JSON, as it was sent.
  public var data: JSONValue

  /// Makes a publication.
  public init(
    offset: Int, time: Timestamp, personID: PersonID? = nil, senderID: String? = nil,
    data: JSONValue
  ) {
    self.offset = offset
    self.time = time
    self.personID = personID
    self.senderID = senderID
    self.data = data
  }
}
