import ParleyGatewayPorts

/// The work that continues after the store's reply, as plain data. It identifies its subject, which
/// is looked up when the reply arrives.
enum Awaited {
  case document(DocumentID)
  case creation(DocumentID)
  case commit(DocumentID)
  /// Confirmation that a document's failed commit will not appear later.
  case wiping(DocumentID)
  case renewal(DocumentID, epoch: Epoch)
  /// A read of the entries that other nodes have appended to a document's log.
  case news(DocumentID)
  /// Sessions that start before a read of other nodes' entries.
  case fences(DocumentID)
  /// The heads of documents' logs.
  case heads([DocumentID])
  /// Older entries, for clients that wait for them.
  case history(DocumentID)
  /// Older entries, for a follower that is behind.
  case catchUp(DocumentID, ConnectionID)
  /// Entries for a page.
  case documentPage(HistoryPageReading)
  /// A note that a client creates over its socket.
  case making(ConnectionID, messageID: String)
  case publication(RoomPublishing)
  /// The publications that a subscriber missed. The room may need another epoch first.
  case recovery(RoomSubscribing)
  /// The publications that a subscriber missed, under another epoch.
  case repeatedRecovery(RoomSubscribing)
  case page(RoomReading)
  case values(ValueReading)
  /// Values that are to be deleted.
  case endingValues(EndingValues)
  /// The head of a room, for members that receive publications from now on.
  case roomPlace(RoomName)
  /// The publications of other nodes in a room, with the number of the read.
  case roomNews(RoomName, reading: UInt64)
  /// The heads of rooms.
  case roomHeads([RoomName])
  case notes(RequestID, NotesRequest)
  /// Confirmation that the store commits again.
  case probe
  /// The removal of deleted notes whose retention has ended.
  case removal
  /// The stored response to a request with a key.
  case answer(RequestID)
  /// The storing of this response to a request.
  case keeping(RequestID, Response)
  case groups(RequestID, GroupWork)
  case files(FileWork)
  case comments(CommentWork)
  case folders(RequestID, FolderWork)
  /// Work on sessions, links, notices and the audit log, and for people in rooms. The requesting part has the callback.
  case logins(Callbacks<StoreOutcome<SessionReply>>.Number)
  case links(Callbacks<StoreOutcome<LinkReply>>.Number)
  case title(Callbacks<StoreOutcome<NoteSummary>>.Number)
  case audit(Callbacks<StoreOutcome<AuditReply>>.Number)
  case notices(Callbacks<StoreOutcome<NoticeReply>>.Number)
  case people(Callbacks<PeopleReply>.Number)
}

extension Awaited {
  /// The request whose long read is cancelled if its client disconnects.
  var reader: RequestID? {
    switch self {
    case .notes(let request, _), .folders(let request, _): request
    default: nil
    }
  }
}
