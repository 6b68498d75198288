/// The deletion of a note that can be restored.
public struct Deletion: Sendable, Hashable {
  /// The time of the deletion.
  public var time: Timestamp
  /// The display name of the person who deleted the note.
  public var author: String

  /// Creates a deletion by a person at a time.
  public init(time: Timestamp, author: String) {
    self.time = time
    self.author = author
  }
}

/// A deleted note that can be restored with its whole log.
public struct DeletedNote: Sendable, Equatable {
  /// The note before its deletion.
  public var note: NoteSummary
  /// The deletion of the note.
  public var deletion: Deletion

  /// Creates a deleted note with its summary before the deletion.
  public init(note: NoteSummary, deletion: Deletion) {
    self.note = note
    self.deletion = deletion
  }
}

/// A request about deleted notes. Their ids are free: a new note may use one, and be deleted too.
/// Of several deleted notes with one id, the newest is used.
public enum DeletedRequest: Sendable {
  /// Lists deleted notes in the order of ``NoteSortKey``: at most `limit`, from the first or after
  /// one.
  case list(after: NoteSortKey?, limit: Int)
  /// Restores a note with its log and epoch, so that a client that was offline can continue. Fails
  /// with `unknownDocument` if no deleted note has the id, with `exists` if another note has it.
  case bringBack(id: DocumentID)
  /// Removes a deleted note permanently. Fails with `unknownDocument` if it does not exist.
  case remove(id: DocumentID)
  /// Permanently removes at most `limit` notes that were deleted before a time, the oldest first.
  case removeOlder(than: Timestamp, limit: Int)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .list: .step
    case .bringBack(let id): .writing(id, changedNote: .broughtBack(id))
    case .remove(let id): .writing(id, locksNote: false)
    case .removeOlder: .writing()
    }
  }
}
