import ParleyGatewayPorts
import ParleyJSON

/// Kinds of webhook events for an app's backend. The raw values are their names.
public enum WebhookEvent: String, Sendable, CaseIterable {
  /// A note was created.
  case noteCreated = "note.created"
  /// A note's title has changed.
  case noteRenamed = "note.renamed"
  /// A note was moved to another folder.
  case noteMoved = "note.moved"
  /// A note's text has changed. Reported at most once per interval for each note.
  case noteChanged = "note.changed"
  /// A note was deleted.
  case noteDeleted = "note.deleted"
  /// A deleted note was restored.
  case noteUndeleted = "note.undeleted"
  /// A comment on a note was created, or an answer to one.
  case commentCreated = "comment.created"
  /// A comment's text has changed.
  case commentEdited = "comment.edited"
  /// A comment was resolved.
  case commentResolved = "comment.resolved"
  /// A resolved comment was reopened.
  case commentReopened = "comment.reopened"
  /// A comment was deleted.
  case commentDeleted = "comment.deleted"
  /// A room has got its first subscriber.
  case roomOccupied = "room.occupied"
  /// A room has lost its last subscriber.
  case roomVacated = "room.vacated"
  /// A publication was stored.
  case roomPublished = "room.published"
  /// A publication has changed values of a room whose names the operator has chosen.
  case valuesChanged = "values.changed"
  /// A person has entered a room.
  case personJoined = "person.joined"
  /// A person has left a room.
  case personLeft = "person.left"
  /// A publication was reported to the moderators.
  case publicationFlagged = "publication.flagged"
  /// A report was withdrawn.
  case publicationUnflagged = "publication.unflagged"
  /// The server has started, and all rooms are vacant.
  case serverStarted = "server.started"

  /// The events that are sent by default: all but the most frequent kinds.
  public static let standard = Set(allCases).subtracting([
    .roomPublished, .personJoined, .personLeft,
  ])

  /// Returns the outbox entry of an event of this kind for the webhook.
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
