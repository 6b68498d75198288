import ParleyGatewayPorts
import SocketMessages

/// A request that was let in, for the function that answers it.
struct Call {
  let request: RequestID
  let head: RequestHead
  let body: [UInt8]
  /// The identity that makes it.
  let identity: Identity
  /// The name in the path, decoded: a note's id, a room's name, a user, a connection's id; empty where
  /// the path has none.
  let name: String
  /// The name in the path, as a note's id.
  var note: DocumentID { DocumentID(name) }
  /// The second name in the path, decoded; `nil` where it has none, or its encoding is broken.
  let item: String?
  /// The right that was checked by the table of routes; `nil` where the handler checks it.
  var granted: StoreRight?
  /// Whether another gateway of the process has admitted it, and asks for this one's part of the answer.
  var isPart: Bool = false

  /// The right that was checked by the table of routes.
  ///
  /// - Throws: A refusal where the table names no right for the store's work.
  var right: StoreRight {
    get throws(Response) {
      guard let granted else { throw .notGranted }
      return granted
    }
  }

  var query: QueryFields { QueryFields(head.query) }

  /// The stranger that makes it; `nil` for one without limits.
  var stranger: Stranger? { Stranger(identity, from: head.limitedAddress) }

  /// The entity tags that its client has already, by `If-None-Match`.
  var known: EntityTags? { EntityTags(head.headers["if-none-match"]) }

  /// The lists that its client keeps and accepts.
  var reader: ListReader { ListReader(head, by: stranger) }
}
