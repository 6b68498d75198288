/// A request about folders of notes.
public enum FolderRequest: Sendable {
  /// Moves a note to a folder, and changes its title if one is given. Replies with the note. Only a
  /// new title changes the note's time of change.
  case move(id: DocumentID, to: FolderPath, title: String? = nil, time: Timestamp)
  /// Lists at most `limit` notes of one folder, without subfolders, in the order of ``NoteSortKey``.
  ///
  /// - Complexity: O(`limit`) and one search, however many notes there are.
  case notes(in: FolderPath, after: NoteSortKey?, limit: Int)
  /// Lists at most `limit` folders with counted notes, sorted by their bytes. This is a step of a
  /// long read: it ends early after about the work of checking `work` notes, and returns the
  /// position from which the next step continues.
  ///
  /// - Complexity: O(`work`), however many notes and folders there are.
  case list(after: FolderListPosition?, limit: Int, counting: FolderCounting, work: Int)
  /// Reads the folders of notes; `nil` for notes that do not exist.
  case of([DocumentID])
  /// Moves the first notes of a folder and its subfolders, at most `limit`, in one transaction:
  /// folders in the order of their bytes, notes in the order of their age. Repeat the request while
  /// notes are left; each note is moved once. Notes of a subfolder that becomes the old folder are
  /// moved last, or need another move; see ``FolderMove``.
  ///
  /// - Complexity: O(`limit`) and a few searches, however many notes there are.
  case moveAll(from: FolderPath, to: FolderPath, limit: Int)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .move(let id, _, let title, _):
      .writing(id, changedNote: title == nil ? nil : .edited(id))
    case .moveAll: .writing()
    case .notes, .list: .step
    case .of: .aside()
    }
  }
}

/// The position from which the next step of a list of folders continues: after or within a folder.
public struct FolderListPosition: Sendable, Hashable {
  /// The count of a part of a folder's notes.
  public struct Partial: Sendable, Hashable {
    /// The number of counted notes so far.
    public var notes: Int
    /// The creation time and id of the last checked note. The next note has a later time, or the
    /// same time and a greater id.
    public var last: NoteSortKey

    /// Creates the count of a folder's notes up to and including `last`.
    public init(notes: Int, last: NoteSortKey) {
      self.notes = notes
      self.last = last
    }
  }

  /// The folder.
  public var folder: FolderPath
  /// The count of the folder so far; `nil` for a position after the folder.
  public var partial: Partial?

  /// Creates a position after a folder, or among its notes if `partial` is given.
  public init(_ folder: FolderPath, partial: Partial? = nil) {
    self.folder = folder
    self.partial = partial
  }
}

/// The notes that a list of folders counts: those with matching ids or in matching folders.
public struct FolderCounting: Sendable, Equatable {
  /// Patterns of note ids.
  public var notes: [NamePattern]
  /// Patterns of folders.
  public var folders: [NamePattern]
  /// The maximum creation time of notes that are counted by their ids; `nil` for no limit.
  public var madeUntil: Timestamp?

  /// Creates a counting by ids and by folders.
  public init(notes: [NamePattern], folders: [NamePattern], madeUntil: Timestamp? = nil) {
    self.notes = notes
    self.folders = folders
    self.madeUntil = madeUntil
  }

  /// Creates a counting of the notes that a user may read.
  public init(of identity: Identity) {
    func patterns(_ kind: Grant.Kind) -> [NamePattern] {
      identity.grants.filter { $0.kind == kind && $0.verbs.contains(.read) }.map(\.pattern)
    }
    self.init(
      notes: patterns(.documents), folders: patterns(.folders),
      madeUntil: identity.noteCreationTimeMax)
  }

  /// The ids of all notes that can be counted, without duplicates; `nil` unless every pattern is
  /// the id of one note. A store then looks up only these notes.
  public var names: [DocumentID]? {
    guard folders.isEmpty, !notes.contains(where: \.isPattern) else { return nil }
    var seen: Set<DocumentID> = []
    return notes.map { DocumentID($0.name) }.filter { seen.insert($0).inserted }
  }

  /// Whether all notes of a folder are counted.
  public func includesAll(of folder: FolderPath) -> Bool {
    notes.contains(where: \.isEverything) || folders.contains { $0.matches(folder: folder) }
  }

  /// Whether a note is counted in a folder whose notes are not all counted.
  ///
  /// - Parameter time: The creation time; `nil` if it is unknown.
  public func includes(_ id: DocumentID, madeAt time: Timestamp?) -> Bool {
    if let madeUntil, time ?? .max > madeUntil { return false }
    return notes.contains { $0.matches(id.text) }
  }

  /// Returns the reply to ``FolderRequest/list(after:limit:counting:work:)`` when all counted notes
  /// are known.
  ///
  /// - Parameter found: The existing notes with the ids in ``names``.
  public func page(
    of found: [NoteSummary], after last: FolderPath?, limit: Int
  ) -> FolderReply {
    var counts: [FolderPath: Int] = [:]
    for note in found where includes(note.id, madeAt: note.createdAt) {
      counts[note.folder, default: 0] += 1
    }
    let folders = counts.map { FolderCount(folder: $0, notes: $1) }.filter { count in
      last.map { $0 < count.folder } ?? true
    }.sorted { $0.folder < $1.folder }
    let page = folders.prefix(max(limit, 0))
    let next = page.count < folders.count ? page.last : nil
    return .folders(Array(page), next: next.map { FolderListPosition($0.folder) })
  }
}

/// A folder, and the number of its notes.
public struct FolderCount: Sendable, Equatable {
  /// The folder.
  public var folder: FolderPath
  /// The number of counted notes in the folder, without those below it.
  public var notes: Int

  /// Creates the count of a folder.
  public init(folder: FolderPath, notes: Int) {
    self.folder = folder
    self.notes = notes
  }
}

/// The reply to a request about folders.
public enum FolderReply: Sendable, Equatable {
  /// The note after the move.
  case note(NoteSummary)
  /// Notes of a folder.
  case notes([NoteSummary])
  /// Folders, and the position from which the next step continues; `nil` at the end.
  case folders([FolderCount], next: FolderListPosition?)
  /// The folders of the requested notes, in the order of the request.
  case of([FolderPath?])
  /// The moved notes, and whether more are left for the same request. If notes that move into the
  /// old folder are too many for one request, `rest` is the ``FolderMove/rest`` that moves them.
  case moved([NoteSummary], hasMore: Bool, rest: FolderMove?)
  /// Nothing was moved, because a new path would be invalid.
  case unfit(FolderPathError)
}
