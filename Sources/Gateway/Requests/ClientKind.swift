public import ParleyGatewayPorts
import ParleyJSON

/// The kind of client that opened a connection.
public enum ClientKind: Sendable, Equatable {
  /// A client that offered `parley.v1`.
  case native
  /// A client of the Whaler family; its `ObjectId` header names a pool, a room of updates.
  case whaler(pool: String?)
  /// A Socket.IO client. Its query contains the session and the generation.
  case socketIO(query: String, address: String)
  /// A Bayeux client.
  case bayeux(address: String)
  /// A client of Pusher's protocol. The key identifies its app; the query contains the version.
  case pusher(key: String, query: String)
  /// A client of ShareDB.
  case shareDB
  /// A client of Rustpad, for one note.
  case rustpad(note: String)
}

extension ClientKind {
  /// The dialect of a request's path. The native dialect is recognised by its subprotocol instead.
  ///
  /// Whaler and Socket.IO share a path: only Socket.IO has `EIO` in its query.
  ///
  /// - Parameter shareDBPath: The path of ShareDB clients; empty for none.
  public init?(_ head: RequestHead, shareDBPath: String) {
    switch head.path {
    case let path where !shareDBPath.isEmpty && path.isExactly(shareDBPath): self = .shareDB
    case "/socket", "/socket/":
      if QueryFields(head.query)["EIO"] != nil {
        self = .socketIO(query: head.query, address: head.remoteAddress)
      } else {
        self = .whaler(pool: head.headers["objectid"])
      }
    case "/faye", "/bayeux": self = .bayeux(address: head.remoteAddress)
    case let path where Self.bayeuxFolders.contains(where: { path.utf8.starts(with: $0.utf8) }):
      // Some clients append the kind of message, as in /faye/handshake.
      self = .bayeux(address: head.remoteAddress)
    default:
      if let key = Self.name(in: head.path, after: "/app/") {
        self = .pusher(key: key, query: head.query)
      } else if let note = Self.name(in: head.path, after: "/api/socket/") {
        self = .rustpad(note: PercentEncoding.decoded(Substring(note)) ?? "")
      } else {
        return nil
      }
    }
  }

  /// Returns the last part of a path, such as the key in `/app/{key}` of a Pusher client.
  private static func name(in path: String, after start: String) -> String? {
    guard path.utf8.starts(with: start.utf8) else { return nil }
    let name = path.utf8.dropFirst(start.utf8.count)
    return name.isEmpty || name.contains(UInt8(ascii: "/")) ? nil : String(name)
  }

  /// Returns a request for a note's text in place of Rustpad's, `/api/text/{id}`; `nil` for any
  /// other request.
  static func targetOfText(_ head: RequestHead) -> RequestHead? {
    guard let note = name(in: head.path, after: "/api/text/") else { return nil }
    var head = head
    head.path = "/api/notes/\(note)/text"
    head.query = "format=text"
    return head
  }

  private static let bayeuxFolders = ["/faye/", "/bayeux/"]
}
