/// Work with the folders of notes.
public enum FolderRequest: Sendable {
  /// Puts a note into a folder, with another title if one is given. Replies with the note. Its time of change
  /// stays unless the title changes.
  case move(id: DocumentID, to: FolderPath, title: String? = nil, time: Timestamp)
  /// Lists at most `limit` notes of one folder, without those below it, in the order of ``NotePlace``.
  ///
  /// - Complexity: O(`limit`) and a search, however many notes there are.
  case notes(in: FolderPath, after: NotePlace?, limit: Int)
  /// Lists at most `limit` folders that have notes, in the order of their bytes, with the notes to be counted.
  case list(after: FolderPath?, limit: Int, counting: FolderCounting)
  /// Finds the folders of some notes; `nil` for those that are not there.
  case of([DocumentID])
  /// Moves at most `limit` notes of a folder and of those below it to another place, all of them or none: one folder
  /// after the other in the order of their bytes, of each the oldest first. Repeated while notes are left, it moves each
  /// note once: those that come to places within the folder go last, as ``FolderMove`` says.
  ///
  /// - Complexity: O(`limit`) and a few searches, however many notes there are.
  case moveAll(from: FolderPath, to: FolderPath, limit: Int)

  /// Whether the store changes by it.
  public var isWriting: Bool {
    switch self {
    case .move, .moveAll: true
    case .notes, .list, .of: false
    }
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

  /// Counts the notes that somebody may read.
  public init(of identity: Identity) {
    func patterns(_ kind: Grant.Kind) -> [NamePattern] {
      identity.grants.filter { $0.kind == kind && $0.verbs.contains(.read) }.map(\.pattern)
    }
    self.init(
      notes: patterns(.documents), folders: patterns(.folders), madeUntil: identity.notesMadeUntil)
  }

  /// The names of the only notes that can count, each once, where every right names one: these are looked up, and no
  /// others. `nil` where there may be more.
  public var names: [DocumentID]? {
    guard folders.isEmpty, !notes.contains(where: \.isPattern) else { return nil }
    var seen: Set<ExactName> = []
    return notes.map(\.name).filter { seen.insert(ExactName($0)).inserted }
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
    return notes.contains { $0.matches(id) }
  }

  /// Makes a page of the folders of those notes that count by their names, as ``FolderRequest/list(after:limit:counting:)``
  /// wants it.
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
    return .folders(Array(page), next: page.count < folders.count ? page.last?.folder : nil)
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
  /// The note as it now stands.
  case note(NoteSummary)
  /// Notes of a folder.
  case notes([NoteSummary])
  /// Folders, and the place after which there may be more; `nil` if there are none.
  case folders([FolderCount], next: FolderPath?)
  /// The folders of the notes that were asked for, in their order.
  case of([FolderPath?])
  /// The notes that were moved, as they stand now, and whether more are left.
  case moved([NoteSummary], hasMore: Bool)
  /// Nothing was moved, for a path would not be one.
  case unfit(FolderPathError)
  /// Nothing was moved, for more notes would come to places within the folder than may be moved at once.
  case tooManyWithin
}
