public import ParleyJSON

/// A publication in a room.
public struct Publication: Sendable, Hashable {
  /// The publication's offset in the room, counting from 1.
  public var offset: Int
  /// The time at which the server accepted the publication. Times never decrease, unless the clock
  /// was set back by more than the store tolerates (one minute).
  public var time: Timestamp
  /// The publisher, set by the server; `nil` for a backend.
  public var personID: PersonID?
  /// An id chosen by the publisher, by which its app can ignore its own publications.
  public var senderID: String?
  /// The data: any JSON value, as sent.
  public var data: JSONValue

  /// Creates a publication at an offset.
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
