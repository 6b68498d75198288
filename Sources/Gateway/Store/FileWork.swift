import ParleyGatewayPorts

/// Work on files of notes that waits for the store.
enum FileWork {
  /// Storing an uploaded file.
  case upload(RequestID)
  /// Listing a note's files.
  case list(RequestID)
  /// Reading a file.
  case read(RequestID)
  /// Finding notes with files that may be unreferenced.
  case unsettled
  /// Searching a note's revisions for references to these files.
  case search(DocumentID, before: Timestamp)
  /// Removing a note's unreferenced files.
  case settle(DocumentID)
}
