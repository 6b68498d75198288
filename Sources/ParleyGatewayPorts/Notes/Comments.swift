public import OTCore

/// The id of a comment, minted by the server; it names one comment of its note.
public typealias CommentID = String

/// A range of a note's text at a revision. Edits move it.
public struct CommentAnchor: Sendable, Hashable {
  /// The revision of the text.
  public var revision: Int
  /// The start of the range, in Unicode scalars.
  public var start: Int
  /// The end of the range, in Unicode scalars.
  public var end: Int

  /// Makes an anchor.
  public init(revision: Int, start: Int, end: Int) {
    self.revision = revision
    self.start = start
    self.end = end
  }

  /// Whether the text of the range was deleted. A deleted range stays deleted.
  public var isGone: Bool { start >= end }

  /// Moves the range over the operation that makes the next revision, as carets move.
  ///
  /// The start moves as an author's own caret and the end as another author's, so that text inserted at an
  /// edge stays outside, and text inserted between them belongs to the range.
  ///
  /// - Complexity: O(components before the end).
  public mutating func pass(_ operation: TextOperation) {
    revision += 1
    let first = Cursor.transformed(start, over: operation, own: true)
    end = Cursor.transformed(end, over: operation, own: false)
    start = min(first, end)
  }
}

/// A remark on a range of a note, or an answer to one.
///
/// The first comment of a thread has an origin and an anchor; answers share its place.
public struct Comment: Sendable, Equatable {
  /// The id.
  public var id: CommentID
  /// The first comment of the thread that it answers in; `nil` for a first comment.
  public var thread: CommentID?
  /// The author's name as shown to people.
  public var author: String
  /// The author, who alone may edit it; `nil` for a guest, who cannot be told from other guests.
  public var person: PersonID?
  /// The text.
  public var text: String
  /// The time at which it was made.
  public var createdAt: Timestamp
  /// The time of its last edit.
  public var editedAt: Timestamp?
  /// The end of its thread's discussion; `nil` for an open thread, and for answers.
  public var resolution: Resolution?
  /// Whether it was deleted, and stays for the sake of its answers, without its text and author.
  public var isWithdrawn = false
  /// The range it was made on; `nil` for answers.
  public var origin: Origin?
  /// The same range, at a later revision; `nil` for answers.
  public var anchor: CommentAnchor?

  /// The end of a discussion.
  public struct Resolution: Sendable, Equatable {
    /// The name of the person who ended it.
    public var author: String
    /// The time.
    public var time: Timestamp

    /// Makes a resolution.
    public init(author: String, time: Timestamp) {
      self.author = author
      self.time = time
    }
  }

  /// The range that a comment was made on. It stays as it was.
  public struct Origin: Sendable, Equatable {
    /// The epoch of the note's log at that time.
    public var epoch: String
    /// The range.
    public var anchor: CommentAnchor
    /// The beginning of the range's text.
    public var quote: String

    /// Makes an origin.
    public init(epoch: String, anchor: CommentAnchor, quote: String) {
      self.epoch = epoch
      self.anchor = anchor
      self.quote = quote
    }
  }

  /// Makes a comment.
  public init(
    id: CommentID, thread: CommentID? = nil, author: String, person: PersonID?, text: String,
    createdAt: Timestamp, origin: Origin? = nil, anchor: CommentAnchor? = nil
  ) {
    self.id = id
    self.thread = thread
    self.author = author
    self.person = person
    self.text = text
    self.createdAt = createdAt
    self.origin = origin
    self.anchor = anchor
  }

  /// Scalars of a quote: a longer range is quoted by its beginning.
  public static let quoteScalarsMax = 400

  /// Whether it comes before another in the list: by time, then by id, byte by byte.
  public func precedes(_ other: Self) -> Bool {
    createdAt == other.createdAt
      ? id.utf8.lexicographicallyPrecedes(other.id.utf8) : createdAt < other.createdAt
  }

  /// Whether a person is its author.
  public func isOf(_ person: PersonID?) -> Bool {
    guard let own = self.person, let person else { return false }
    return own.utf8.elementsEqual(person.utf8)
  }
}

/// Work with the comments of a note. A deleted note that is kept has its comments, and is restored with
/// them.
public struct CommentRequest: Sendable {
  /// The note.
  public var note: DocumentID
  /// The work.
  public var work: Work

  /// Makes a request.
  public init(note: DocumentID, _ work: Work) {
    self.note = note
    self.work = work
  }

  /// A piece of work.
  public enum Work: Sendable {
    /// Lists all comments, the oldest first, with their ranges at a revision, or at the head. Ranges of later
    /// comments are given at the revisions they have. There may be no such revision yet.
    case list(at: Int?)
    /// Finds the text of a range, and the same range at the head. With an epoch, the range has to be of it.
    case quote(epoch: String?, CommentAnchor)
    /// Keeps a comment, unless the note has `countMax` comments.
    case add(Comment, countMax: Int)
    /// Replaces the text of a comment, for its author.
    case edit(CommentID, text: String, by: ChangeActor, time: Timestamp)
    /// Ends the discussion of a thread, or begins it again.
    case resolve(CommentID, Bool, by: ChangeActor, time: Timestamp)
    /// Removes a comment, for its author or a manager of the note. With answers it stays, withdrawn.
    case remove(CommentID, by: ChangeActor)
  }

  /// Its traits.
  public var traits: StoreTraits {
    switch work {
    case .list, .quote: .aside(note)
    case .add(let comment, _):
      .writing(
        note,
        textByteCount: comment.text.utf8.count + (comment.origin?.quote.utf8.count ?? 0))
    case .edit(_, let text, _, _): .writing(note, textByteCount: text.utf8.count)
    case .resolve, .remove: .writing(note)
    }
  }
}

/// All comments of a note.
public struct CommentList: Sendable, Equatable {
  /// The epoch of the note's log.
  public var epoch: String
  /// The revision of the ranges.
  public var revision: Int
  /// The folder that the note is in, by which the caller may have rights.
  public var folder: FolderPath
  /// The comments, the oldest first.
  public var comments: [Comment]

  /// Makes a list.
  public init(epoch: String, revision: Int, folder: FolderPath, comments: [Comment]) {
    self.epoch = epoch
    self.revision = revision
    self.folder = folder
    self.comments = comments
  }
}

/// The reply to a request about comments.
public enum CommentReply: Sendable, Equatable {
  /// The comments.
  case list(CommentList)
  /// The text of a range in this epoch, and the range at the head.
  case quoted(epoch: String, quote: String, CommentAnchor)
  /// The comment as it is now.
  case kept(Comment)
  /// The comment was so already.
  case unchanged(Comment)
  /// The comment is gone.
  case removed(Comment)
  /// The range is not one of the text, which has so many Unicode scalars at its revision.
  case badRange(length: Int)
  /// The log has no such revision yet.
  case futureRevision(head: Int)
  /// The log has another epoch.
  case otherEpoch
  /// No comment has this id, or none that the work is for.
  case unknownComment
  /// The comment is another user's.
  case notOwn
  /// The note has as many comments as there may be.
  case full(count: Int)

  /// Whether the store has changed.
  public var isDone: Bool {
    switch self {
    case .kept, .removed: true
    case .list, .quoted, .unchanged, .badRange, .futureRevision, .otherEpoch, .unknownComment,
      .notOwn, .full:
      false
    }
  }
}
