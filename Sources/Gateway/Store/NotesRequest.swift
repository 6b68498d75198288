import ParleyGatewayPorts
import SocketMessages

/// A request over HTTP about notes, until the store has answered.
enum NotesRequest {
  case list(WholeNoteList)
  /// A page of all notes, or of those in one folder.
  case page(Page, in: FolderPath?)
  case deletedPage(DeletedPage)
  case answer(NoteAnswer)
  /// Repeating a kept answer, if the note is still in the caller's reach; the answer to a removal also if
  /// the note is gone.
  case replay(Response, remover: Identity?)
  /// Reading a text, of a revision where one is asked for.
  case text(Format, of: Int?, known: EntityTags?)
  /// The text that an edit starts from.
  case base(DocumentID, Edit)
  case restore(DocumentID, revision: Int, author: String, StoreRight)

  /// Whether it may take several steps of the store.
  var isLong: Bool {
    switch self {
    case .list, .page, .deletedPage: true
    default: false
    }
  }

  /// A page of notes that the identity may read.
  typealias Page = PageWork<NoteSummary, NotePlace>
  /// A page of deleted notes that the identity may manage.
  typealias DeletedPage = PageWork<DeletedNote, NotePlace>

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
    /// The revision of the older one.
    var base: Int
    var author: String
    var expected: Int?
    var right: StoreRight
  }
}

/// A request over HTTP about one note whose answer is made of the store's reply alone.
enum NoteAnswer: Sendable {
  case one(known: EntityTags?)
  case history
  case sessions
  case difference
  case versions
  case create
  /// Making a note under an id that its maker chose.
  case put(Identity)
  case rename
  /// Moving to a folder, perhaps with another title.
  case move(renames: Bool)
  case delete(DocumentID)
  case bringBack
  case removeDeleted
  case nameVersion(NamedVersion)
  case unnameVersion
}
