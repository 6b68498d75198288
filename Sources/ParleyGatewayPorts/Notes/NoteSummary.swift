/// The summary of a note in a list.
public struct NoteSummary: Sendable, Equatable {
  /// The document's name.
  public var id: DocumentID
  /// The title shown to people.
  public var title: String
  /// The durable revision.
  public var revision: Int
  /// The time of the note's creation.
  public var createdAt: Timestamp
  /// The time at which text or title last changed.
  public var updatedAt: Timestamp
  /// The folder that the note is in.
  public var folder: FolderPath
  /// The kind of the note.
  public var kind: NoteKind

  /// Makes a summary.
  public init(
    id: DocumentID, title: String, revision: Int, createdAt: Timestamp, updatedAt: Timestamp,
    folder: FolderPath = .none, kind: NoteKind = .plain
  ) {
    self.id = id
    self.title = title
    self.revision = revision
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.folder = folder
    self.kind = kind
  }
}

/// A note's place among all notes, ordered by their creation, the newest first; or a deleted note's among
/// those, the newest deletion first. It stays the same while the note is changed, moved or renamed.
public struct NotePlace: Sendable, Hashable {
  /// The time of the note's creation, or of its deletion.
  public var time: Timestamp
  /// Its name: of two of one time, the greater name comes first, byte by byte.
  public var id: DocumentID

  /// Names a place.
  public init(time: Timestamp, id: DocumentID) {
    self.time = time
    self.id = id
  }

  /// The place of a note.
  public init(_ note: NoteSummary) { self.init(time: note.createdAt, id: note.id) }

  /// The place of a deleted note.
  public init(_ deleted: DeletedNote) {
    self.init(time: deleted.deletion.time, id: deleted.note.id)
  }

  /// Whether this place comes after another.
  public func isAfter(_ other: Self) -> Bool {
    time == other.time ? id < other.id : time < other.time
  }
}
