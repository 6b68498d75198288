import GatewayPorts

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
  case recoveryAnew(RoomSubscribing)
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
  /// Work with sessions of people, or with links, and its continuation.
  case logins((StoreOutcome<SessionReply>) -> Void)
  case links(RequestID?, (StoreOutcome<LinkReply>) -> Void)
  case title((StoreOutcome<NoteSummary>) -> Void)
  case folders(RequestID, FolderWork)
  /// Work of a handler, which may be an embedder's, and its continuation.
  case people((PeopleReply) -> Void)
}

/// A purpose of work whose replies have a type: it fits only tasks of that type.
struct StorePurpose<Value> {
  let awaited: Awaited

  private init(_ awaited: Awaited) { self.awaited = awaited }
}

extension StorePurpose {
  static func document(_ id: DocumentID) -> StorePurpose<StoredDocument> { .init(.document(id)) }
  static func creation(_ id: DocumentID) -> StorePurpose<NoteSummary> { .init(.creation(id)) }
  static func history(_ id: DocumentID) -> StorePurpose<[LogEntry]> { .init(.history(id)) }

  static func catchUp(_ id: DocumentID, _ connection: ConnectionID) -> StorePurpose<[LogEntry]> {
    .init(.catchUp(id, connection))
  }

  static func page(_ reading: HistoryPageReading) -> StorePurpose<[LogEntry]> {
    .init(.documentPage(reading))
  }

  static func making(_ connection: ConnectionID, messageID: String) -> StorePurpose<NoteMaking> {
    .init(.making(connection, messageID: messageID))
  }
  static func commit(_ id: DocumentID) -> StorePurpose<Appending> { .init(.commit(id)) }
  static func news(_ id: DocumentID) -> StorePurpose<LogNews> { .init(.news(id)) }
  static func fences(_ id: DocumentID) -> StorePurpose<[String: Int]> { .init(.fences(id)) }
  static func heads(_ ids: [DocumentID]) -> StorePurpose<[LogHead?]> { .init(.heads(ids)) }

  static func renewal(_ id: DocumentID, epoch: String) -> StorePurpose<Void> {
    .init(.renewal(id, epoch: epoch))
  }

  static var removal: StorePurpose<Void> { .init(.removal) }
  static func wiping(_ id: DocumentID) -> StorePurpose<Void> { .init(.wiping(id)) }
  static var probe: StorePurpose<Void> { .init(.probe) }

  static func keeping(_ request: RequestID, _ response: Response) -> StorePurpose<Void> {
    .init(.keeping(request, response))
  }

  static func answer(_ request: RequestID) -> StorePurpose<AnswerReply> { .init(.answer(request)) }

  static func publication(_ work: RoomPublishing) -> StorePurpose<PublicationReply> {
    .init(.publication(work))
  }

  static func recovery(_ work: RoomSubscribing) -> StorePurpose<RoomRecovery> {
    .init(.recovery(work))
  }
  static func recoveryAnew(_ work: RoomSubscribing) -> StorePurpose<RoomRecovery> {
    .init(.recoveryAnew(work))
  }
  static func roomPlace(_ room: RoomName) -> StorePurpose<RoomRecovery> { .init(.roomPlace(room)) }
  static func page(_ work: RoomReading) -> StorePurpose<RoomPage> { .init(.page(work)) }

  static func roomNews(_ room: RoomName, reading: UInt64) -> StorePurpose<RoomPage> {
    .init(.roomNews(room, reading: reading))
  }

  static func roomHeads(_ rooms: [RoomName]) -> StorePurpose<[RoomHead]> {
    .init(.roomHeads(rooms))
  }

  static func people(_ goOn: @escaping (PeopleReply) -> Void) -> StorePurpose<PeopleReply> {
    .init(.people(goOn))
  }

  static func groups(_ request: RequestID, _ work: GroupWork) -> StorePurpose<GroupReply> {
    .init(.groups(request, work))
  }

  static func logins(_ goOn: @escaping (StoreOutcome<SessionReply>) -> Void) -> StorePurpose<
    SessionReply
  > {
    .init(.logins(goOn))
  }

  static func links(
    of request: RequestID?, _ goOn: @escaping (StoreOutcome<LinkReply>) -> Void
  ) -> StorePurpose<LinkReply> { .init(.links(request, goOn)) }

  static func title(_ goOn: @escaping (StoreOutcome<NoteSummary>) -> Void) -> StorePurpose<
    NoteSummary
  > {
    .init(.title(goOn))
  }

  static func files(_ work: FileWork) -> StorePurpose<FileReply> { .init(.files(work)) }
  static func comments(_ work: CommentWork) -> StorePurpose<CommentReply> { .init(.comments(work)) }

  static func folders(_ request: RequestID, _ work: FolderWork) -> StorePurpose<FolderReply> {
    .init(.folders(request, work))
  }
}

extension Awaited {
  /// The request about one note for which the work is done; its rights may be restricted to some folders.
  var request: RequestID? {
    switch self {
    case .notes(let request, _), .files(.upload(let request)), .files(.list(let request)),
      .files(.read(let request)), .comments(.list(let request, _, _, _)),
      .comments(.quoted(let request)), .comments(.changed(let request, _, _)),
      .links(let request?, _):
      request
    // Not about one note, or checked where the note is. The cases are named one by one: a request that is
    // left out here is restricted to no folder.
    case .document, .creation, .commit, .wiping, .renewal, .news, .fences, .heads, .history,
      .catchUp,
      .documentPage, .making, .publication, .recovery, .recoveryAnew, .page, .roomPlace, .roomNews,
      .roomHeads, .probe, .removal, .answer, .keeping, .groups, .files, .logins, .links, .title,
      .folders, .people:
      nil
    }
  }
}
