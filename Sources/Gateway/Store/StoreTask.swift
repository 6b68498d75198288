import GatewayPorts

/// Work for the store, and the type of what it replies with.
///
/// The store's port knows one type for all replies. Here each kind of work has its own, so that
/// nobody who asked for entries has to look whether a page of a room came.
struct StoreTask<Value> {
  let request: StoreRequest

  /// - Parameter request: Its replies, but for failures, are of the type.
  fileprivate init(_ request: StoreRequest) { self.request = request }
}

/// Success with a value of the type that was asked for, or the store's error.
typealias StoreOutcome<Value> = Result<Value, StoreError>

/// The replies of one type.
struct StoreReplies<Value> {
  /// Takes the value out of a reply; `nil` if the reply is of another type.
  fileprivate let value: (StoreReply) -> Value?
}

extension StoreReply {
  /// The reply to work whose replies are of one type. Work that cannot be told to be undecided has
  /// failed.
  ///
  /// - Precondition: The store keeps to its contract: any other reply ends the process, since what
  ///   was written then is unknown.
  func outcome<Value>(of replies: StoreReplies<Value>) -> StoreOutcome<Value> {
    if let value = replies.value(self) { return .success(value) }
    guard let failure else {
      preconditionFailure("expected \(Value.self) from the store; \(kind) came")
    }
    return .failure(failure)
  }

  /// The value of a reply of one type, as ``outcome(of:)``.
  func value<Value>(of replies: StoreReplies<Value>) throws(StoreError) -> Value {
    try outcome(of: replies).get()
  }

  /// The reply's name: its content may be users' text.
  private var kind: String {
    switch self {
    case .done: "done"
    case .lostRace: "a lost race"
    case .appended: "a chain"
    case .news: "news"
    case .heads: "heads"
    case .sessions: "sessions"
    case .note: "a note"
    case .notes: "notes"
    case .deletedNotes: "deleted notes"
    case .document: "a document"
    case .entries: "entries"
    case .text: "a text"
    case .history: "a history"
    case .versions: "versions"
    case .room: "a room's reply"
    case .people: "people's reply"
    case .groups: "a group's reply"
    case .files: "a reply about files"
    case .comments: "a reply about comments"
    case .logins: "a reply about sessions of people"
    case .links: "a reply about links"
    case .folders: "a reply about folders"
    case .once: "the reply to work that is done once"
    case .failed: "a failure"
    case .undecided: "an undecided commit"
    }
  }
}

extension PeopleReply {
  /// The reply to work whose replies are of one type, as ``StoreReply/outcome(of:)``.
  func outcome<Value>(_ value: (PeopleReply) -> Value?) -> StoreOutcome<Value> {
    if case .failed(let error) = self { return .failure(error) }
    guard let value = value(self) else {
      preconditionFailure("expected \(Value.self) from the store; another reply came")
    }
    return .success(value)
  }
}

// MARK: Documents

extension StoreTask<StoredDocument> {
  /// Loads a document and the newest entries of its log.
  static func load(id: DocumentID, recentMax: Int) -> Self {
    Self(.load(id: id, recentMax: recentMax))
  }
}

extension StoreReplies<StoredDocument> {
  static var document: Self {
    Self { if case .document(let document) = $0 { document } else { nil } }
  }
}

extension StoreTask<[LogEntry]> {
  /// Loads entries `after < revision <= through`, oldest first, as ``StoreRequest`` says.
  static func entries(
    id: DocumentID, after: Int, through: Int, bytesMax: Int = .max
  ) -> Self {
    Self(.entries(id: id, after: after, through: through, bytesMax: bytesMax))
  }
}

extension StoreReplies<[LogEntry]> {
  static var entries: Self {
    Self { if case .entries(let entries) = $0 { entries } else { nil } }
  }
}

extension StoreTask<NoteSummary> {
  /// Makes a note with an empty log.
  static func create(id: DocumentID, epoch: String, title: String, time: Timestamp) -> Self {
    Self(.create(id: id, epoch: epoch, title: title, time: time))
  }
}

extension StoreReplies<NoteSummary> {
  static var note: Self { Self { if case .note(let note) = $0 { note } else { nil } } }
}

extension StoreTask<Void> {
  /// Goes on under another epoch.
  static func renewEpoch(id: DocumentID, from old: String, to new: String) -> Self {
    Self(.renewEpoch(id: id, from: old, to: new))
  }

  /// Makes sure that no commit that failed turns up after a crash.
  static var wipeFailedCommits: Self { Self(.wipeFailedCommits) }

  /// Commits nothing but itself.
  static var probe: Self { Self(.probe) }

  /// Keeps an answer.
  static func keep(_ answer: AnswerDraft, _ memory: AnswerMemory) -> Self {
    Self(.once(.perform(.tell([]), keeping: [answer], memory)))
  }
}

extension StoreTask<LogNews> {
  /// Finds what follows in a log that several nodes share.
  static func news(
    id: DocumentID, epoch: String, after: Int, chain: LogChain, clients: [String]
  ) -> Self {
    Self(.news(id: id, epoch: epoch, after: after, chain: chain, clients: clients))
  }
}

extension StoreReplies<LogNews> {
  static var news: Self { Self { if case .news(let news) = $0 { news } else { nil } } }
}

extension StoreTask<[LogHead?]> {
  /// Finds the heads of logs that several nodes share.
  static func heads(ids: [DocumentID]) -> Self { Self(.heads(ids: ids)) }
}

extension StoreReplies<[LogHead?]> {
  static var heads: Self { Self { if case .heads(let heads) = $0 { heads } else { nil } } }
}

extension StoreTask<[String: Int]> {
  /// Begins new sessions of clients.
  static func fence(id: DocumentID, clients: [String]) -> Self {
    Self(.fence(id: id, clients: clients))
  }
}

extension StoreReplies<[String: Int]> {
  static var sessions: Self {
    Self { if case .sessions(let sessions) = $0 { sessions } else { nil } }
  }
}

/// The outcome of appending to a log.
enum Appending {
  /// Appended; a log that several nodes share has this chain now.
  case appended(LogChain?)
  /// Another writer of the store was first: these entries, of which there may be more, and the chain at
  /// the last of them.
  case lostRace([LogEntry], LogChain?)
  /// The commit failed, and may turn up after a crash.
  case undecided(StoreError)
}

extension StoreTask<Appending> {
  /// Appends entries; with answers to keep, in the same commit.
  static func append(_ request: StoreRequest) -> Self { Self(request) }
}

extension StoreReplies<Appending> {
  static var appending: Self {
    Self { reply in
      switch reply {
      case .done: .appended(nil)
      case .appended(let chain): .appended(chain)
      case .lostRace(let entries, let chain): .lostRace(entries, chain)
      case .undecided(let error): .undecided(error)
      default: nil
      }
    }
  }
}

extension StoreReplies<Void> {
  static var done: Self { Self { if case .done = $0 { () } else { nil } } }
}

// MARK: Notes

extension StoreReplies<[NoteSummary]> {
  static var notes: Self { Self { if case .notes(let notes) = $0 { notes } else { nil } } }
}

extension StoreReplies<[DeletedNote]> {
  static var deletedNotes: Self {
    Self { if case .deletedNotes(let notes) = $0 { notes } else { nil } }
  }
}

extension StoreTask<Void> {
  /// Removes some notes for good that were deleted before a time.
  static func removeDeleted(before time: Timestamp, limit: Int) -> Self {
    Self(.deleted(.removeOlder(than: time, limit: limit)))
  }
}

extension StoreReplies<HistoricText> {
  static var text: Self { Self { if case .text(let text) = $0 { text } else { nil } } }
}

extension StoreReplies<HistoryPage> {
  static var history: Self { Self { if case .history(let page) = $0 { page } else { nil } } }
}

extension StoreReplies<[NamedVersion]> {
  static var versions: Self {
    Self { if case .versions(let versions) = $0 { versions } else { nil } }
  }
}

/// The outcome of making a note under an id of its maker's.
enum NoteMaking {
  case made(NoteSummary)
  /// The same owner has made it with the same title; it may have changed since.
  case found(NoteSummary)
  /// Another note has this id.
  case taken
  /// The note was deleted.
  case deleted
}

extension StoreTask<NoteMaking> {
  /// Makes a note, unless it was made by the same owner before.
  static func make(_ draft: NoteDraft, epoch: String, restMax: Timestamp) -> Self {
    Self(.once(.create(draft, epoch: epoch, restMax: restMax)))
  }
}

extension StoreReplies<NoteMaking> {
  static var making: Self {
    Self { reply in
      switch reply {
      case .once(.created(let note)): .made(note)
      case .once(.found(let note)): .found(note)
      case .once(.taken): .taken
      case .once(.deleted): .deleted
      default: nil
      }
    }
  }
}

// MARK: Requests

/// The answer that was given to a request, if one was.
enum AnswerReply {
  case unanswered
  /// The answer, as it was written.
  case answered([UInt8])
  /// The key was used for another request.
  case keyReused
}

extension StoreTask<AnswerReply> {
  /// Finds the answer that was given to a request.
  static func answer(_ request: KeyedRequest, _ memory: AnswerMemory) -> Self {
    Self(.once(.answer(request, memory)))
  }
}

extension StoreReplies<AnswerReply> {
  static var answer: Self {
    Self { reply in
      switch reply {
      case .once(.unanswered): .unanswered
      case .once(.answered(let bytes)): .answered(bytes)
      case .once(.keyReused): .keyReused
      default: nil
      }
    }
  }
}

// MARK: Rooms

/// The store's reply to a publication.
enum PublicationReply {
  /// Published, now or earlier under the same key.
  case published(RoomPosition, time: Timestamp, isRepeated: Bool)
  /// The key was used for another publication.
  case keyReused
}

extension StoreTask<PublicationReply> {
  /// Publishes; the request is a publication, or one whose answer is kept.
  static func publish(_ request: StoreRequest) -> Self { Self(request) }
}

extension StoreReplies<PublicationReply> {
  static var publication: Self {
    Self { reply in
      switch reply {
      case .room(.published(let position, let time, let isRepeated)):
        .published(position, time: time, isRepeated: isRepeated)
      case .room(.keyReused): .keyReused
      default: nil
      }
    }
  }
}

extension StoreTask<RoomRecovery> {
  /// Finds what comes after a position in a room, or gives the room another epoch.
  static func recover(_ request: RoomRequest) -> Self { Self(.room(request)) }
}

extension StoreReplies<RoomRecovery> {
  static var recovery: Self {
    Self { if case .room(.recovery(let recovery)) = $0 { recovery } else { nil } }
  }
}

extension StoreTask<RoomPage> {
  /// Reads a part of a room's history.
  static func page(_ request: RoomRequest) -> Self { Self(.room(request)) }
}

extension StoreReplies<RoomPage> {
  static var page: Self { Self { if case .room(.page(let page)) = $0 { page } else { nil } } }
}

extension StoreTask<[RoomHead]> {
  /// Finds the heads of many rooms.
  static func heads(of rooms: [RoomName]) -> Self { Self(.room(.heads(rooms))) }
}

extension StoreReplies<[RoomHead]> {
  static var roomHeads: Self {
    Self { if case .room(.heads(let heads)) = $0 { heads } else { nil } }
  }
}

extension StoreTask<PeopleReply> {
  /// Works with what people do in rooms.
  static func people(_ request: PeopleRequest) -> Self { Self(.people(request)) }
}

extension StoreReplies<PeopleReply> {
  static var people: Self { Self { if case .people(let reply) = $0 { reply } else { nil } } }
}

extension StoreTask<GroupReply> {
  /// Works with groups; the request is about groups, or one whose answer is kept.
  static func groups(_ request: StoreRequest) -> Self { Self(request) }
}

extension StoreReplies<GroupReply> {
  static var groups: Self { Self { if case .groups(let reply) = $0 { reply } else { nil } } }
}

extension StoreTask<SessionReply> {
  /// Works with the sessions of those who have signed in.
  static func logins(_ request: SessionRequest) -> Self { Self(.logins(request)) }
}

extension StoreReplies<SessionReply> {
  static var logins: Self { Self { if case .logins(let reply) = $0 { reply } else { nil } } }
}

extension StoreTask<LinkReply> {
  /// Works with links to notes; the request is about links, or one whose answer is kept.
  static func links(_ request: StoreRequest) -> Self { Self(request) }
}

extension StoreReplies<LinkReply> {
  static var links: Self { Self { if case .links(let reply) = $0 { reply } else { nil } } }
}

extension StoreTask<NoteSummary> {
  /// Says what is known of one note beside its text.
  static func note(id: DocumentID) -> Self { Self(.note(id: id)) }
}

extension StoreTask<FileReply> {
  /// Works with the files of notes.
  static func files(_ request: FileRequest) -> Self { Self(.files(request)) }
}

extension StoreReplies<FileReply> {
  static var files: Self { Self { if case .files(let reply) = $0 { reply } else { nil } } }
}

extension StoreTask<CommentReply> {
  /// Works with comments; the request is about comments, or one whose answer is kept.
  static func comments(_ request: StoreRequest) -> Self { Self(request) }
}

extension StoreReplies<CommentReply> {
  static var comments: Self {
    Self { if case .comments(let reply) = $0 { reply } else { nil } }
  }
}

extension StoreTask<FolderReply> {
  /// Works with the folders of notes.
  static func folders(_ request: FolderRequest) -> Self { Self(.folders(request)) }
}

extension StoreReplies<FolderReply> {
  static var folders: Self { Self { if case .folders(let reply) = $0 { reply } else { nil } } }
}
