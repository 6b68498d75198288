import ParleyGatewayPorts
import SocketMessages

/// A request over HTTP about notes that waits for the store.
enum NotesRequest {
  case list(WholeNoteList)
  /// A page of all notes, or of the notes in one folder.
  case page(Page, in: FolderPath?)
  case deletedPage(DeletedPage)
  case answer(NoteAnswer)
  /// Replaying a stored response, if the caller may still access the note. The response to a
  /// removal is replayed even though the note no longer exists.
  case replay(Response, remover: Identity?)
  /// Reading a text, of one revision or the newest.
  case text(Format, of: Int?, known: EntityTags?)
  /// Reading the base text of an edit.
  case base(DocumentID, Edit)
  case restore(DocumentID, revision: Int, author: String, StoreRight)

  /// Whether the request may take several steps of the store.
  var isLong: Bool {
    switch self {
    case .list, .page, .deletedPage: true
    default: false
    }
  }

  /// A page of notes that the identity may read.
  typealias Page = PageWork<NoteSummary, NoteSortKey>
  /// A page of deleted notes that the identity may manage.
  typealias DeletedPage = PageWork<DeletedNote, NoteSortKey>

  /// A format of texts.
  enum Format {
    /// JSON with revision, time and authors.
    case json
    /// The text alone, as plain text.
    case plain
    /// The text alone, as Markdown.
    case markdown
    /// The text with its formatting, as an HTML fragment.
    case html
    /// The text with its formatting, as a Delta.
    case delta
  }

  /// A new text for a note, based on an older one.
  struct Edit {
    var whole: Whole
    /// The revision of the base text.
    var base: Int
    var author: String
    var expected: Int?
    var right: StoreRight

    /// A whole text, which replaces another one.
    enum Whole {
      /// A text without formatting. Text that both texts have in common retains its formatting.
      case text(String)
      /// A text with its formatting.
      case content(NoteContent)
    }
  }
}

/// A request over HTTP about one note, whose response needs only the store's reply.
enum NoteAnswer: Sendable {
  case one(known: EntityTags?)
  case history
  case sessions
  case difference
  case versions
  case create
  /// Creating a note under an id that the client chose.
  case put(Identity)
  case rename
  /// Moving a note to a folder, optionally with a new title.
  case move(renames: Bool)
  case delete(DocumentID)
  case bringBack
  case removeDeleted
  case nameVersion(NamedVersion)
  case unnameVersion
}
