/// The deletion of a note that may be restored.
public struct Deletion: Sendable, Hashable {
  /// The time of the deletion.
  public var time: Timestamp
  /// The name of the person who deleted the note, as shown to people.
  public var author: String

  /// Makes a deletion.
  public init(time: Timestamp, author: String) {
    self.time = time
    self.author = author
  }
}

/// A deleted note that may be restored, with all of its log.
public struct DeletedNote: Sendable, Equatable {
  /// The note as it was.
  public var note: NoteSummary
  /// Its deletion.
  public var deletion: Deletion

  /// Describes a deleted note.
  public init(note: NoteSummary, deletion: Deletion) {
    self.note = note
    self.deletion = deletion
  }
}

/// Work with deleted notes. Their names are free: a new note may have one, and be deleted, too. Among
/// several of one name the newest deletion is used.
public enum DeletedRequest: Sendable {
  /// Lists at most `limit` deleted notes in the order of ``NotePlace``, those after a place or the first.
  case list(after: NotePlace?, limit: Int)
  /// Restores a note as it was, with its log and its epoch: a client that was away continues where it was.
  /// Fails with `unknownDocument` if no such note was deleted, and with `exists` if another note has the
  /// name.
  case bringBack(id: DocumentID)
  /// Removes a deleted note for good. Fails with `unknownDocument` if no such note was deleted.
  case remove(id: DocumentID)
  /// Removes at most `limit` notes for good that were deleted before a time, the oldest first.
  case removeOlder(than: Timestamp, limit: Int)

  /// Its traits.
  var traits: StoreTraits {
    switch self {
    case .list: .step
    case .bringBack(let id): .writing(id, changedNote: .broughtBack(id))
    case .remove(let id): .writing(id, locksNote: false)
    case .removeOlder: .writing()
    }
  }
}
