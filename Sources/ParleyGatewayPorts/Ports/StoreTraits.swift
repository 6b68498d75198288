/// The nature of a request, for code that passes requests on without doing them: queues, locks, rights, search.
///
/// Each kind of request declares its traits in one switch beside its cases, and nowhere else is a request's nature
/// asked for.
public struct StoreTraits: Sendable {
  /// The way in which the store does a request.
  public enum Way: Sendable {
    /// A change: it succeeds or fails with its batch's commit.
    case writing
    /// A read in one order with the commits. A document that is loaded continues from its head, and a subscriber of a
    /// room from the newest publication.
    case reading
    /// A read that may be answered beside the work with commits, on a connection of its own. It shows at least every
    /// commit that was over when the request was made.
    case aside
    /// A step of a long read beside the commits. Each step takes a few milliseconds at most; other reads go first.
    case step
  }

  /// A row that a change locks beside its note's.
  public enum Row: Sendable {
    /// The row of a room that has to exist.
    case room(RoomName)
    /// The row of a room that is made if it does not exist.
    case newRoom(RoomName)
    /// The rows of a user's sessions.
    case user(String)
  }

  /// The way in which the store does it.
  public var way: Way
  /// The note that it is about; `nil` for none or several.
  public var note: DocumentID?
  /// Whether it locks the row of its note.
  public var locksNote: Bool
  /// Another row that it locks.
  public var row: Row?
  /// The change that search has to look at when the request is done.
  public var changedNote: SearchedChange?
  /// The approximate bytes that it holds while it waits; `nil` if it is not counted by itself.
  public var byteCount: Int?
  /// Whether it goes to the store even if too much waits there: work that was promised, and work that does not wait
  /// for the disk.
  public var isPassed: Bool

  /// Whether the store changes by it.
  public var isWriting: Bool { way == .writing }

  /// Whether it may be answered beside the work with commits.
  public var isAside: Bool { way == .aside || way == .step }

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
    isPassed = way == .aside || way == .step
  }

  /// The bytes that any request takes, beside the text in it.
  private static let byteCountOfEach = 256

  /// A change of a note.
  static func writing(
    _ note: DocumentID, locksNote: Bool = true, changedNote: SearchedChange? = nil,
    textByteCount: Int = 0
  ) -> StoreTraits {
    StoreTraits(
      .writing, note, locksNote: locksNote, changedNote: changedNote, textByteCount: textByteCount)
  }

  /// A change of no note, or of several.
  static func writing(locking row: Row? = nil, textByteCount: Int = 0) -> StoreTraits {
    StoreTraits(.writing, nil, row: row, textByteCount: textByteCount)
  }

  /// A read in one order with the commits.
  static func reading(_ note: DocumentID? = nil, textByteCount: Int = 0) -> StoreTraits {
    StoreTraits(.reading, note, textByteCount: textByteCount)
  }

  /// A read beside the commits.
  static func aside(_ note: DocumentID? = nil) -> StoreTraits { StoreTraits(.aside, note) }

  /// A step of a long read beside the commits.
  static var step: StoreTraits { StoreTraits(.step, nil) }

  /// The same, which goes to the store even if too much waits there.
  var passed: StoreTraits {
    var traits = self
    traits.isPassed = true
    return traits
  }
}

extension StoreRequest {
  /// Its traits.
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
    case .tell, .wipeFailedCommits, .probe: .writing()
    case .deleted(let request): request.traits
    case .room(let request): request.traits
    case .people(let request): request.traits
    case .groups(let request): request.traits
    case .files(let request): request.traits
    case .comments(let request): request.traits
    case .logins(let request): request.traits
    case .links(let request): request.traits
    case .folders(let request): request.traits
    case .once(let request): request.traits
    case .within(let condition, let request): request.traits.within(condition)
    }
  }

  /// Whether the store changes by it.
  public var isWriting: Bool { traits.isWriting }

  /// Appending: its changes are counted one by one, from when they were taken.
  private static func append(to id: DocumentID) -> StoreTraits {
    var traits = StoreTraits.writing(id, changedNote: .edited(id)).passed
    traits.byteCount = nil
    return traits
  }
}

extension StoreTraits {
  /// The traits of work under a condition on its note: the note's row is locked where the work is a change.
  fileprivate func within(_ condition: FolderCondition) -> StoreTraits {
    var traits = self
    traits.note = condition.id
    traits.locksNote = locksNote || isWriting && !condition.isOfDeleted
    return traits
  }
}

extension OnceRequest {
  /// Its traits.
  var traits: StoreTraits {
    switch self {
    case .answer(let request, _): return .reading(textByteCount: request.body.count)
    case .perform(let work, _, _):
      var traits = work.traits
      traits.way = .writing
      // Work that is done already; only its answer has to be kept.
      if case .tell = work { traits.isPassed = true }
      return traits
    case .create(let draft, _, _):
      return .writing(
        draft.id, changedNote: .edited(draft.id), textByteCount: draft.title.utf8.count)
    }
  }
}
