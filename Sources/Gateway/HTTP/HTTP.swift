import ParleyGatewayPorts
import SocketMessages

/// Requests over HTTP for notes, rooms and the work of operators.
///
/// Nothing outside this folder touches its state. The table of routes (``Route/all``) names the handler of
/// each request.
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

  /// Requests that are done once.
  var once: OnceBook = OnceBook()
  /// Requests that publish several things at once.
  var batches: [RequestID: PublicationBatch] = [:]
  /// The times at which notes that were deleted long ago are removed.
  var removals: DueTimes = DueTimes()
  /// The times after which clients that were refused may try again.
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

  /// Answers a request; an answer that is to be kept is kept first.
  func respond(_ request: RequestID, _ response: Response) {
    let response = spread(response)
    if !once.isEmpty, respondOnce(request, response) { return }
    act(.respond(request, response))
  }

  /// Adds when to try again where no part of the gateway has said so.
  func spread(_ response: Response) -> Response {
    guard response.status == 503 || response.status == 429,
      !response.headers.contains(where: { $0.name == "retry-after" })
    else { return response }
    return response.with("retry-after", "\((retries.next() + 999) / 1_000)")
  }
}
