/// Work with the folders of notes.
public enum FolderRequest: Sendable {
  /// Puts a note into a folder, with another title if one is given. Replies with the note. Its time of change
  /// stays unless the title changes.
  case move(id: DocumentID, to: FolderPath, title: String? = nil, time: Timestamp)
  /// Lists at most `limit` notes of one folder, without those below it, in the order of ``NotePlace``.
  ///
  /// - Complexity: O(`limit`) and a search, however many notes there are.
  case notes(in: FolderPath, after: NotePlace?, limit: Int)
  /// Lists at most `limit` folders that have notes to be counted, in the order of their bytes. A step of a long read:
  /// it ends early after about as much work as looking at `work` notes, and replies with the place to continue from.
  ///
  /// - Complexity: O(`work`), however many notes and folders there are.
  case list(after: FolderPlace?, limit: Int, counting: FolderCounting, work: Int)
  /// Finds the folders of some notes; `nil` for those that are not there.
  case of([DocumentID])
  /// Moves at most `limit` notes of a folder and of those below it to another place, all of them or none: one folder
  /// after the other in the order of their bytes, of each the oldest first. Repeated while notes are left, it moves each
  /// note once: those that come to places within the folder go last, or are left to another move, as ``FolderMove`` says.
  ///
  /// - Complexity: O(`limit`) and a few searches, however many notes there are.
  case moveAll(from: FolderPath, to: FolderPath, limit: Int)

  /// Its traits.
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

/// A place in the list of folders, from which another step continues: behind a folder, or among its notes.
public struct FolderPlace: Sendable, Hashable {
  /// A count of a part of a folder's notes.
  public struct Partial: Sendable, Hashable {
    /// The number of notes that count.
    public var notes: Int
    /// The time at which the last note that was looked at was made, and its name: the next one has a greater time, or
    /// the same time and a greater name.
    public var last: NotePlace

    /// Counts notes up to one of them.
    public init(notes: Int, last: NotePlace) {
      self.notes = notes
      self.last = last
    }
  }

  /// The folder.
  public var folder: FolderPath
  /// The count of the folder so far; `nil` if the place is behind the folder.
  public var partial: Partial?

  /// Names the place behind a folder, or among its notes.
  public init(_ folder: FolderPath, partial: Partial? = nil) {
    self.folder = folder
    self.partial = partial
  }
}

/// The notes that count in a list of folders: those whose names match, and all notes of some folders.
public struct FolderCounting: Sendable, Equatable {
  /// Patterns of notes' names.
  public var notes: [NamePattern]
  /// Patterns of folders.
  public var folders: [NamePattern]
  /// The time after which a note must not have been made to count by its name; `nil` if it may have been.
  public var madeUntil: Timestamp?

  /// Counts notes by names and by folders.
  public init(notes: [NamePattern], folders: [NamePattern], madeUntil: Timestamp? = nil) {
    self.notes = notes
    self.folders = folders
    self.madeUntil = madeUntil
  }

  /// Counts the notes that a caller may read.
  public init(of identity: Identity) {
    func patterns(_ kind: Grant.Kind) -> [NamePattern] {
      identity.grants.filter { $0.kind == kind && $0.verbs.contains(.read) }.map(\.pattern)
    }
    self.init(
      notes: patterns(.documents), folders: patterns(.folders), madeUntil: identity.notesMadeUntil)
  }

  /// The names of the only notes that can count, each once, if every right names one note: only these are
  /// looked up. `nil` if there may be more.
  public var names: [DocumentID]? {
    guard folders.isEmpty, !notes.contains(where: \.isPattern) else { return nil }
    var seen: Set<DocumentID> = []
    return notes.map { DocumentID($0.name) }.filter { seen.insert($0).inserted }
  }

  /// Whether all notes of a folder count.
  public func includesAll(of folder: FolderPath) -> Bool {
    notes.contains(where: \.isEverything) || folders.contains { $0.matches(folder: folder) }
  }

  /// Whether a note counts in a folder whose notes do not all count.
  ///
  /// - Parameter time: When it was made; `nil` where that is not known.
  public func includes(_ id: DocumentID, madeAt time: Timestamp?) -> Bool {
    if let madeUntil, time ?? .max > madeUntil { return false }
    return notes.contains { $0.matches(id.text) }
  }

  /// Makes a page of the folders of those notes that count by their names, as
  /// ``FolderRequest/list(after:limit:counting:work:)`` requires it.
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
    return .folders(Array(page), next: next.map { FolderPlace($0.folder) })
  }
}

/// A folder with its notes.
public struct FolderCount: Sendable, Equatable {
  /// The folder.
  public var folder: FolderPath
  /// The number of notes in it that count, without those below it.
  public var notes: Int

  /// Counts notes.
  public init(folder: FolderPath, notes: Int) {
    self.folder = folder
    self.notes = notes
  }
}

/// The reply to a request about folders.
public enum FolderReply: Sendable, Equatable {
  /// The note as it is now.
  case note(NoteSummary)
  /// Notes of a folder.
  case notes([NoteSummary])
  /// Folders, and the place from which another step continues; `nil` at the end.
  case folders([FolderCount], next: FolderPlace?)
  /// The folders of the notes that were asked for, in their order.
  case of([FolderPath?])
  /// The notes that were moved, as they are now, and whether more are left to the same request. With ``FolderMove/rest``
  /// those are left that come to places within the folder, which are more than may be moved at once.
  case moved([NoteSummary], hasMore: Bool, rest: FolderMove?)
  /// Nothing was moved, for a path would not be one.
  case unfit(FolderPathError)
}
