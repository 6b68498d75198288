import ParleyJSON

/// The condition on a note's folder and creation time under which a caller has the rights for a
/// request. A store can evaluate it without knowing tokens.
public struct FolderRights: Hashable, Sendable {
  /// The required verbs that the caller's rights to the note itself do not contain.
  private let missing: Verbs
  /// Rights to folders. The verbs of several grants add up.
  private let grants: [Grant]
  /// The maximum creation time of the note; `nil` for no limit.
  private let madeUntil: Timestamp?

  fileprivate init(missing: Verbs, grants: [Grant], madeUntil: Timestamp?) {
    self.missing = missing
    self.grants = grants
    self.madeUntil = madeUntil
  }

  /// Whether the caller has the rights for a note in a folder with a creation time.
  ///
  /// - Complexity: O(*n*) grants.
  public func cover(_ folder: FolderPath, madeAt time: Timestamp) -> Bool {
    if let madeUntil, time > madeUntil { return false }
    return grants.verbsOnNotes { $0.pattern.matches(folder: folder) }.isSuperset(of: missing)
  }
}

/// A condition on the note of a request, evaluated by the store in the same transaction.
public struct FolderCondition: Sendable {
  /// The note.
  public var id: DocumentID
  /// The folders in which the request is allowed.
  public var rights: FolderRights
  /// Whether the condition applies to the newest deleted note with this id.
  public var isOfDeleted: Bool

  /// Creates a condition, by default on a note that is not deleted.
  public init(id: DocumentID, rights: FolderRights, isOfDeleted: Bool = false) {
    self.id = id
    self.rights = rights
    self.isOfDeleted = isOfDeleted
  }
}

/// The rights of a caller to a note whose folder is not known.
public enum NoteRight: Sendable {
  /// The caller has the rights in every folder.
  case granted
  /// The rights depend on the note's folder or creation time.
  case inFolders(FolderRights)
  /// The caller has the rights in no folder.
  case refused
}

extension Verbs {
  /// The verbs that a move of a note may grant to others through the new folder. The mover needs
  /// all of them: a user can only give away rights that they have.
  public static let moving: Verbs = [.read, .write, .manage]
}

extension Identity {
  /// The maximum creation time of a note that the guest's link opens; `nil` for other callers. A
  /// link opens the note for which it was created, and no later note with the same id.
  ///
  /// A minute is added: tokens contain whole seconds, and the clocks of nodes differ a little.
  var noteCreationTimeMax: Timestamp? { isGuest ? issuedAt.map { $0 &+ 60_000 } : nil }

  /// Returns the verbs on a note with a creation time; `nil` skips the check of the time.
  public func verbs(
    onNote id: DocumentID, in folder: FolderPath?, madeAt time: Timestamp?
  ) -> Verbs {
    if let time, let noteCreationTimeMax, time > noteCreationTimeMax { return [] }
    return verbs(on: .document(id, in: folder))
  }

  /// Returns whether the caller has verbs on a note in every folder, in some folders, or in none.
  public func right(to verbs: Verbs, ofNote id: DocumentID) -> NoteRight {
    let missing = verbs.subtracting(self.verbs(on: .document(id, in: nil)))
    if missing.isEmpty {
      guard let noteCreationTimeMax else { return .granted }
      return .inFolders(FolderRights(missing: [], grants: [], madeUntil: noteCreationTimeMax))
    }
    let folders = grants.filter {
      $0.kind == .folders && !$0.verbsOnNotes.isDisjoint(with: missing)
    }
    guard folders.verbsOnNotes().isSuperset(of: missing) else { return .refused }
    return .inFolders(
      FolderRights(missing: missing, grants: folders, madeUntil: noteCreationTimeMax))
  }

  /// Whether the caller has verbs on every note of a folder and of all folders below it.
  public func mayWithAll(_ verbs: Verbs, within folder: FolderPath) -> Bool {
    grants.verbsOnNotes { $0.coversAll(within: folder) }.isSuperset(of: verbs)
  }

  /// Returns the verbs on every note of one folder.
  public func verbs(onAllIn folder: FolderPath) -> Verbs {
    grants.verbsOnNotes { $0.coversAll(in: folder) }
  }
}

extension [Grant] {
  /// Returns the union of the verbs that the matching grants give on notes.
  fileprivate func verbsOnNotes(where isMeant: (Grant) -> Bool = { _ in true }) -> Verbs {
    reduce(into: []) { if isMeant($1) { $0.formUnion($1.verbsOnNotes) } }
  }
}

extension Grant {
  /// The verbs on notes. The right to write includes the right to comment.
  fileprivate var verbsOnNotes: Verbs { verbs.contains(.write) ? verbs.union(.comment) : verbs }

  /// Whether the grant covers all notes of a folder and of all folders below it.
  fileprivate func coversAll(within folder: FolderPath) -> Bool {
    pattern.isPattern && coversAll(in: folder)
  }

  /// Whether the grant covers all notes of one folder.
  fileprivate func coversAll(in folder: FolderPath) -> Bool {
    switch kind {
    case .documents: pattern.isEverything
    case .folders: pattern.matches(folder: folder)
    case .rooms: false
    }
  }

  /// The folder that a grant of folders names, ``FolderPath/none`` for all; `nil` for other grants.
  public var folder: FolderPath? {
    guard kind == .folders else { return nil }
    return FolderPath(stored: pattern.isPattern ? String(pattern.name.dropLast()) : pattern.name)
  }
}

extension NamePattern {
  /// Parses a pattern of folders: a path, a path and `/*` for it and all folders below, or `*`.
  ///
  /// - Returns: `nil` for any other text, and for a path that ``FolderPath`` would write otherwise.
  public init?(folders text: String) {
    if text.isExactly("*") {
      self.init(text)
      return
    }
    let isSubtree = text.utf8.suffix(2).elementsEqual("/*".utf8)
    let path = isSubtree ? String(decoding: text.utf8.dropLast(2), as: UTF8.self) : text
    guard !path.isEmpty, let folder = try? FolderPath(path),
      folder.text.isExactly(path)
    else { return nil }
    self.init(text)
  }

  /// Whether a folder matches a pattern of folders.
  public func matches(folder: FolderPath) -> Bool {
    guard isPattern, !isEverything else { return isEverything || matches(folder.text) }
    return isAbove(folder.text)
  }
}
