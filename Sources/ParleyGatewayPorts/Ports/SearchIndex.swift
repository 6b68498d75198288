/// An index of the words of notes, beside the store, from which it can be rebuilt at any time.
///
/// It has one owner and one thread. It knows neither rights nor recent deletions: its caller checks both.
public protocol SearchIndex: AnyObject {
  /// The state of each of some notes; `nil` for one that is not in the index.
  func states(of ids: [DocumentID]) throws(StoreError) -> [IndexedState?]

  /// The ids of notes in the index, in an order of its own, those after one or the first.
  func ids(after id: DocumentID?, limit: Int) throws(StoreError) -> [DocumentID]

  /// Adds a note, in place of its former state there.
  ///
  /// - Returns: Whether its tags have changed.
  /// - Complexity: O(*n*) for the note's old and new text, and amortised logarithmic in the index.
  @discardableResult
  func put(_ note: IndexedNote) throws(StoreError) -> Bool

  /// Removes notes, if they are there.
  func remove(_ ids: [DocumentID]) throws(StoreError)

  /// Finds the notes with all terms of a query, best first.
  func find(
    _ query: SearchQuery, skipping count: Int, limit: Int
  ) throws(StoreError) -> [DocumentID]

  /// Finds the notes with a tag, those that were changed last first.
  func find(tag: String, skipping count: Int, limit: Int) throws(StoreError) -> [DocumentID]

  /// Lists tags with their notes, in the order of both, those after a place or the first.
  func tags(after place: TaggedNote?, limit: Int) throws(StoreError) -> [TaggedNote]

  /// The tags of one note, in the order of their bytes; none if it is not in the index.
  func tags(of id: DocumentID) throws(StoreError) -> [String]

  /// The indexed text of a note; `nil` if it is not in the index.
  func text(of id: DocumentID) throws(StoreError) -> String?

  /// Removes all notes.
  func clear() throws(StoreError)

  /// Checks that there is room to write: an index, which can be rebuilt, leaves the last of a disk to the
  /// store.
  ///
  /// - Throws: `unavailable` if there is not.
  func checkRoom() throws(StoreError)

  /// Does housekeeping that no caller waits for.
  func upkeep()

  /// Whether other nodes put notes into it, too.
  var isShared: Bool { get }
}

extension SearchIndex {
  /// Finds room: the disk is another machine's.
  public func checkRoom() throws(StoreError) {}

  /// Does nothing.
  public func upkeep() {}

  /// An index with one owner.
  public var isShared: Bool { false }
}

/// The state of a note in an index.
public struct IndexedState: Sendable, Equatable {
  /// The revision of the text.
  public var revision: Int
  /// The time at which text or title last changed.
  public var updatedAt: Timestamp
  /// The time of the note's creation: another note may have its id by now.
  public var createdAt: Timestamp

  /// Makes a state.
  public init(revision: Int, updatedAt: Timestamp, createdAt: Timestamp) {
    self.revision = revision
    self.updatedAt = updatedAt
    self.createdAt = createdAt
  }

  /// The state of a note.
  public init(_ note: NoteSummary) {
    self.init(revision: note.revision, updatedAt: note.updatedAt, createdAt: note.createdAt)
  }
}

/// A note for an index.
public struct IndexedNote: Sendable, Equatable {
  /// The note's name.
  public var id: DocumentID
  /// The title.
  public var title: String
  /// The text.
  public var text: String
  /// The state of both.
  public var state: IndexedState

  /// Makes a note.
  public init(id: DocumentID, title: String, text: String, state: IndexedState) {
    self.id = id
    self.title = title
    self.text = text
    self.state = state
  }
}

/// A tag of a note.
public struct TaggedNote: Sendable, Equatable {
  /// The tag, in the form of ``NoteTags``.
  public var tag: String
  /// The note.
  public var id: DocumentID

  /// Names a tag of a note.
  public init(tag: String, id: DocumentID) {
    self.tag = tag
    self.id = id
  }
}

/// A tag with its notes.
public struct TagCount: Sendable, Equatable {
  /// The tag.
  public var tag: String
  /// The number of counted notes with the tag.
  public var notes: Int

  /// Counts notes.
  public init(tag: String, notes: Int) {
    self.tag = tag
    self.notes = notes
  }
}

/// A search, in two steps; rights are checked between them.
public enum SearchRequest: Sendable, Equatable {
  /// Finds the ids of notes, best first, with their folders if they are wanted.
  case find(SearchQuery, skipping: Int, limit: Int, withFolders: Bool = false)
  /// Finds the ids of notes with a tag, those that were changed last first, as ``find``.
  case tagged(String, skipping: Int, limit: Int, withFolders: Bool = false)
  /// Counts the notes of each tag, among the notes that count.
  case tags(FolderCounting)
  /// Finds the places of a query's words in some notes. Notes that are gone by now are left out.
  case places(SearchQuery, [DocumentID])
}

/// The reply to one step of a search.
public enum SearchReply: Sendable, Equatable {
  /// The ids of notes, best first, and the folders in which they are now, if they are wanted; `nil` for a note
  /// that is gone.
  case ids([DocumentID], folders: [FolderPath?] = [])
  /// Tags with at least one note, those with the most first, and whether some were not looked at.
  case tags([TagCount], isCut: Bool)
  /// Notes with their places, in the order in which they were asked for.
  case hits([SearchHit])
  /// The step failed.
  case failed(StoreError)
  /// The step was not begun, for too many searches wait.
  case busy
}

/// A note that was found.
public struct SearchHit: Sendable, Equatable {
  /// The note as it is now.
  public var note: NoteSummary
  /// The words in its title, as ranges of scalars.
  public var titleMarks: [Range<Int>]
  /// The place in its text, as it was when the note last rested.
  public var place: SearchPlace

  /// Makes a hit.
  public init(note: NoteSummary, titleMarks: [Range<Int>], place: SearchPlace) {
    self.note = note
    self.titleMarks = titleMarks
    self.place = place
  }
}

/// A change of a note that concerns search.
public enum SearchedChange: Sendable, Equatable {
  /// Its text or title changed: more may follow.
  case edited(DocumentID)
  /// It is gone.
  case removed(DocumentID)
  /// It is there, whole.
  case broughtBack(DocumentID)

  /// Whether it is a change of text or title, after which more may follow.
  public var isEdit: Bool { if case .edited = self { true } else { false } }
}
