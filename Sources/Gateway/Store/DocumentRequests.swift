import ParleyGatewayPorts
import SocketMessages

/// A connection's request to follow a document.
struct DocumentJoining {
  /// The point from which to resume, if the client has the text.
  var resume: ResumePoint?
  /// The change that has no reply yet, of this client or under its former id.
  var unanswered: ChangeName?
  /// Whether the client reads text beyond one message's size in pages.
  var pages = false
  /// Whether the client knows formatting.
  var formats = false
  /// Whether a log that several nodes share was read after the request arrived.
  var isFresh = false
  /// The client's session in a shared log, if it was read; else the document's floor.
  var session: Int?
  /// Whether the document is created if it does not exist and the client may create it.
  var creates = false
}

/// A request for changes that a client has missed.
struct HistoryPageRequest {
  /// The point after which the page begins.
  var resume: ResumePoint
  /// Maximum changes of the page.
  var limit: Int
  /// Whether a log that several nodes share was read after the request arrived.
  var isFresh = false

  /// The revision after which entries are read. It is one before the resume point if the point
  /// names a change, whose entry shows whether the reader has this history.
  var after: Int { resume.revision - (resume.change == nil || resume.revision == 0 ? 0 : 1) }
}

/// A request over HTTP to name a revision.
struct VersionNaming {
  let request: RequestID
  let version: NamedVersion
  /// The caller's right to the note.
  let right: StoreRight
}

/// The stage of a page that a client has requested: waiting for its document, or for the store.
enum PageRead {
  case document
  case store(StoreTicket)
}

/// A page that is being read from the store.
struct HistoryPageReading {
  let id: DocumentID
  let epoch: Epoch
  let connection: ConnectionID
  let messageID: String
  let page: HistoryPageRequest
}
