public import ParleyJSON

/// A publication in a room: data, a change of the room's values, or both.
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
  #if hasFeature(Embedded)
    // The page's module has to be small; its clients receive no values.
    /// The data: any JSON value, as sent.
    public var data: JSONValue
  #else
    /// The data: any JSON value, as sent; `nil` if the publication only changes values.
    public var data: JSONValue?
    /// The operations on the room's values, as canonical JSON; `nil` for none.
    public var values: JSONValue?
  #endif

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

  #if !hasFeature(Embedded)
    /// Creates a publication at an offset that changes values.
    public init(
      offset: Int, time: Timestamp, personID: PersonID? = nil, senderID: String? = nil,
      data: JSONValue?, values: JSONValue?
    ) {
      self.offset = offset
      self.time = time
      self.personID = personID
      self.senderID = senderID
      self.data = data
      self.values = values
    }

    /// The bytes of data and values.
    package var byteCount: Int { (data?.utf8.count ?? 0) + (values?.utf8.count ?? 0) }
  #endif
}
