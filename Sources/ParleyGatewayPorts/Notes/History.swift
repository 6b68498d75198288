import OTCore
import ParleyJSON

/// A revision with a name that a person gave. A revision has at most one name.
public struct NamedVersion: Sendable, Equatable {
  /// The revision.
  public var revision: Int
  /// The name of the version.
  public var name: String
  /// The display name of the person who gave the name.
  public var author: String
  /// The time at which the name was given.
  public var time: Timestamp

  /// Creates a named version.
  public init(revision: Int, name: String, author: String, time: Timestamp) {
    self.revision = revision
    self.name = name
    self.author = author
    self.time = time
  }
}

/// A point in a document's history.
public enum HistoryPoint: Sendable, Equatable {
  /// The document at a revision; at the head if the revision is beyond it.
  case revision(Int)
  /// The document after the last entry that was accepted at or before a time.
  case time(Timestamp)
}

/// A document's content at a point in its history.
public struct HistoricText: Sendable, Equatable {
  /// The revision at that point.
  public var revision: Int
  /// The time of that revision; the note's creation for revision 0.
  public var time: Timestamp
  /// The content.
  public var content: NoteContent
  /// The authors of the text's parts, from its start to its end.
  public var authors: [AuthorRun]

  /// Creates the content at a revision.
  public init(revision: Int, time: Timestamp, content: NoteContent, authors: [AuthorRun]) {
    self.revision = revision
    self.time = time
    self.content = content
    self.authors = authors
  }

  /// The text.
  ///
  /// - Complexity: O(*n*).
  public var text: String { content.text.text }
}

/// A page of a document's history, in groups of entries.
public struct HistoryPage: Sendable, Equatable {
  /// The groups, oldest first.
  public var groups: [HistoryGroup]
  /// The document's newest revision.
  public var head: Int

  /// Creates a page of groups.
  public init(groups: [HistoryGroup], head: Int) {
    self.groups = groups
    self.head = head
  }

  /// Collects the groups of a page from entries.
  public struct Builder {
    private let limit: Int
    private let pause: Timestamp
    private var groups: [HistoryGroup] = []
    /// Whether the page has all its groups, including the whole last group.
    public private(set) var isFull = false

    /// - Parameters:
    ///   - limit: The maximum number of groups; at least 1 is used.
    ///   - pause: The maximum pause within a group, in milliseconds.
    public init(limit: Int, pause: Timestamp) {
      self.limit = max(limit, 1)
      self.pause = pause
    }

    /// Adds the entry that follows the last added one, unless the page is full.
    public mutating func take(_ entry: LogEntry) {
      guard !isFull else { return }
      let last = groups.count - 1
      if last >= 0, groups[last].take(entry, pause: pause) { return }
      guard groups.count < limit else {
        isFull = true
        return
      }
      groups.append(HistoryGroup(entry))
    }

    /// Returns the page so far.
    public func page(head: Int) -> HistoryPage { HistoryPage(groups: groups, head: head) }
  }
}

/// Entries of one author and client without a long pause between them.
public struct HistoryGroup: Sendable, Equatable {
  /// Maximum entries of one group. It bounds the cost of a page by its number of groups.
  public static let entriesMax = 256

  /// The revision of the first entry.
  public var firstRevision: Int
  /// The revision of the last entry.
  public var lastRevision: Int
  /// The client that sent the entries.
  public var client: String
  /// The author's display name.
  public var author: String
  /// The time at which the first entry was accepted.
  public var firstTime: Timestamp
  /// The time at which the last entry was accepted.
  public var lastTime: Timestamp
  /// The number of Unicode scalars inserted.
  public var inserted: Int
  /// The number of Unicode scalars deleted.
  public var deleted: Int

  /// Creates a group of one entry.
  public init(_ entry: LogEntry) {
    firstRevision = entry.revision
    lastRevision = entry.revision
    client = entry.client
    author = entry.author
    firstTime = entry.time
    lastTime = entry.time
    (inserted, deleted) = (0, 0)
    count(entry)
  }

  /// Adds an entry to the group if it belongs there.
  ///
  /// - Parameters:
  ///   - entry: The entry after the group's last.
  ///   - pause: The maximum pause within a group, in milliseconds.
  /// - Returns: Whether the entry was added.
  public mutating func take(_ entry: LogEntry, pause: Timestamp) -> Bool {
    guard entry.client.isExactly(client),
      entry.author.isExactly(author), entry.time - lastTime <= pause,
      lastRevision - firstRevision + 1 < Self.entriesMax
    else { return false }
    lastRevision = entry.revision
    lastTime = entry.time
    count(entry)
    return true
  }

  private mutating func count(_ entry: LogEntry) {
    for component in entry.operation.components {
      switch component {
      case .retain: break
      case .insert(let text): inserted += text.unicodeScalars.count
      case .delete(let count): deleted += count
      }
    }
  }
}
