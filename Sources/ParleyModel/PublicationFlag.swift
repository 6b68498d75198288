/// A report of a publication to the moderators.
public struct PublicationFlag: Sendable, Hashable {
  /// The publication's offset in its room.
  public var offset: Int
  /// The person who reports the publication.
  public var personID: PersonID
  /// The reason, if one was given; not empty.
  public var reason: String?
  /// The time of the report.
  public var time: Timestamp

  /// Creates a person's report of a publication.
  public init(offset: Int, personID: PersonID, reason: String? = nil, time: Timestamp) {
    self.offset = offset
    self.personID = personID
    self.reason = reason
    self.time = time
  }
}
