import ParleyGatewayPorts

/// The requested value, or the store's error.
typealias StoreOutcome<Value> = Result<Value, StoreError>

extension StoreReply {
  /// Returns the value of a reply, or the store's error. A reply of another type is an
  /// `unknownOutcome`: the store may have done the work.
  func outcome<Value>(of value: (StoreReply) -> Value?) -> StoreOutcome<Value> {
    if let value = value(self) { return .success(value) }
    return .failure(failure ?? .unexpectedReply(name, insteadOf: Value.self))
  }

  /// Returns the value of a reply, or throws, like ``outcome(of:)``.
  func value<Value>(of value: (StoreReply) -> Value?) throws(StoreError) -> Value {
    try outcome(of: value).get()
  }

  /// The reply's case name. Its content may be users' text.
  private var name: String { Mirror(reflecting: self).children.first?.label ?? "done" }
}

extension PeopleReply {
  /// Returns the value of a reply, like ``StoreReply/outcome(of:)``.
  func outcome<Value>(_ value: (PeopleReply) -> Value?) -> StoreOutcome<Value> {
    if case .failed(let error) = self { return .failure(error) }
    if let value = value(self) { return .success(value) }
    return .failure(.unexpectedReply(name, insteadOf: Value.self))
  }

  /// The reply's case name. Its content may be users' text.
  var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

  /// The error of work whose only successful reply is ``done``; `nil` for success.
  var failure: StoreError? {
    switch outcome({ if case .done = $0 { () } else { nil } }) {
    case .success: nil
    case .failure(let error): error
    }
  }
}

extension StoreError {
  /// The error for a reply of another type. The store may have done the work.
  static func unexpectedReply<Value>(_ name: String, insteadOf expected: Value.Type) -> StoreError {
    .unknownOutcome("expected \(expected) from the store, got \(name)")
  }
}

/// The outcome of appending to a log.
enum Appending {
  /// Appended. A log that several nodes share now has this chain.
  case appended(LogChain?)
  /// Another writer was first. Contains its entries, possibly not all of them, and the chain at the
  /// last one.
  case lostRace([LogEntry], LogChain?)
  /// The commit failed, but may still appear after a crash.
  case undecided(StoreError)
}

/// The outcome of creating a note under an id that the client chose.
enum NoteMaking {
  case made(NoteSummary)
  /// The same owner has created the note with the same title. It may have changed since.
  case found(NoteSummary)
  /// Another note has this id.
  case taken
  /// The note was deleted.
  case deleted
}

/// The stored response to a request, if there is one.
enum AnswerReply {
  case unanswered
  /// The response, as it was stored.
  case answered([UInt8])
  /// The key was used for another request.
  case keyReused
}

/// The store's reply to a publication.
enum PublicationReply {
  /// Published, now or earlier under the same key.
  case published(RoomPosition, time: Timestamp, isRepeated: Bool)
  /// The key was used for another publication.
  case keyReused
  /// The room's head is not the required position.
  case outdated(RoomPosition)
  /// The change of values is refused.
  case valuesRefused(ValueRefusal)
}

/// The values of replies of one type; `nil` for other replies.
extension StoreReply {
  var document: StoredDocument? { if case .document(let document) = self { document } else { nil } }
  var entries: [LogEntry]? { if case .entries(let entries) = self { entries } else { nil } }
  var note: NoteSummary? { if case .note(let note) = self { note } else { nil } }
  var news: LogChanges? { if case .news(let news) = self { news } else { nil } }
  var heads: [LogHead?]? { if case .heads(let heads) = self { heads } else { nil } }
  var sessions: [String: Int]? { if case .sessions(let sessions) = self { sessions } else { nil } }

  var appending: Appending? {
    switch self {
    case .done: .appended(nil)
    case .appended(let chain): .appended(chain)
    case .lostRace(let entries, let chain): .lostRace(entries, chain)
    case .undecided(let error): .undecided(error)
    default: nil
    }
  }

  var done: Void? { if case .done = self { () } else { nil } }
  var notes: [NoteSummary]? { if case .notes(let notes) = self { notes } else { nil } }

  var deletedNotes: [DeletedNote]? {
    if case .deletedNotes(let notes) = self { notes } else { nil }
  }

  var text: HistoricText? { if case .text(let text) = self { text } else { nil } }

  var making: NoteMaking? {
    switch self {
    case .once(.created(let note)): .made(note)
    case .once(.found(let note)): .found(note)
    case .once(.taken): .taken
    case .once(.deleted): .deleted
    default: nil
    }
  }

  var answer: AnswerReply? {
    switch self {
    case .once(.unanswered): .unanswered
    case .once(.answered(let bytes)): .answered(bytes)
    case .once(.keyReused): .keyReused
    default: nil
    }
  }

  var publication: PublicationReply? {
    switch self {
    case .room(.published(let position, let time, let isRepeated)):
      .published(position, time: time, isRepeated: isRepeated)
    case .room(.keyReused): .keyReused
    case .room(.outdated(let head)): .outdated(head)
    case .room(.valuesRefused(let refusal)): .valuesRefused(refusal)
    default: nil
    }
  }

  var recovery: RoomRecovery? {
    if case .room(.recovery(let recovery)) = self { recovery } else { nil }
  }

  var ending: (values: [EndingValue], next: Timestamp?)? {
    if case .room(.ending(let values, let next)) = self { (values, next) } else { nil }
  }

  var values: RoomValuesPage? {
    if case .room(.values(let page)) = self { page } else { nil }
  }

  var page: RoomPage? { if case .room(.page(let page)) = self { page } else { nil } }
  var roomHeads: [RoomHead]? { if case .room(.heads(let heads)) = self { heads } else { nil } }
  var people: PeopleReply? { if case .people(let reply) = self { reply } else { nil } }
  var groups: GroupReply? { if case .groups(let reply) = self { reply } else { nil } }
  var logins: SessionReply? { if case .logins(let reply) = self { reply } else { nil } }
  var notices: NoticeReply? { if case .notices(let reply) = self { reply } else { nil } }
  var audit: AuditReply? { if case .audit(let reply) = self { reply } else { nil } }
  var links: LinkReply? { if case .links(let reply) = self { reply } else { nil } }
  var files: FileReply? { if case .files(let reply) = self { reply } else { nil } }
  var comments: CommentReply? { if case .comments(let reply) = self { reply } else { nil } }
  var folders: FolderReply? { if case .folders(let reply) = self { reply } else { nil } }

  var folderNotes: [NoteSummary]? {
    if case .folders(.notes(let notes)) = self { notes } else { nil }
  }
}
