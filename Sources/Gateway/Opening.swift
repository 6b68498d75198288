public import GatewayPorts

/// What kind of client opened a connection.
public enum Opening: Sendable, Equatable {
  /// One that offered `parley.v1`.
  case native
  /// One of the Whaler family; the pool is its `ObjectId` header, a room of resource updates.
  case whaler(pool: String?)
  /// One that speaks Socket.IO; which session and generation stands in its query.
  case socketIO(query: String, address: String)
  /// One that speaks Bayeux.
  case bayeux(address: String)
}

extension Opening {
  /// Which dialect a request's path is of, but for the native one, which is told by its subprotocol.
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
      // Some clients write the kind of message behind it, as in /faye/handshake.
      self = .bayeux(address: head.remoteAddress)
    default: return nil
    }
  }

  private static let bayeuxFolders = ["/faye/", "/bayeux/"]
}

/// The fields of a query; of one that comes twice, the first.
struct QueryFields {
  private let text: String

  init(_ query: String) { text = query }

  /// A field's value, percent-decoded; `nil` if there is none.
  subscript(name: StaticString) -> String? {
    let wanted = name.withUTF8Buffer { Array($0) }
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].utf8.elementsEqual(wanted) else { continue }
      return parts.count == 2 ? PercentEncoding.decoded(inQuery: parts[1]) : ""
    }
    return nil
  }
}

extension Response {
  /// Lets the page read the answer that asked, for its origin was found allowed.
  func allowing(_ head: RequestHead) -> Response {
    guard let origin = head.headers["origin"] else { return self }
    var response = self
    response.headers.append(("access-control-allow-origin", origin))
    response.headers.append(("access-control-allow-credentials", "true"))
    response.headers.append(("vary", "origin"))
    return response
  }

  /// Answers the question of a page whether it may ask.
  static func preflight(_ head: RequestHead) -> Response {
    Response(
      status: 204,
      headers: [
        ("access-control-allow-methods", "GET, POST, OPTIONS"),
        ("access-control-allow-headers", "accept, authorization, content-type, pragma"),
        ("access-control-max-age", "600"),
      ]
    ).allowing(head)
  }
}
