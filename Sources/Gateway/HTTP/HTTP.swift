import ParleyGatewayPorts
import SocketMessages

/// HTTP requests for notes, rooms and operators.
///
/// Only files in this folder change its state. The table of routes (``Route/all``) names the
/// handler of each request.
final class HTTP: Part, DocumentsOwner, CommentsOwner {
  let board: Switchboard
  let documents: Documents
  let rooms: Rooms
  let access: Access
  let rights: Rights
  let search: Search
  let files: Files
  let comments: Comments
  let sessions: Sessions
  let links: Links
  let folders: Folders

  /// Requests with an `Idempotency-Key` that are in progress.
  var once: OnceBook = OnceBook()
  /// Batches of publications that are in progress.
  var batches: [RequestID: PublicationBatch] = [:]
  /// Times at which deleted notes whose retention has ended are removed.
  var removals: DueTimes = DueTimes()
  /// Delays after which refused clients may retry.
  private var retries = RetryInterval(milliseconds: 3_000...8_000)

  init(
    _ board: Switchboard, _ documents: Documents, _ rooms: Rooms, _ access: Access,
    _ rights: Rights, _ search: Search, _ files: Files, _ comments: Comments,
    _ sessions: Sessions, _ links: Links, _ folders: Folders
  ) {
    self.board = board
    self.documents = documents
    self.rooms = rooms
    self.access = access
    self.rights = rights
    self.search = search
    self.files = files
    self.comments = comments
    self.sessions = sessions
    self.links = links
    self.folders = folders
  }

  func lostReading(_ connection: Connection) { rights.applyRights(to: connection) }

  func current(_ identity: Identity) -> Identity? { try? access.current(identity) }

  /// Responds to a request. The response is stored first if the request's key requires it.
  func respond(_ request: RequestID, _ response: Response) {
    let response = spread(response)
    if !once.isEmpty, respondOnce(request, response) { return }
    act(.respond(request, response))
  }

  /// Adds `Retry-After` to a 429 or 503 response without one. Delays vary, to spread the retries.
  func spread(_ response: Response) -> Response {
    guard response.status == 503 || response.status == 429,
      !response.headers.contains(where: { $0.name == "retry-after" })
    else { return response }
    return response.with("retry-after", "\((retries.next() + 999) / 1_000)")
  }
}
