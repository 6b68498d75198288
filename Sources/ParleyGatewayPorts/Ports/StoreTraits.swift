/// The properties of a request, for code that forwards requests without performing them: queues,
/// locks, rights, search.
///
/// Each kind of request declares its traits in one switch beside its cases, and nowhere else.
public struct StoreTraits: Sendable {
  /// The way in which the store performs a request.
  public enum Way: Sendable {
    /// A change. It succeeds or fails with the commit of its batch.
    case writing
    /// A read that is ordered with commits. A loaded document continues from its head, and a
    /// subscriber of a room from the newest publication.
    case reading
    /// A read that may run in parallel to commits, on another connection. It includes at least
    /// every commit that was complete when the request was made.
    case aside
    /// A step of a long read in parallel to commits. Each step takes at most a few milliseconds;
    /// other reads go first.
    case step
  }

  /// A row that a change locks in addition to its note's row.
  public enum Row: Sendable {
    /// The row of a room; nothing is locked if the room does not exist.
    case room(RoomName)
    /// The row of a room, which is created if it does not exist.
    case newRoom(RoomName)
    /// The rows of a user's sessions.
    case user(String)
  }

  /// The way in which the store performs the request.
  public var way: Way
  /// The note that the request is about; `nil` for none or several.
  public var note: DocumentID?
  /// Whether the request locks the row of its note.
  public var locksNote: Bool
  /// A further row that the request locks.
  public var row: Row?
  /// The change that the search index has to apply after the request has succeeded.
  public var changedNote: SearchedChange?
  /// The approximate bytes of a waiting request; `nil` if its bytes are counted elsewhere.
  public var byteCount: Int?
  /// Whether the request bypasses the limit on waiting work. Such requests are work that was
  /// promised to a client, and work that does not wait for the disk.
  public var bypassesQueueLimit: Bool

  /// Whether the request changes the store.
  public var isWriting: Bool { way == .writing }

  /// Whether the request may run in parallel to commits.
  public var isParallel: Bool { way == .aside || way == .step }

  private init(
    _ way: Way, _ note: DocumentID?, locksNote: Bool = false, row: Row? = nil,
    changedNote: SearchedChange? = nil, textByteCount: Int = 0
  ) {
    self.way = way
    self.note = note
    self.locksNote = locksNote
    self.row = row
    self.changedNote = changedNote
    byteCount = Self.byteCountOfEach + textByteCount
    bypassesQueueLimit = way == .aside || way == .step
  }

  /// The bytes of a request without the text in it.
  private static let byteCountOfEach = 256

  /// Returns the traits of a change of one note.
  static func writing(
    _ note: DocumentID, locksNote: Bool = true, changedNote: SearchedChange? = nil,
    textByteCount: Int = 0
  ) -> StoreTraits {
    StoreTraits(
      .writing, note, locksNote: locksNote, changedNote: changedNote, textByteCount: textByteCount)
  }

  /// Returns the traits of a change of no note or of several.
  static func writing(locking row: Row? = nil, textByteCount: Int = 0) -> StoreTraits {
    StoreTraits(.writing, nil, row: row, textByteCount: textByteCount)
  }

  /// Returns the traits of a read that is ordered with commits.
  static func reading(_ note: DocumentID? = nil, textByteCount: Int = 0) -> StoreTraits {
    StoreTraits(.reading, note, textByteCount: textByteCount)
  }

  /// Returns the traits of a read in parallel to commits.
  static func aside(_ note: DocumentID? = nil) -> StoreTraits { StoreTraits(.aside, note) }

  /// The traits of a step of a long read in parallel to commits.
  static var step: StoreTraits { StoreTraits(.step, nil) }

  /// The same traits, bypassing the limit on waiting work.
  var passed: StoreTraits {
    var traits = self
    traits.bypassesQueueLimit = true
    return traits
  }
}

extension StoreRequest {
  /// The request's traits.
  public var traits: StoreTraits {
    switch self {
    case .create(let id, _, let title, _, _, _), .rename(let id, let title, _):
      .writing(id, changedNote: .edited(id), textByteCount: title.utf8.count)
    case .append(let id, _, _, _): Self.append(to: id)
    case .delete(let id, _): .writing(id, changedNote: .removed(id))
    case .snapshot(let id, _, _, let text): .writing(id, textByteCount: text.utf8.count)
    case .saveVersion(let id, _, _), .deleteVersion(let id, _), .compact(let id, _): .writing(id)
    case .renewEpoch(let id, _, _), .fence(let id, _): .writing(id).passed
    case .load(let id, _): .reading(id)
    case .news(let id, _, _, _, _): .reading(id).passed
    case .heads: .reading().passed
    case .note(let id), .entries(let id, _, _, _), .text(let id, _), .history(let id, _, _, _),
      .past(let id, _), .versions(let id):
      .aside(id)
    case .list, .notes: .step
    case .tell, .rollBackFailedCommits, .probe: .writing()
    case .deleted(let request): request.traits
    case .room(let request): request.traits
    case .people(let request): request.traits
    case .groups(let request): request.traits
    case .files(let request): request.traits
    case .comments(let request): request.traits
    case .logins(let request): request.traits
    case .links(let request): request.traits
    case .folders(let request): request.traits
    case .notices(let request): request.traits
    case .audit(let request): request.traits
    case .audited(_, let request): request.traits
    case .notifying(let drafts, let request): request.traits.adding(drafts)
    case .once(let request): request.traits
    case .within(let condition, let request): request.traits.within(condition)
    }
  }

  /// Whether the request changes the store.
  public var isWriting: Bool { traits.isWriting }

  /// Returns the traits of an append. The bytes of its changes are counted one by one, from when
  /// the gateway has accepted each.
  private static func append(to id: DocumentID) -> StoreTraits {
    var traits = StoreTraits.writing(id, changedNote: .edited(id)).passed
    traits.byteCount = nil
    return traits
  }
}

extension StoreTraits {
  /// Returns the traits of a request that also adds notices.
  fileprivate func adding(_ drafts: [NoticeDraft]) -> StoreTraits {
    var traits = self
    traits.way = .writing
    if let own = byteCount { traits.byteCount = own + drafts.reduce(0) { $0 + $1.byteCount } }
    return traits
  }

  /// Returns the traits of a request under a condition on its note. A change locks the note's row.
  fileprivate func within(_ condition: FolderCondition) -> StoreTraits {
    var traits = self
    traits.note = condition.id
    traits.locksNote = locksNote || isWriting && !condition.isOfDeleted
    return traits
  }
}

extension OnceRequest {
  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .answer(let request, _): return .reading(textByteCount: request.body.count)
    case .perform(let work, _, _):
      var traits = work.traits
      traits.way = .writing
      // The work is already done; only its answer has to be stored.
      if case .tell = work { traits.bypassesQueueLimit = true }
      return traits
    case .create(let draft, _, _):
      return .writing(
        draft.id, changedNote: .edited(draft.id), textByteCount: draft.title.utf8.count)
    }
  }
}
