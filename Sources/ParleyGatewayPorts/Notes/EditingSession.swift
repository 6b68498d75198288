public import OTCore

/// The changes of all people without a long pause between them.
public struct EditingSession: Sendable, Equatable {
  /// The part of a session that one person contributed.
  public struct Author: Sendable, Equatable {
    /// The display name.
    public var name: String
    /// The newest revision of this author in the session.
    public var lastRevision: Int
    /// The number of changes.
    public var changes: Int
    /// The number of Unicode scalars inserted.
    public var inserted: Int
    /// The number of Unicode scalars deleted.
    public var deleted: Int

    /// Creates an author's part of a session.
    public init(name: String, lastRevision: Int, changes: Int, inserted: Int, deleted: Int) {
      self.name = name
      self.lastRevision = lastRevision
      self.changes = changes
      self.inserted = inserted
      self.deleted = deleted
    }
  }

  /// The revision of the first change.
  public var firstRevision: Int
  /// The revision of the last change.
  public var lastRevision: Int
  /// The time at which the first change was accepted.
  public var firstTime: Timestamp
  /// The time at which the last change was accepted.
  public var lastTime: Timestamp
  /// The authors, ordered by their newest changes, the newest first.
  public var authors: [Author]

  /// Creates a session with its authors.
  public init(
    firstRevision: Int, lastRevision: Int, firstTime: Timestamp, lastTime: Timestamp,
    authors: [Author]
  ) {
    self.firstRevision = firstRevision
    self.lastRevision = lastRevision
    self.firstTime = firstTime
    self.lastTime = lastTime
    self.authors = authors
  }

  /// Adds a change that precedes the first one.
  ///
  /// - Parameter place: The author's index; the number of authors for a new author.
  fileprivate mutating func take(_ change: ChangeAmount, ofAuthor place: Int) {
    firstRevision = change.revision
    firstTime = change.time
    if place == authors.count {
      authors.append(
        Author(
          name: change.author, lastRevision: change.revision, changes: 0, inserted: 0, deleted: 0))
    }
    authors[place].changes += 1
    authors[place].inserted += change.inserted
    authors[place].deleted += change.deleted
  }
}

/// The number of scalars that a change inserts and deletes.
public struct ChangeAmount: Sendable, Equatable {
  /// The change's revision.
  public var revision: Int
  /// The author's display name.
  public var author: String
  /// The time at which the change was accepted.
  public var time: Timestamp
  /// The number of Unicode scalars inserted.
  public var inserted = 0
  /// The number of Unicode scalars deleted.
  public var deleted = 0

  /// Counts the scalars of a change.
  public init(revision: Int, author: String, time: Timestamp, _ operation: TextOperation) {
    self.revision = revision
    self.author = author
    self.time = time
    for component in operation.components {
      switch component {
      case .retain: break
      case .insert(let text): inserted += text.unicodeScalars.count
      case .delete(let count): deleted += count
      }
    }
  }
}

/// A page of a document's history in editing sessions, the newest first.
public struct EditingSessionPage: Sendable, Equatable {
  /// Maximum changes that are read for one page.
  public static let changesMax = 10_000
  /// Approximate maximum bytes of operations read for one page; a single change may exceed it.
  public static let bytesMax = 8 << 20

  /// The sessions, the newest first.
  public var sessions: [EditingSession]
  /// The document's newest revision.
  public var head: Int
  /// The oldest revision whose text is still known.
  public var oldest: Int
  /// Whether there are earlier sessions, or earlier changes of the last session.
  public var hasMore: Bool
  /// Whether the last session has earlier changes that were not read.
  public var isLastCut: Bool

  /// Creates a page of sessions.
  public init(
    sessions: [EditingSession], head: Int, oldest: Int, hasMore: Bool, isLastCut: Bool
  ) {
    self.sessions = sessions
    self.head = head
    self.oldest = oldest
    self.hasMore = hasMore
    self.isLastCut = isLastCut
  }

  /// Collects sessions from changes, the newest first.
  public struct Builder {
    private let limit: Int
    private let pause: Timestamp
    private var sessions: [EditingSession] = []
    /// The indices of the authors of the last session.
    private var authors: [ExactName: Int] = [:]
    private var count = 0
    private var isCut = false
    /// Whether the page has reached its limits, so that further changes are ignored.
    public private(set) var isFull = false

    /// - Parameters:
    ///   - limit: The maximum number of sessions; at least 1 is used.
    ///   - pause: The maximum pause within a session, in milliseconds.
    public init(limit: Int, pause: Timestamp) {
      self.limit = max(limit, 1)
      self.pause = pause
    }

    /// Adds the change that precedes the last added one, unless the page is full.
    public mutating func take(_ change: ChangeAmount) {
      guard !isFull else { return }
      let belongs = sessions.last.map { $0.firstTime - change.time <= pause } ?? false
      guard belongs ? count < changesMax : sessions.count < limit && count < changesMax else {
        isFull = true
        isCut = belongs
        return
      }
      count += 1
      if !belongs {
        authors = [:]
        sessions.append(
          EditingSession(
            firstRevision: change.revision, lastRevision: change.revision, firstTime: change.time,
            lastTime: change.time, authors: []))
      }
      let last = sessions.count - 1
      let place = authors[ExactName(change.author)] ?? sessions[last].authors.count
      authors[ExactName(change.author)] = place
      sessions[last].take(change, ofAuthor: place)
    }

    /// Returns the page so far.
    ///
    /// - Parameter nextTime: The time of the preceding change if it was not read; otherwise `nil`.
    public func page(head: Int, oldest: Int, nextTime: Timestamp? = nil) -> EditingSessionPage {
      var page = EditingSessionPage(
        sessions: sessions, head: head, oldest: oldest, hasMore: isFull, isLastCut: isCut)
      if !isFull, let nextTime {
        page.hasMore = true
        page.isLastCut = sessions.last.map { $0.firstTime - nextTime <= pause } ?? false
      }
      return page
    }
  }
}
