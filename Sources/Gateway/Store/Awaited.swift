import ParleyGatewayPorts

/// The work that continues when the store has replied, as plain data: it names its subject, and looks it up
/// when the reply is there.
enum Awaited {
  case document(DocumentID)
  case creation(DocumentID)
  case commit(DocumentID)
  /// Certainty that a document's commit, which failed, does not turn up.
  case wiping(DocumentID)
  case renewal(DocumentID, epoch: String)
  /// A read of what other nodes have appended to a document's log.
  case news(DocumentID)
  /// Sessions that begin before such a read.
  case fences(DocumentID)
  /// The heads of documents' logs.
  case heads([DocumentID])
  /// Older entries, for clients that wait for them.
  case history(DocumentID)
  /// Older entries, for a follower that lags.
  case catchUp(DocumentID, ConnectionID)
  /// Entries for a page.
  case documentPage(HistoryPageReading)
  /// A note that a client makes over its socket.
  case making(ConnectionID, messageID: String)
  case publication(RoomPublishing)
  /// The publications that a subscriber missed; the room may have to take another epoch first.
  case recovery(RoomSubscribing)
  /// The publications that a subscriber missed, under another epoch.
  case repeatedRecovery(RoomSubscribing)
  case page(RoomReading)
  /// The head of a room, for members that hear from now on; the room may have to take another epoch first.
  case roomPlace(RoomName)
  /// The publications of other nodes in a room; the read has a number.
  case roomNews(RoomName, reading: UInt64)
  /// The heads of rooms.
  case roomHeads([RoomName])
  case notes(RequestID, NotesRequest)
  /// Certainty that the store commits again.
  case probe
  /// The removal of notes that were deleted long ago.
  case removal
  /// The answer that was given to a request that names itself by a key.
  case answer(RequestID)
  /// Keeping this answer to a request.
  case keeping(RequestID, Response)
  case groups(RequestID, GroupWork)
  case files(FileWork)
  case comments(CommentWork)
  case folders(RequestID, FolderWork)
  /// Work with sessions of users, with links, and for people in rooms: the part that asked has the callback.
  case logins(Callbacks<StoreOutcome<SessionReply>>.Number)
  case links(Callbacks<StoreOutcome<LinkReply>>.Number)
  case title(Callbacks<StoreOutcome<NoteSummary>>.Number)
  case people(Callbacks<PeopleReply>.Number)
}

extension Awaited {
  /// The request whose client may go away while it reads beside the commits; the read is cancelled then.
  var reader: RequestID? {
    switch self {
    case .notes(let request, _), .folders(let request, _): request
    default: nil
    }
  }
}
