/// The summary of a note in a list.
public struct NoteSummary: Sendable, Equatable {
  /// The note's id.
  public var id: DocumentID
  /// The title.
  public var title: String
  /// The newest durable revision.
  public var revision: Int
  /// The time of the note's creation.
  public var createdAt: Timestamp
  /// The time at which the text or the title last changed.
  public var updatedAt: Timestamp
  /// The folder that the note is in.
  public var folder: FolderPath
  /// The kind of the note.
  public var kind: NoteKind

  /// Creates a summary, by default of a plain note in no folder.
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

/// The sort key of a note in the list of all notes (the newest first) or of deleted notes (the
/// newest deletion first). Changing, moving or renaming the note does not change it.
public struct NoteSortKey: Sendable, Hashable {
  /// The time of the creation, or of the deletion.
  public var time: Timestamp
  /// The note's id. Of two notes with the same time, the one with the greater id comes first.
  public var id: DocumentID

  /// Creates the key of a time and an id.
  public init(time: Timestamp, id: DocumentID) {
    self.time = time
    self.id = id
  }

  /// Creates the key of a note.
  public init(_ note: NoteSummary) { self.init(time: note.createdAt, id: note.id) }

  /// Creates the key of a deleted note.
  public init(_ deleted: DeletedNote) {
    self.init(time: deleted.deletion.time, id: deleted.note.id)
  }

  /// Whether this key comes after another in the list.
  public func isAfter(_ other: Self) -> Bool {
    time == other.time ? id < other.id : time < other.time
  }
}
