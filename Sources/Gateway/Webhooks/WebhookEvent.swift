import ParleyGatewayPorts
import ParleyJSON

/// Kinds of events for an app's backend, by their names there.
public enum WebhookEvent: String, Sendable, CaseIterable {
  /// A note was made.
  case noteCreated = "note.created"
  /// A note has another title.
  case noteRenamed = "note.renamed"
  /// A note was put into another folder.
  case noteMoved = "note.moved"
  /// A note has another text. Reported at most once per interval for each note.
  case noteChanged = "note.changed"
  /// A note was removed.
  case noteDeleted = "note.deleted"
  /// A deleted note was restored.
  case noteUndeleted = "note.undeleted"
  /// A comment was made on a note, or an answer to one.
  case commentCreated = "comment.created"
  /// A comment has another text.
  case commentEdited = "comment.edited"
  /// The discussion of a comment is over.
  case commentResolved = "comment.resolved"
  /// The discussion of a comment continues.
  case commentReopened = "comment.reopened"
  /// A comment was deleted.
  case commentDeleted = "comment.deleted"
  /// A room has its first subscriber.
  case roomOccupied = "room.occupied"
  /// A room has no subscriber left.
  case roomVacated = "room.vacated"
  /// A publication was made.
  case roomPublished = "room.published"
  /// A person has entered a room.
  case personJoined = "person.joined"
  /// A person has left a room.
  case personLeft = "person.left"
  /// A publication was reported to the moderators.
  case publicationFlagged = "publication.flagged"
  /// A report was taken back.
  case publicationUnflagged = "publication.unflagged"
  /// The server has started, and all rooms are vacant.
  case serverStarted = "server.started"

  /// The events that are sent by default: all but the most frequent.
  public static let standard = Set(allCases).subtracting([
    .roomPublished, .personJoined, .personLeft,
  ])

  /// An event of this kind for the webhook.
  func draft(
    about subject: String, at time: Timestamp, hold: Timestamp = 0, releasesHeld: Bool = false,
    _ fields: (inout JSONWriter.Object, inout [UInt8]) -> Void
  ) -> OutboxDraft {
    var data: [UInt8] = []
    JSONWriter.object(&data, fields)
    return OutboxDraft(
      target: .webhook, type: rawValue, subject: subject, time: time, data: data,
      holdMilliseconds: hold, releasesHeld: releasesHeld)
  }
}
