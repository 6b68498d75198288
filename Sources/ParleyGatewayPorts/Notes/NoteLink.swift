/// A link that gives access to a note to every client that has its key.
///
/// A store contains only the hash of the key.
public struct NoteLink: Sendable, Hashable {
  /// The link's id, which does not give access.
  public var id: String
  /// The note's id.
  public var note: DocumentID
  /// The rights that the link grants.
  public var access: Access
  /// The user who created the link; empty if users have no names.
  public var maker: String
  /// The creation time.
  public var createdAt: Timestamp
  /// The expiry time.
  public var expiresAt: Timestamp

  /// The rights that a link grants, in addition to presence. Stored by number.
  public enum Access: Int, Sendable, CaseIterable {
    /// Reading.
    case read
    /// Reading and commenting.
    case comment
    /// Reading and writing.
    case write

    /// The word in messages.
    public var word: String {
      switch self {
      case .read: "read"
      case .comment: "comment"
      case .write: "write"
      }
    }

    /// Creates the access of a word; `nil` for any other text.
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

  /// The prefix of link ids.
  public static let idPrefix = "l."
  /// Maximum links of one note.
  public static let countMax = 200

  /// Creates the description of a link.
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

/// A request about links to notes.
public enum LinkRequest: Sendable {
  /// Stores a link with the hash of its key, unless the note has `countMax` links. A link that
  /// already exists remains unchanged. Fails with `unknownDocument` if the note does not exist.
  /// Also removes some expired links.
  case make(NoteLink, key: String, countMax: Int)
  /// Finds the link of a key.
  case open(key: String, now: Timestamp)
  /// Lists the links of a note that have not expired, the newest first.
  case list(note: DocumentID, now: Timestamp)
  /// Revokes one link of a note, or all. Fails with `unknownDocument` if the note does not exist.
  case end(note: DocumentID, id: String?)
  /// A request about the names of published notes.
  case names(NameRequest)

  /// The request's traits.
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
  /// The link was stored.
  case made
  /// The note has the maximum number of links.
  case tooMany
  /// The link, and its note's title.
  case link(NoteLink, title: String)
  /// No link has the key, or its note does not exist.
  case unknown
  /// Links of a note, and the note's folder; `nil` if the note does not exist.
  case links([NoteLink], in: FolderPath?)
  /// The revoked links.
  case ended([NoteLink])
  /// The reply to a request about names.
  case names(NameReply)
}
