package import ParleyGatewayPorts

/// The right under which the store does work.
///
/// Each piece of work states its right, so that none is forgotten. A right to a note can only
/// result from a check, and covers work on that note. If it depends on the note's folder, the store
/// refuses the work when the note is in another folder.
///
///     Route.right ─▶ HTTP.admit ─▶ Call.right ─▶ store(_:under:then:) ─▶ within(condition, work)
package struct StoreRight: Sendable {
  /// The requests that a right covers.
  private enum Extent {
    /// Work on this note.
    case note(DocumentID)
    /// Work that concerns no single note.
    case noNote
    /// Reads that concern no single note.
    case lists
    /// All work.
    case all
  }

  private let extent: Extent
  /// The folders in which the note has to be when the work is done; `nil` for any folder.
  package let condition: FolderCondition?

  private init(_ extent: Extent, _ condition: FolderCondition? = nil) {
    self.extent = extent
    self.condition = condition
  }

  /// The right to an existing note; `nil` if the caller has it in no folder.
  ///
  /// - Parameter isDeleted: Whether the note is the newest deleted one with this id.
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

  /// The right to create a note in a folder; `nil` if the caller lacks it.
  ///
  /// - Parameter verbs: Returns the caller's rights to a subject.
  package init?(making id: DocumentID, in folder: FolderPath, verbs: (Subject) -> Verbs) {
    guard verbs(.document(id, in: folder)).contains(.manage) else { return nil }
    self.init(.note(id))
  }

  /// The right to move all notes in and below a folder; `nil` if the caller lacks part of it.
  package init?(movingAllFrom old: FolderPath, to new: FolderPath, of identity: Identity) {
    guard identity.mayWithAll(.moving, within: old), identity.mayWithAll(.manage, within: new)
    else { return nil }
    self.init(.noNote)
  }

  /// A right that depends only on the caller's token or key, as for rooms, groups and sessions. It
  /// is checked when the message arrives.
  package static let token = StoreRight(.noNote)

  /// The right to read a list. Each item is checked before it is sent.
  package static let eachItem = StoreRight(.lists)

  /// The gateway's own work, for no caller: loading and committing documents, reading for
  /// followers, and removing expired data.
  package static let housekeeping = StoreRight(.all)

  /// Whether the right covers lists of notes, whose items are checked one by one.
  var coversLists: Bool {
    switch extent {
    case .lists, .all: true
    case .note, .noNote: false
    }
  }

  /// Whether the right covers a request.
  package func covers(_ traits: StoreTraits) -> Bool {
    switch extent {
    case .note(let id): traits.note == id
    case .noNote: traits.note == nil
    case .lists: traits.note == nil && !traits.isWriting
    case .all: true
    }
  }
}
