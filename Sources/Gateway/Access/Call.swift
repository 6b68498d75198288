import ParleyGatewayPorts
import SocketMessages

/// An admitted request, as its handler receives it.
struct Call {
  let request: RequestID
  let head: RequestHead
  let body: [UInt8]
  /// The caller's identity.
  let identity: Identity
  /// The first name in the path, decoded: a note's id, a room's name, a user or a connection's id;
  /// empty if the path contains none.
  let name: String
  /// The first name in the path, as a note's id.
  var note: DocumentID { DocumentID(name) }
  /// The room of the path.
  var room: RoomName { RoomName(name) }
  /// The second name in the path, decoded; `nil` if missing, or its encoding is invalid.
  let item: String?
  /// The right that the routing table has checked; `nil` if the handler checks it.
  var granted: StoreRight?
  /// Whether another gateway of the process has admitted the request and collects the answers.
  var isPart: Bool = false

  /// The right that the routing table has checked.
  ///
  /// - Throws: 403 if the routing table has granted no right.
  var right: StoreRight {
    get throws(Response) {
      guard let granted else { throw .notGranted }
      return granted
    }
  }

  var query: QueryFields { QueryFields(head.query) }

  /// The party whose limits apply to the request; `nil` if none do.
  var limitedClient: LimitedClient? { LimitedClient(identity, from: head.limitedAddress) }

  /// The entity tags in `If-None-Match`.
  var known: EntityTags? { EntityTags(head.headers["if-none-match"]) }

  /// The client's cached list, and the encodings that it accepts.
  var reader: ListReader { ListReader(head, by: limitedClient) }
}
