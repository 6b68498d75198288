import ParleyGatewayPorts

/// Work on comments that waits for the store.
enum CommentWork {
  /// Listing a note's comments for a reader.
  case list(RequestID, DocumentID, Identity, ListReader)
  /// Reading the text of a new comment's range.
  case quoted(RequestID)
  /// Creating, changing or deleting a comment, with notices for people.
  case changed(RequestID, CommentRequest, Identity, notified: [PersonID])
}
