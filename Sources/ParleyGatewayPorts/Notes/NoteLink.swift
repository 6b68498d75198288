/// A link that opens a note to every client that holds it.
///
/// The link's key opens it. A store keeps the key's hash alone.
public struct NoteLink: Sendable, Hashable {
  /// The link's id, which names it without opening it.
  public var id: String
  /// The note's id.
  public var note: DocumentID
  /// The rights that the link gives.
  public var access: Access
  /// The user who has made it; empty where users have no names.
  public var maker: String
  /// The time at which it was made.
  public var createdAt: Timestamp
  /// The time from which it opens nothing.
  public var expiresAt: Timestamp

  /// The rights that a link gives, beside seeing who is there; stored by number.
  public enum Access: Int, Sendable, CaseIterable {
    /// Reading.
    case read
    /// Reading and commenting.
    case comment
    /// Reading and writing.
    case write

    /// The word for it.
    public var word: String {
      switch self {
      case .read: "read"
      case .comment: "comment"
      case .write: "write"
      }
    }

    /// The access of a word; `nil` for any other.
    public init?(word: String) {
      guard let known = Self.allCases.first(where: { $0.word == word }) else { return nil }
      self = known
    }

    /// The verbs on the note.
    public var verbs: Verbs {
      switch self {
      case .read: [.read, .presence]
      case .comment: [.read, .presence, .comment]
      case .write: [.read, .presence, .write]
      }
    }
  }

  /// The prefix of the ids of links.
  public static let idPrefix = "l."
  /// The number of links that one note may have at a time.
  public static let countMax = 200

  /// Describes a link.
  public init(
    id: String, note: DocumentID, access: Access, maker: String, createdAt: Timestamp,
    expiresAt: Timestamp
  ) {
    self.id = id
    self.note = note
    self.access = access
    self.maker = maker
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}

/// Work with links to notes.
public enum LinkRequest: Sendable {
  /// Keeps a link that a key opens, unless the note has `countMax` already; a link that is there is kept as it
  /// is. Fails with `unknownDocument` where there is no such note. Some links whose time is over are removed
  /// with it.
  case make(NoteLink, key: String, countMax: Int)
  /// Finds the link that a key opens.
  case open(key: String, now: Timestamp)
  /// Lists the links of a note, the newest first; those whose time is over are left out.
  case list(note: DocumentID, now: Timestamp)
  /// Ends a link of a note, or all of them without an id. Fails with `unknownDocument` where there is no such note.
  case end(note: DocumentID, id: String?)
  /// Works with the names of published notes.
  case names(NameRequest)

  /// Its traits.
  var traits: StoreTraits {
    switch self {
    case .make(let link, _, _): .writing(link.note)
    case .end(let note, _): .writing(note)
    case .list(let note, _): .aside(note)
    case .open: .aside()
    case .names(let request): request.traits
    }
  }
}

/// The reply to a request about links.
public enum LinkReply: Sendable, Equatable {
  /// The link is kept.
  case made
  /// The note may not have more links.
  case tooMany
  /// The link, and the title of its note.
  case link(NoteLink, title: String)
  /// No link is opened by the key, or its note is gone.
  case unknown
  /// Links of a note, and the folder that it is in; `nil` where there is no such note.
  case links([NoteLink], in: FolderPath?)
  /// These have ended.
  case ended([NoteLink])
  /// The reply to a request about names.
  case names(NameReply)
}
