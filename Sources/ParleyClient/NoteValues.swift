/// A note as the server lists it. Times are in milliseconds since 1970.
public struct NoteInfo: Sendable, Hashable, Codable, Identifiable {
  /// The id.
  public let id: String
  /// The title.
  public let title: String
  /// The newest revision.
  public let revision: Int64
  /// The time of creation.
  public let createdAt: Int64
  /// The time of the newest change.
  public let updatedAt: Int64
  /// The folder, such as `team/minutes`; `nil` if the note is in none.
  public let folder: String?
  /// The rights of this person, in lists: `read`, `write`, `presence`, `manage`, `comment`.
  public let may: [String]?
}

/// A page of a list of notes.
public struct NotePage: Sendable, Hashable, Codable {
  /// The notes.
  public let notes: [NoteInfo]
  /// The position after which the next page begins; `nil` on the last page.
  public let next: String?
  /// Whether this person may create notes.
  public let mayCreate: Bool?
}

/// A note that a search has found.
public struct FoundNote: Sendable, Hashable, Codable, Identifiable {
  /// A part of the note's text.
  public struct Place: Sendable, Hashable, Codable {
    /// The part, in one line.
    public let text: String
    /// The position of its first scalar in the note.
    public let start: Int
    /// The found words, in scalars of the part.
    public let marks: [Mark]
  }

  /// A range of scalars.
  public struct Mark: Sendable, Hashable, Codable {
    /// The first scalar.
    public let from: Int
    /// The first scalar after the range.
    public let to: Int
  }

  /// The id.
  public let id: String
  /// The title.
  public let title: String
  /// The found words of the title.
  public let titleMarks: [Mark]
  /// The part of the text with the words.
  public let place: Place
}

/// A deleted note that can be restored. Times are in milliseconds since 1970.
public struct DeletedNote: Sendable, Hashable, Codable, Identifiable {
  /// The id.
  public let id: String
  /// The title.
  public let title: String
  /// The time at which it was deleted.
  public let deletedAt: Int64
  /// The person who deleted it.
  public let deletedBy: String?
  /// The time at which the server removes it; `nil` if it does not.
  public let removedAt: Int64?
}

/// A page of the deleted notes.
public struct DeletedPage: Sendable, Hashable, Codable {
  /// The notes.
  public let notes: [DeletedNote]
  /// The position after which the next page begins; `nil` on the last page.
  public let next: String?
}

/// A link that opens a note.
public struct NoteLink: Sendable, Hashable, Codable, Identifiable {
  /// The rights of a link's holders.
  public enum Access: String, Sendable, Hashable, Codable {
    /// They may read.
    case read
    /// They may read and comment.
    case comment
    /// They may read and write.
    case write
  }

  /// The id.
  public let id: String
  /// The path that is appended to the server's address; `nil` for a link with more rights than this
  /// person has.
  public let path: String?
  /// The rights of its holders.
  public let access: Access
  /// The time at which it ends, in milliseconds since 1970.
  public let expiresAt: Int64
}

/// A note's text at a revision.
public struct NoteText: Sendable, Hashable, Codable {
  /// The revision.
  public let revision: Int64
  /// The text.
  public let text: String
}

/// A page of a note's history, the newest editing session first.
public struct NoteHistory: Sendable, Hashable, Codable {
  /// The changes of all people without a pause of more than five minutes.
  public struct Session: Sendable, Hashable, Codable {
    /// The revision of the first change.
    public let firstRevision: Int64
    /// The revision of the last change.
    public let lastRevision: Int64
    /// The time of the first change, in milliseconds since 1970.
    public let firstTime: Int64
    /// The time of the last change.
    public let lastTime: Int64
    /// The people who made changes.
    public let authors: [Author]
  }

  /// The changes of a person in a session.
  public struct Author: Sendable, Hashable, Codable {
    /// The person's name.
    public let author: String
    /// The number of changes.
    public let changes: Int
    /// The number of inserted scalars.
    public let inserted: Int
    /// The number of deleted scalars.
    public let deleted: Int
  }

  /// The newest revision.
  public let head: Int64
  /// The oldest revision whose text is stored.
  public let oldest: Int64
  /// The sessions.
  public let sessions: [Session]
  /// The revision before which the next page begins; `nil` on the last page.
  public let before: Int64?
}

/// A part of the difference between two revisions: one of the three is set.
public struct NoteDifference: Sendable, Hashable, Codable {
  /// The number of scalars that are the same.
  public let kept: Int?
  /// A text that is in the older revision only.
  public let deleted: String?
  /// A text that is in the newer revision only.
  public let inserted: String?
  /// The person who wrote the inserted text.
  public let author: String?
}

/// A named revision of a note.
public struct NoteVersion: Sendable, Hashable, Codable {
  /// The revision.
  public let revision: Int64
  /// The name.
  public let name: String
  /// The person who named it.
  public let author: String?
  /// The time at which it was named, in milliseconds since 1970.
  public let time: Int64
}

/// A comment on a part of a note, or an answer to one.
public struct NoteComment: Sendable, Hashable, Codable, Identifiable {
  /// A range of scalars of the note's text at a revision.
  public struct Place: Sendable, Hashable, Codable {
    /// The revision.
    public let revision: Int64
    /// The first scalar.
    public let from: Int
    /// The first scalar after the range.
    public let to: Int
  }

  /// The person who has resolved a thread, and the time.
  public struct Resolution: Sendable, Hashable, Codable {
    /// The person's name.
    public let by: String
    /// The time, in milliseconds since 1970.
    public let at: Int64
  }

  /// The id.
  public let id: String
  /// The author's name; `nil` if the comment was deleted.
  public let author: String?
  /// Whether it is this person's.
  public let mine: Bool?
  /// The text; `nil` if the comment was deleted.
  public let text: String?
  /// The time of creation, in milliseconds since 1970.
  public let createdAt: Int64
  /// The first comment of the thread, for an answer.
  public let thread: String?
  /// The current range; `nil` for an answer, and if its text was deleted.
  public let place: Place?
  /// Set if the thread is resolved.
  public let resolved: Resolution?
}

/// A file of a note.
public struct NoteFile: Sendable, Hashable, Codable {
  /// The SHA-256 of its content.
  public let hash: String
  /// The name.
  public let name: String
  /// The number of bytes.
  public let bytes: Int
  /// The address by which the note's text refers to it, `files/…`.
  public let path: String
}

/// A folder with notes.
public struct NoteFolder: Sendable, Hashable, Codable {
  /// The path, `team/minutes`.
  public let folder: String
  /// The number of notes that this person may read.
  public let notes: Int
}
