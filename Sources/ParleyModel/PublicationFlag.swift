/// A report of a publication to the moderators.
public struct PublicationFlag: Sendable, Hashable {
  /// The place of the publication in its room.
  public var offset: Int
  /// The person who reports it.
  public var personID: PersonID
  /// The reason, if one was given; never empty.
  public var reason: String?
  /// The time of the report.
  public var time: Timestamp

  /// Makes a report.
  public init(offset: Int, personID: PersonID, reason: String? = nil, time: Timestamp) {
    self.offset = offset
    self.personID = personID
    self.reason = reason
    self.time = time
  }
}
