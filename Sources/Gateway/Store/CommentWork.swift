import ParleyGatewayPorts

/// Work with the comments of notes, until the store has answered.
enum CommentWork {
  /// Listing a note's comments for a reader.
  case list(RequestID, DocumentID, Identity, ListReader)
  /// Reading the words of a new comment's range.
  case quoted(RequestID)
  /// Making, changing or deleting a comment.
  case changed(RequestID, CommentRequest, Identity)
}
