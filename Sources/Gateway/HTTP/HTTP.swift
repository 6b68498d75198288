import ParleyGatewayPorts
import SocketMessages

/// HTTP requests: from the path to the part that answers.
///
/// The table of routes (``Route/all``) names the handler of each request.
final class HTTP: Part, RequestPerformer {
  let board: Switchboard
  let access: Access
  let once: OnceRequests
  let notes: NotesAPI
  let rooms: RoomsAPI
  let values: SharedValues
  let groups: GroupsAPI
  let operators: OperatorsAPI
  let search: Search
  let files: Files
  let notices: Notices
  let comments: Comments
  let sessions: Sessions
  let links: Links
  let folders: Folders
  let audit: Audit
  /// Delays after which refused clients may retry.
  private var retries = RetryInterval(milliseconds: 3_000...8_000)

  init(
    _ board: Switchboard, _ documents: Documents, _ rooms: Rooms, _ access: Access,
    _ rights: Rights, _ search: Search, _ files: Files, _ notices: Notices,
    _ comments: Comments, _ sessions: Sessions, _ links: Links, _ folders: Folders, _ audit: Audit
  ) {
    self.board = board
    self.access = access
    once = OnceRequests(board, access, folders)
    notes = NotesAPI(board, documents, rooms, access, rights, search, links, once)
    self.rooms = RoomsAPI(board, rooms, once)
    values = SharedValues(board, rooms)
    groups = GroupsAPI(board, rooms, once)
    operators = OperatorsAPI(board, documents.delivery, rooms, access, rights, once, audit)
    self.search = search
    self.files = files
    self.notices = notices
    self.comments = comments
    self.sessions = sessions
    self.links = links
    self.folders = folders
    self.audit = audit
    once.performer = self
  }

  /// Responds to a request. The response is stored first if the request's key requires it.
  func respond(_ request: RequestID, _ response: Response) {
    let response = spread(response)
    if !once.answer(request, response) { act(.respond(request, response)) }
  }

  /// Adds `Retry-After` to a 429 or 503 response without one. Delays vary, to spread the retries.
  func spread(_ response: Response) -> Response {
    guard response.status == 503 || response.status == 429,
      !response.headers.contains(where: { $0.name == "retry-after" })
    else { return response }
    return response.with("retry-after", "\((retries.next() + 999) / 1_000)")
  }
}
