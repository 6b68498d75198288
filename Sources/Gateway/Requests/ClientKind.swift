public import ParleyGatewayPorts

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
}

extension ClientKind {
  /// The dialect of a request's path. The native dialect is recognised by its subprotocol instead.
  ///
  /// Whaler and Socket.IO share a path: only Socket.IO has `EIO` in its query.
  public init?(_ head: RequestHead) {
    switch head.path {
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
      guard let key = Self.appKey(head.path) else { return nil }
      self = .pusher(key: key, query: head.query)
    }
  }

  /// The key in the path of a Pusher client, `/app/{key}`.
  private static func appKey(_ path: String) -> String? {
    let start = "/app/".utf8
    guard path.utf8.starts(with: start) else { return nil }
    let key = path.utf8.dropFirst(start.count)
    return key.isEmpty || key.contains(UInt8(ascii: "/")) ? nil : String(key)
  }

  private static let bayeuxFolders = ["/faye/", "/bayeux/"]
}
