/// A full-text index of notes, separate from the store, from which it can be rebuilt at any time.
///
/// It has one owner and one thread. Its caller checks rights and recent deletions.
public protocol SearchIndex: AnyObject {
  /// Returns the indexed state of each note; `nil` for a note that is not indexed.
  func states(of ids: [DocumentID]) throws(StoreError) -> [IndexedState?]

  /// Lists the ids of indexed notes, after an id or from the first. The index defines the order.
  func ids(after id: DocumentID?, limit: Int) throws(StoreError) -> [DocumentID]

  /// Adds a note, or replaces its earlier state.
  ///
  /// - Returns: Whether the note's tags have changed.
  /// - Complexity: O(*n*) in the note's old and new text, and amortised logarithmic in the index.
  @discardableResult
  func put(_ note: IndexedNote) throws(StoreError) -> Bool

  /// Removes notes. Notes that are not indexed are ignored.
  func remove(_ ids: [DocumentID]) throws(StoreError)

  /// Finds the notes that contain all terms of a query, best first.
  func find(
    _ query: SearchQuery, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID]

  /// Finds the notes with a tag, the most recently changed first.
  func find(tag: String, skipping count: Int, limit: Int) throws(StoreError) -> [DocumentID]

  /// Lists pairs of a tag and a note, sorted by tag and note, after a pair or from the first.
  func tags(after place: TaggedNote?, limit: Int) throws(StoreError) -> [TaggedNote]

  /// Returns the tags of one note, sorted by their bytes; empty for a note that is not indexed.
  func tags(of id: DocumentID) throws(StoreError) -> [String]

  /// Returns the indexed text of a note; `nil` for a note that is not indexed.
  func text(of id: DocumentID) throws(StoreError) -> String?

  /// Removes all notes.
  func clear() throws(StoreError)

  /// Checks that the disk has room. An index can be rebuilt, so it leaves the last space to the
  /// store.
  ///
  /// - Throws: `unavailable` if the disk is too full.
  func checkRoom() throws(StoreError)

  /// Performs housekeeping that no caller waits for.
  func upkeep()

  /// Whether other nodes also write to the index.
  var isShared: Bool { get }
}

extension SearchIndex {
  /// Returns without an error: by default, the disk belongs to another machine.
  public func checkRoom() throws(StoreError) {}

  /// Does nothing.
  public func upkeep() {}

  /// The default: the index has one owner.
  public var isShared: Bool { false }
}

/// The state of a note in an index.
public struct IndexedState: Sendable, Equatable {
  /// The revision of the indexed text.
  public var revision: Int
  /// The time at which the text or the title last changed.
  public var updatedAt: Timestamp
  /// The note's creation time, which distinguishes the note from a later one with the same id.
  public var createdAt: Timestamp

  /// Creates the state of an indexed note.
  public init(revision: Int, updatedAt: Timestamp, createdAt: Timestamp) {
    self.revision = revision
    self.updatedAt = updatedAt
    self.createdAt = createdAt
  }

  /// Creates the state of a note from its summary.
  public init(_ note: NoteSummary) {
    self.init(revision: note.revision, updatedAt: note.updatedAt, createdAt: note.createdAt)
  }
}

/// A note to be indexed.
public struct IndexedNote: Sendable, Equatable {
  /// The note's id.
  public var id: DocumentID
  /// The title.
  public var title: String
  /// The text.
  public var text: String
  /// The state of title and text.
  public var state: IndexedState

  /// Creates a note to be indexed.
  public init(id: DocumentID, title: String, text: String, state: IndexedState) {
    self.id = id
    self.title = title
    self.text = text
    self.state = state
  }
}

/// A pair of a tag and a note that contains it.
public struct TaggedNote: Sendable, Equatable {
  /// The tag, normalised as by ``NoteTags``.
  public var tag: String
  /// The note.
  public var id: DocumentID

  /// Creates a pair of a tag and a note.
  public init(tag: String, id: DocumentID) {
    self.tag = tag
    self.id = id
  }
}

/// A tag, and the number of its notes.
public struct TagCount: Sendable, Equatable {
  /// The tag.
  public var tag: String
  /// The number of counted notes with the tag.
  public var notes: Int

  /// Creates the count of a tag.
  public init(tag: String, notes: Int) {
    self.tag = tag
    self.notes = notes
  }
}

/// A step of a search. A search has two steps, and rights are checked between them.
public enum SearchRequest: Sendable, Equatable {
  /// Finds the ids of notes, best first, with their folders on request.
  case find(SearchQuery, skipping: Int, limit: Int, withFolders: Bool = false)
  /// Finds the ids of notes with a tag, recently changed ones first, with their folders on request.
  case tagged(String, skipping: Int, limit: Int, withFolders: Bool = false)
  /// Counts the notes of each tag, among the notes that the caller may read.
  case tags(FolderCounting)
  /// Finds the passages with a query's words in some notes. Notes that no longer exist are omitted.
  case places(SearchQuery, [DocumentID])
}

/// The reply to one step of a search.
public enum SearchReply: Sendable, Equatable {
  /// The ids of the found notes, in order, and on request their current folders; `nil` for a note
  /// that no longer exists.
  case ids([DocumentID], folders: [FolderPath?] = [])
  /// Tags with at least one note, sorted by count, descending. `isCut`: some tags were not checked.
  case tags([TagCount], isCut: Bool)
  /// Notes with their passages, in the order of the request.
  case hits([SearchHit])
  /// The step failed.
  case failed(StoreError)
  /// The step was rejected because too many searches were waiting.
  case busy
}

/// A note that a search has found.
public struct SearchHit: Sendable, Equatable {
  /// The note as it is now.
  public var note: NoteSummary
  /// The matches in the title, as ranges of Unicode scalars.
  public var titleMarks: [Range<Int>]
  /// The passage of the indexed text, which may be slightly older than the note.
  public var place: SearchPassage

  /// Creates a hit with a passage of the note's text.
  public init(note: NoteSummary, titleMarks: [Range<Int>], place: SearchPassage) {
    self.note = note
    self.titleMarks = titleMarks
    self.place = place
  }
}

/// A change of a note that the index has to apply.
public enum SearchedChange: Sendable, Equatable {
  /// The text or the title was edited; more edits may follow.
  case edited(DocumentID)
  /// The note was deleted.
  case removed(DocumentID)
  /// The deleted note was restored.
  case broughtBack(DocumentID)

  /// Whether the change is an edit, after which more edits may follow.
  public var isEdit: Bool { if case .edited = self { true } else { false } }
}
