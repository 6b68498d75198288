import GatewayPorts

/// The work that goes on when the store has replied, as plain data: it names what it is about, and
/// looks it up when the reply is there.
enum Awaited {
  case document(DocumentID)
  case creation(DocumentID)
  case commit(DocumentID)
  /// Certainty that a document's commit, which failed, does not turn up.
  case wiping(DocumentID)
  case renewal(DocumentID, epoch: String)
  /// A read of what other nodes have appended to a document's log.
  case news(DocumentID)
  /// Sessions that begin before such a reading.
  case fences(DocumentID)
  /// The heads of documents' logs.
  case heads([DocumentID])
  /// Older entries, for those who wait for them.
  case history(DocumentID)
  /// Older entries, for a follower that lags.
  case catchUp(DocumentID, ConnectionID)
  /// Entries for a page.
  case documentPage(HistoryPageReading)
  /// A note that a client makes over its socket.
  case making(DocumentMaking)
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
  /// Work with sessions of people, or with links, and how it goes on.
  case logins((StoreOutcome<SessionReply>) -> Void)
  case links(RequestID?, (StoreOutcome<LinkReply>) -> Void)
  case title((StoreOutcome<NoteSummary>) -> Void)
  case folders(RequestID, FolderWork)
  /// Work of a handler, which may be an embedder's: it says itself how it goes on.
  case people((PeopleReply) -> Void)
}

/// A purpose of work whose replies have a type: it fits tasks of that type alone.
struct StorePurpose<Value> {
  let awaited: Awaited

  private init(_ awaited: Awaited) { self.awaited = awaited }
}

extension StorePurpose<StoredDocument> {
  static func document(_ id: DocumentID) -> Self { Self(.document(id)) }
}

extension StorePurpose<NoteSummary> {
  static func creation(_ id: DocumentID) -> Self { Self(.creation(id)) }
}

extension StorePurpose<[LogEntry]> {
  static func history(_ id: DocumentID) -> Self { Self(.history(id)) }

  static func catchUp(_ id: DocumentID, _ connection: ConnectionID) -> Self {
    Self(.catchUp(id, connection))
  }

  static func page(_ reading: HistoryPageReading) -> Self { Self(.documentPage(reading)) }
}

extension StorePurpose<NoteMaking> {
  static func making(_ work: DocumentMaking) -> Self { Self(.making(work)) }
}

extension StorePurpose<Appending> {
  static func commit(_ id: DocumentID) -> Self { Self(.commit(id)) }
}

extension StorePurpose<LogNews> {
  static func news(_ id: DocumentID) -> Self { Self(.news(id)) }
}

extension StorePurpose<[String: Int]> {
  static func fences(_ id: DocumentID) -> Self { Self(.fences(id)) }
}

extension StorePurpose<[LogHead?]> {
  static func heads(_ ids: [DocumentID]) -> Self { Self(.heads(ids)) }
}

extension StorePurpose<Void> {
  static func renewal(_ id: DocumentID, epoch: String) -> Self {
    Self(.renewal(id, epoch: epoch))
  }

  static var removal: Self { Self(.removal) }

  static func wiping(_ id: DocumentID) -> Self { Self(.wiping(id)) }

  static var probe: Self { Self(.probe) }

  static func keeping(_ request: RequestID, _ response: Response) -> Self {
    Self(.keeping(request, response))
  }
}

extension StorePurpose<AnswerReply> {
  static func answer(_ request: RequestID) -> Self { Self(.answer(request)) }
}

extension StorePurpose<PublicationReply> {
  static func publication(_ work: RoomPublishing) -> Self { Self(.publication(work)) }
}

extension StorePurpose<RoomRecovery> {
  static func recovery(_ work: RoomSubscribing) -> Self { Self(.recovery(work)) }
  static func recoveryAnew(_ work: RoomSubscribing) -> Self { Self(.recoveryAnew(work)) }
  static func roomPlace(_ room: RoomName) -> Self { Self(.roomPlace(room)) }
}

extension StorePurpose<RoomPage> {
  static func page(_ work: RoomReading) -> Self { Self(.page(work)) }

  static func roomNews(_ room: RoomName, reading: UInt64) -> Self {
    Self(.roomNews(room, reading: reading))
  }
}

extension StorePurpose<[RoomHead]> {
  static func roomHeads(_ rooms: [RoomName]) -> Self { Self(.roomHeads(rooms)) }
}

extension StorePurpose<PeopleReply> {
  static func people(_ goOn: @escaping (PeopleReply) -> Void) -> Self { Self(.people(goOn)) }
}

extension StorePurpose<GroupReply> {
  static func groups(_ request: RequestID, _ work: GroupWork) -> Self {
    Self(.groups(request, work))
  }
}

extension StorePurpose<SessionReply> {
  static func logins(_ goOn: @escaping (StoreOutcome<SessionReply>) -> Void) -> Self {
    Self(.logins(goOn))
  }
}

extension StorePurpose<LinkReply> {
  static func links(
    of request: RequestID?, _ goOn: @escaping (StoreOutcome<LinkReply>) -> Void
  ) -> Self { Self(.links(request, goOn)) }
}

extension StorePurpose<NoteSummary> {
  static func title(_ goOn: @escaping (StoreOutcome<NoteSummary>) -> Void) -> Self {
    Self(.title(goOn))
  }
}

extension StorePurpose<FileReply> {
  static func files(_ work: FileWork) -> Self { Self(.files(work)) }
}

extension StorePurpose<CommentReply> {
  static func comments(_ work: CommentWork) -> Self { Self(.comments(work)) }
}

extension StorePurpose<FolderReply> {
  static func folders(_ request: RequestID, _ work: FolderWork) -> Self {
    Self(.folders(request, work))
  }
}

extension Awaited {
  /// The request about one note, which may be restricted to some folders, that the work is done for.
  var request: RequestID? {
    switch self {
    case .notes(let request, _), .files(.upload(let request)), .files(.list(let request)),
      .files(.read(let request)), .comments(.list(let request, _, _)),
      .comments(.quoted(let request)), .comments(.changed(let request, _, _)),
      .links(let request?, _):
      request
    // Of no one note, or its right is looked at where the note is. Named one by one: a request that is left out
    // here is restricted to no folder.
    case .document, .creation, .commit, .wiping, .renewal, .news, .fences, .heads, .history,
      .catchUp,
      .documentPage, .making, .publication, .recovery, .recoveryAnew, .page, .roomPlace, .roomNews,
      .roomHeads, .probe, .removal, .answer, .keeping, .groups, .files, .logins, .links, .title,
      .folders, .people:
      nil
    }
  }
}

/// The purpose of work that a request about notes asks for.
enum NotesPurpose {
  case notes(RequestID, NotesRequest)
}
