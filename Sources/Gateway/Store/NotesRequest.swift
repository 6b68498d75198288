import GatewayPorts
import SocketMessages

/// A request over HTTP about notes, until the store has answered.
enum NotesRequest {
  case list(Identity)
  case page(Page)
  case create
  /// Making one under an id of its maker's.
  case put
  case rename
  case delete(DocumentID)
  case deletedPage(DeletedPage)
  case bringBack
  case removeDeleted
  case one(known: EntityTags?)
  case text(Format, known: EntityTags?)
  /// The text that an edit starts from.
  case base(DocumentID, Edit)
  case history
  case versions
  case saveVersion(NamedVersion)
  case deleteVersion
  case restore(DocumentID, author: String)
  case share(Share)
  case endShares(DocumentID)

  /// A page that is being put together.
  struct Page: Sendable {
    let identity: Identity
    let limit: Int
    /// The readable ones among the notes that were looked at.
    var found: [NoteSummary] = []
    /// The number of notes that were looked at.
    var scanned = 0
    /// The number that the store was asked for.
    var asked = 0
  }

  /// A page of deleted notes that is being put together.
  struct DeletedPage: Sendable {
    let identity: Identity
    let limit: Int
    /// The notes, among those that were looked at, that the identity may manage.
    var found: [DeletedNote] = []
    /// The number of notes that were looked at.
    var scanned = 0
    /// The number that the store was asked for.
    var asked = 0
  }

  /// A format of texts.
  enum Format {
    /// With revision, time and authors.
    case json
    /// The text alone.
    case plain
    /// The text alone, called Markdown.
    case markdown
  }

  /// A new text for a note, made from an older one.
  struct Edit {
    var text: String
    var author: String
    var expected: Int?
  }

  /// A link on its way to whoever asked for it, until the store has said that the note is there.
  struct Share {
    var identity: Identity
    var access: ServerMessage.Joined.Access
    var note: DocumentID
  }
}
