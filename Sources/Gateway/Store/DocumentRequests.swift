import ParleyGatewayPorts
import SocketMessages

/// A connection's request to follow a document.
struct DocumentJoining {
  /// The point to resume from, if the client has the text.
  var resume: ResumePoint?
  /// The change without an answer, of this client or of its former id.
  var unanswered: ChangeName?
  /// Whether the client reads in pages what exceeds one message.
  var pages = false
  /// Whether the log was read since it came, where several nodes share it.
  var isFresh = false
  /// The client's session in such a log, where it was read; else the document's floor.
  var session: Int?
}

/// A request for changes that a client has missed.
struct HistoryPageRequest {
  /// The point after which the page begins.
  var resume: ResumePoint
  /// Changes, at most.
  var limit: Int
  /// Whether the log was read since the request came, where several nodes share it.
  var isFresh = false

  /// The revision after which entries are read: the one before the resume point, whose entry shows whether
  /// the reader has this history.
  var after: Int { resume.revision - (resume.change == nil || resume.revision == 0 ? 0 : 1) }
}

/// A request over HTTP to name a revision.
struct VersionNaming {
  let request: RequestID
  let version: NamedVersion
  /// The caller's right to the note.
  let right: StoreRight
}

/// The stage of a page that a client has asked for: it waits for its document, or for the store.
enum PageRead {
  case document
  case store(StoreTicket)
}

/// A page that is being read from the store.
struct HistoryPageReading {
  let id: DocumentID
  let epoch: String
  let connection: ConnectionID
  let messageID: String
  let page: HistoryPageRequest
}
