import GatewayPorts
import SocketMessages

/// Requests over HTTP for notes, rooms and the work of operators.
///
/// Nothing outside this folder touches its state. The table of routes (``Route/all``) names who
/// answers a request; connections are ended, and their rights looked at anew, through ``HTTPOwner``.
final class HTTP: Part, DocumentsOwner {
  let board: Switchboard
  let documents: Documents
  let rooms: Rooms
  let access: Access
  /// Told of what concerns connections.
  weak var owner: (any HTTPOwner)?

  /// Requests that are done once.
  var once: OnceBook = OnceBook()
  /// Requests that publish several things at once.
  var batches: [RequestID: PublicationBatch] = [:]

  init(_ board: Switchboard, _ documents: Documents, _ rooms: Rooms, _ access: Access) {
    self.board = board
    self.documents = documents
    self.rooms = rooms
    self.access = access
  }

  /// Answers a request; an answer that is to be kept is kept first.
  func respond(_ request: RequestID, _ response: Response) {
    if !once.isEmpty, respondOnce(request, response) { return }
    act(.respond(request, response))
  }
}

/// The gateway, as requests over HTTP see it.
protocol HTTPOwner: AnyObject {
  /// The dialect that operators read of a connection, and the connection that carries it now.
  func listing(of connection: Connection) -> (dialect: ConnectionJSON.Dialect, ConnectionID?)
  /// Ends a connection, and tells its client whether to come back.
  func dismiss(_ connection: Connection, comesBack: Bool)
  /// Has the rights of connections looked at anew, and returns how many are asked or looked at.
  func refreshRights(of connections: [Connection], within seconds: Int) -> Int
  /// Closes the connections whose tokens were taken back, and returns how many.
  func applyRevocations() -> Int
  /// Closes a connection as if its token were taken back.
  func closeRevoked(_ connection: Connection)
}
