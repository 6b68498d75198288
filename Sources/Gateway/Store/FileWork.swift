import ParleyGatewayPorts

/// Work with the files of notes, until the store has answered.
enum FileWork {
  /// Keeping a file that was uploaded.
  case upload(RequestID)
  /// Listing a note's files.
  case list(RequestID)
  /// Reading a file.
  case read(RequestID)
  /// Finding notes with files that no revision is known to name.
  case unsettled
  /// Looking for such files in a note's revisions.
  case search(DocumentID, before: Timestamp)
  /// Removing files that no revision names.
  case settle(DocumentID)
}
