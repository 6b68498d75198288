import OTCore

/// A revision to which a person gave a name. A revision has one name at most.
public struct NamedVersion: Sendable, Equatable {
  /// The revision.
  public var revision: Int
  /// The version's name, as given by a person.
  public var name: String
  /// The display name of the person who gave the name.
  public var author: String
  /// The time at which the name was given.
  public var time: Timestamp

  /// Makes a named version.
  public init(revision: Int, name: String, author: String, time: Timestamp) {
    self.revision = revision
    self.name = name
    self.author = author
    self.time = time
  }
}

/// A moment in a document's history.
public enum HistoryPoint: Sendable, Equatable {
  /// The document after this revision; the head, if there is no such revision yet.
  case revision(Int)
  /// The document after the last entry that was accepted not later than this.
  case time(Timestamp)
}

/// A document's content at a moment of its history.
public struct HistoricText: Sendable, Equatable {
  /// The revision that it was then.
  public var revision: Int
  /// The time of that revision; the note's creation for revision 0.
  public var time: Timestamp
  /// The content.
  public var content: NoteContent
  /// The authors of the text's parts, from its start to its end.
  public var authors: [AuthorRun]

  /// Makes a historic text.
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

/// A part of a document's history, in groups.
public struct HistoryPage: Sendable, Equatable {
  /// The groups, oldest first.
  public var groups: [HistoryGroup]
  /// The document's newest revision.
  public var head: Int

  /// Makes a page.
  public init(groups: [HistoryGroup], head: Int) {
    self.groups = groups
    self.head = head
  }

  /// Collects groups from entries, as many as a page may have.
  public struct Builder {
    private let limit: Int
    private let pause: Timestamp
    private var groups: [HistoryGroup] = []
    /// Whether the page has all its groups, the last one whole.
    public private(set) var isFull = false

    /// - Parameters:
    ///   - limit: Groups at most; at least one.
    ///   - pause: The longest pause within a group, in milliseconds.
    public init(limit: Int, pause: Timestamp) {
      self.limit = max(limit, 1)
      self.pause = pause
    }

    /// Takes the entry after the last one, unless the page is full.
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

    /// The page so far.
    public func page(head: Int) -> HistoryPage { HistoryPage(groups: groups, head: head) }
  }
}

/// Entries of one author that follow one another without a long pause.
public struct HistoryGroup: Sendable, Equatable {
  /// Entries of one group, at most, so that a page costs what its number of groups says.
  public static let entriesMax = 256

  /// The first entry's revision.
  public var firstRevision: Int
  /// The last entry's revision.
  public var lastRevision: Int
  /// The client they came from.
  public var client: String
  /// The author's name as shown to people.
  public var author: String
  /// The time at which the first was accepted.
  public var firstTime: Timestamp
  /// The time at which the last was accepted.
  public var lastTime: Timestamp
  /// The number of Unicode scalars inserted.
  public var inserted: Int
  /// The number of Unicode scalars deleted.
  public var deleted: Int

  /// Makes a group of one entry.
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

  /// Takes the entry into the group, if it belongs there.
  ///
  /// - Parameters:
  ///   - entry: The entry after the group's last.
  ///   - pause: The longest pause within a group, in milliseconds.
  /// - Returns: Whether it was taken.
  public mutating func take(_ entry: LogEntry, pause: Timestamp) -> Bool {
    guard ExactName(entry.client) == ExactName(client),
      ExactName(entry.author) == ExactName(author), entry.time - lastTime <= pause,
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
