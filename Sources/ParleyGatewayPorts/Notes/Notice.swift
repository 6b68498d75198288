/// A notice: tells a person about something that another person did in a note.
///
/// A notice contains no text of notes or comments, so that it reveals nothing to a person who may
/// no longer read the note.
public struct Notice: Sendable, Equatable {
  /// The number, which the store assigns in ascending order; 0 before.
  public var number: Int
  /// The kind of action.
  public var kind: NoticeKind
  /// The note.
  public var note: DocumentID
  /// The comment that the notice is about; `nil` for a notice about the whole note.
  public var comment: CommentID?
  /// The first comment of its thread; `nil` for a notice about the whole note.
  public var thread: CommentID?
  /// The display name of the person who acted.
  public var author: String
  /// The time of the action.
  public var time: Timestamp
  /// Whether the person has read the notice.
  public var isRead: Bool

  /// Creates a notice.
  public init(
    number: Int = 0, kind: NoticeKind, note: DocumentID, comment: CommentID? = nil,
    thread: CommentID? = nil, author: String, time: Timestamp, isRead: Bool = false
  ) {
    self.number = number
    self.kind = kind
    self.note = note
    self.comment = comment
    self.thread = thread
    self.author = author
    self.time = time
    self.isRead = isRead
  }

  /// Maximum notices of a person. Beyond it, the oldest are removed.
  public static let countMax = 1_000
}

/// The kind of a notice.
public enum NoticeKind: Int, Sendable, Hashable, CaseIterable {
  /// A comment mentions the person.
  case mention = 1
  /// A comment answers a thread in which the person wrote.
  case answer = 2
  /// A thread in which the person wrote was resolved.
  case resolved = 3
  /// The person got a right to the note, by name.
  case shared = 4
  /// The text of a note changed.
  case changed = 5

  /// The name in JSON.
  public var word: String {
    switch self {
    case .mention: "mention"
    case .answer: "answer"
    case .resolved: "resolved"
    case .shared: "shared"
    case .changed: "changed"
    }
  }

  /// Whether one comment causes at most one such notice for a person. Of the other kinds, a person
  /// has at most one unread notice for each comment or note.
  public var isOncePerComment: Bool {
    switch self {
    case .mention, .answer: true
    case .resolved, .shared, .changed: false
    }
  }
}

/// A notice for several people, to be stored.
public struct NoticeDraft: Sendable, Equatable {
  /// The notice, the same for all.
  public var notice: Notice
  /// The people, each of them once.
  public var people: [PersonID]

  /// Creates a notice for people.
  public init(_ notice: Notice, for people: [PersonID]) {
    self.notice = notice
    self.people = people
  }

  /// Maximum people of one draft.
  public static let peopleMax = 50
}

/// A notice in a list, with the note's properties on which the right to read it depends.
public struct ListedNotice: Sendable, Equatable {
  /// The notice.
  public var notice: Notice
  /// The note's title.
  public var title: String
  /// The note's folder.
  public var folder: FolderPath
  /// The note's creation time.
  public var createdAt: Timestamp

  /// Creates a notice in a list.
  public init(_ notice: Notice, title: String, folder: FolderPath, createdAt: Timestamp) {
    self.notice = notice
    self.title = title
    self.folder = folder
    self.createdAt = createdAt
  }
}

/// The number of a person's unread notices about one note.
public struct UnreadNotices: Sendable, Hashable {
  /// The note.
  public var note: DocumentID
  /// The note's folder.
  public var folder: FolderPath
  /// The note's creation time.
  public var createdAt: Timestamp
  /// The number of unread notices.
  public var count: Int

  /// Creates the number for one note.
  public init(note: DocumentID, folder: FolderPath, createdAt: Timestamp, count: Int) {
    self.note = note
    self.folder = folder
    self.createdAt = createdAt
    self.count = count
  }
}
