/// The notes with which a caller may do what a request wants, by their folders and ages: values with which
/// a store can decide that knows the notes, and no tokens.
public struct FolderRights: Hashable, Sendable {
  /// The verbs that rights to the note itself lack.
  private let missing: Verbs
  /// Rights to folders, of which several may add up.
  private let grants: [Grant]
  /// The latest allowed creation time of the note.
  private let madeUntil: Timestamp?

  fileprivate init(missing: Verbs, grants: [Grant], madeUntil: Timestamp?) {
    self.missing = missing
    self.grants = grants
    self.madeUntil = madeUntil
  }

  /// Whether the request may be done to a note in a folder, which was made at a time.
  ///
  /// - Complexity: O(*n*) grants.
  public func cover(_ folder: FolderPath, madeAt time: Timestamp) -> Bool {
    if let madeUntil, time > madeUntil { return false }
    return grants.verbsOnNotes { $0.pattern.matches(folder: folder) }.isSuperset(of: missing)
  }
}

/// A condition on the folder of the note that a request is about, which its store decides.
public struct FolderCondition: Sendable {
  /// The note.
  public var id: DocumentID
  /// The folders in which the request may be done.
  public var rights: FolderRights
  /// Whether the condition is about the newest deleted note of this name.
  public var isOfDeleted: Bool

  /// Makes a condition.
  public init(id: DocumentID, rights: FolderRights, isOfDeleted: Bool = false) {
    self.id = id
    self.rights = rights
    self.isOfDeleted = isOfDeleted
  }
}

/// The rights of a caller to a note whose folder is not known.
public enum NoteRight: Sendable {
  /// The caller has them wherever the note is.
  case granted
  /// They depend on its folder.
  case inFolders(FolderRights)
  /// The caller has them nowhere.
  case refused
}

extension Verbs {
  /// The rights to a note that moving it may give to others. The caller needs all of them: a caller gives
  /// away only rights that they have.
  public static let moving: Verbs = [.read, .write, .manage]
}

extension Identity {
  /// The latest creation time of a note that a link opens: it opens the note that it was made for, and no
  /// later one of the same id; `nil` for callers without a link.
  ///
  /// Tokens have a time of issue in whole seconds, and nodes' clocks may differ a little.
  var notesMadeUntil: Timestamp? { isGuest ? issuedAt.map { $0 &+ 60_000 } : nil }

  /// Returns what the bearer may do with a note that was made at a time.
  public func verbs(
    onNote id: DocumentID, in folder: FolderPath?, madeAt time: Timestamp?
  ) -> Verbs {
    if let time, let notesMadeUntil, time > notesMadeUntil { return [] }
    return verbs(on: .document(id, in: folder))
  }

  /// Returns whether the bearer may do something with a note wherever it is, depending on its folder, or
  /// not at all.
  public func right(to verbs: Verbs, ofNote id: DocumentID) -> NoteRight {
    let missing = verbs.subtracting(self.verbs(on: .document(id, in: nil)))
    if missing.isEmpty {
      guard let notesMadeUntil else { return .granted }
      return .inFolders(FolderRights(missing: [], grants: [], madeUntil: notesMadeUntil))
    }
    let folders = grants.filter {
      $0.kind == .folders && !$0.verbsOnNotes.isDisjoint(with: missing)
    }
    guard folders.verbsOnNotes().isSuperset(of: missing) else { return .refused }
    return .inFolders(FolderRights(missing: missing, grants: folders, madeUntil: notesMadeUntil))
  }

  /// Whether the bearer may do something with every note of a folder and of those below it, whatever its
  /// name.
  public func mayWithAll(_ verbs: Verbs, within folder: FolderPath) -> Bool {
    grants.verbsOnNotes { $0.coversAll(within: folder) }.isSuperset(of: verbs)
  }

  /// Returns what the bearer may do with every note of one folder, whatever its name.
  public func verbs(onAllIn folder: FolderPath) -> Verbs {
    grants.verbsOnNotes { $0.coversAll(in: folder) }
  }
}

extension [Grant] {
  /// The verbs that the matching grants give on notes together.
  fileprivate func verbsOnNotes(where isMeant: (Grant) -> Bool = { _ in true }) -> Verbs {
    reduce(into: []) { if isMeant($1) { $0.formUnion($1.verbsOnNotes) } }
  }
}

extension Grant {
  /// The verbs that it gives on notes: a right to change a text includes comments on it.
  fileprivate var verbsOnNotes: Verbs { verbs.contains(.write) ? verbs.union(.comment) : verbs }

  /// Whether it is a right to all notes of a folder and of those below it.
  fileprivate func coversAll(within folder: FolderPath) -> Bool {
    pattern.isPattern && coversAll(in: folder)
  }

  /// Whether it is a right to all notes of one folder.
  fileprivate func coversAll(in folder: FolderPath) -> Bool {
    switch kind {
    case .documents: pattern.isEverything
    case .folders: pattern.matches(folder: folder)
    case .rooms: false
    }
  }

  /// The folder that it names, if it is a right to folders; ``FolderPath/none`` for all of them.
  public var folder: FolderPath? {
    guard kind == .folders else { return nil }
    return FolderPath(stored: pattern.isPattern ? String(pattern.name.dropLast()) : pattern.name)
  }
}

extension NamePattern {
  /// Reads a pattern of folders: a path, a path and `/*` for it and all folders below, or `*` for all.
  ///
  /// - Returns: `nil` for anything else, and for a path that is not written as ``FolderPath`` writes it.
  public init?(folders text: String) {
    if text.utf8.elementsEqual("*".utf8) {
      self.init(text)
      return
    }
    let isSubtree = text.utf8.suffix(2).elementsEqual("/*".utf8)
    let path = isSubtree ? String(decoding: text.utf8.dropLast(2), as: UTF8.self) : text
    guard !path.isEmpty, let folder = try? FolderPath(path),
      folder.text.utf8.elementsEqual(path.utf8)
    else { return nil }
    self.init(text)
  }

  /// Whether a folder is meant by a pattern of folders.
  public func matches(folder: FolderPath) -> Bool {
    guard isPattern, !isEverything else { return isEverything || matches(folder.text) }
    return isAbove(folder.text)
  }
}
