package import ParleyGatewayPorts

/// The right under which work for the store is done.
///
/// Each piece of work states one, so a right cannot be forgotten. A right to a note is made by its check alone, and covers
/// work on that note; the store refuses the work where the right depends on the note's folder, and the note is in another
/// one.
///
///     Route.right ─▶ HTTP.admit ─▶ Call.right ─▶ store(_:under:then:) ─▶ within(condition, request)
package struct StoreRight: Sendable {
  /// The requests that a right covers.
  private enum Extent {
    /// Work on this note.
    case note(DocumentID)
    /// Work on no single note.
    case noNote
    /// Reads of no single note.
    case lists
    /// All work.
    case all
  }

  private let extent: Extent
  /// The folders that the note has to be in at the moment of the work; `nil` for any folder.
  package let condition: FolderCondition?

  private init(_ extent: Extent, _ condition: FolderCondition? = nil) {
    self.extent = extent
    self.condition = condition
  }

  /// The right to do something with an existing note; `nil` where the caller has it in no folder.
  ///
  /// - Parameter isDeleted: Whether it is the newest deleted note of this id.
  package init?(
    _ verbs: Verbs, onNote id: DocumentID, isDeleted: Bool = false, of identity: Identity
  ) {
    switch identity.right(to: verbs, ofNote: id) {
    case .granted: self.init(.note(id))
    case .inFolders(let rights):
      self.init(.note(id), FolderCondition(id: id, rights: rights, isOfDeleted: isDeleted))
    case .refused: return nil
    }
  }

  /// The right to make a note in a folder; `nil` where the caller lacks it.
  ///
  /// - Parameter verbs: The caller's rights to a subject.
  package init?(making id: DocumentID, in folder: FolderPath, verbs: (Subject) -> Verbs) {
    guard verbs(.document(id, in: folder)).contains(.manage) else { return nil }
    self.init(.note(id))
  }

  /// The right to move all notes of a folder, and of those below it; `nil` where the caller lacks it for some of them.
  package init?(movingAllFrom old: FolderPath, to new: FolderPath, of identity: Identity) {
    guard identity.mayWithAll(.moving, within: old), identity.mayWithAll(.manage, within: new)
    else { return nil }
    self.init(.noNote)
  }

  /// A right that the caller's token or key decides alone, as for rooms, groups and sessions. It is checked when the
  /// message arrives.
  package static let token = StoreRight(.noNote)

  /// The right to read a list. Each item is checked before it is shown.
  package static let eachItem = StoreRight(.lists)

  /// The gateway's own work, for no caller: loading and committing documents, reading for their followers, removing what
  /// is no longer needed.
  package static let housekeeping = StoreRight(.all)

  /// Whether lists of notes may be read, of which each item is checked.
  var coversLists: Bool {
    switch extent {
    case .lists, .all: true
    case .note, .noNote: false
    }
  }

  /// Whether a request is within the right.
  package func covers(_ traits: StoreTraits) -> Bool {
    switch extent {
    case .note(let id): traits.note == id
    case .noNote: traits.note == nil
    case .lists: traits.note == nil && !traits.isWriting
    case .all: true
    }
  }
}
