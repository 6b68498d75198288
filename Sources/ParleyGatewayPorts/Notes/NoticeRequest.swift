/// The bounds of all notices. Beyond them, the oldest are removed.
public struct NoticeRule: Sendable, Hashable {
  /// Milliseconds for which notices are stored.
  public var milliseconds: Int64
  /// Approximate maximum number of all notices.
  public var countMax: Int

  /// Creates the bounds; by default half a year and a million notices.
  public init(milliseconds: Int64 = 180 * 86_400_000, countMax: Int = 1_000_000) {
    self.milliseconds = milliseconds
    self.countMax = countMax
  }
}

/// A choice among a person's notices.
public enum NoticeChoice: Sendable, Hashable {
  /// The notice with a number.
  case one(Int)
  /// All notices about a note, up to a number.
  case ofNote(DocumentID, through: Int)
  /// All notices up to a number.
  case all(through: Int)
}

/// A request about notices.
///
/// Notices about deleted notes are not listed or counted. They are there again when the note is
/// restored, and are removed with its last rows.
public enum NoticeRequest: Sendable {
  /// Adds notices that do not result from another change of the store. Without effect if there is
  /// no such note.
  case add(NoticeDraft)
  /// Reads a person's notices before a number, the newest first.
  case list(PersonID, before: Int?, limit: Int)
  /// Counts a person's unread notices for each note.
  case unread(PersonID)
  /// Marks notices of a person as read.
  case read(PersonID, NoticeChoice)
  /// Reads the place of a note, and the writers of a thread if one is given, for choosing the
  /// people who get a notice.
  case audience(note: DocumentID, thread: CommentID?)
  /// Removes a person's notices, at most `limit`.
  case remove(of: PersonID, limit: Int)
  /// Removes notices beyond the bounds, at most `limit` for each bound.
  case trim(NoticeRule, now: Timestamp, limit: Int)

  /// The request's traits.
  var traits: StoreTraits {
    switch self {
    case .add(let draft): .writing(draft.notice.note, textByteCount: draft.byteCount)
    case .list, .unread: .aside()
    case .audience(let note, _): .aside(note)
    case .read, .remove, .trim: .writing()
    }
  }
}

extension NoticeDraft {
  /// The approximate bytes of the draft.
  var byteCount: Int { 64 * people.count + notice.author.utf8.count }
}

/// The reply to a request about notices.
public enum NoticeReply: Sendable, Equatable {
  /// The notices were added.
  case added
  /// Notices, the newest first. `next` is the number before which the next page starts; `nil` at
  /// the end.
  case list([ListedNotice], next: Int?)
  /// The numbers of unread notices, unordered, one for each note that has any.
  case unread([UnreadNotices])
  /// The number of notices that were unread before.
  case marked(Int)
  /// The place of the note, and the writers of the thread, unordered, each of them once.
  case audience(folder: FolderPath, createdAt: Timestamp, writers: [PersonID])
  /// Notices were removed. More of them may remain.
  case removed(hasMore: Bool)
}

extension StoreReply {
  /// Whether the work has changed the store, so that the notices about it are added.
  public var causesNotices: Bool {
    switch self {
    case .comments(let reply): reply.isDone
    default: isDone
    }
  }
}
