/// The head of a request.
public struct HTTPRequestHead: Sendable {
  /// The method.
  public internal(set) var method: HTTPMethod
  /// The path in a normal form: it begins with `/`, has neither empty segments nor `.` and `..`, and
  /// percent-encodes only characters that need it. `*` for the whole server.
  public internal(set) var path: String
  /// The part behind the `?`, as it was sent, or the empty string.
  public internal(set) var query: String
  /// The requested host, with its port if there is one: from an absolute target, else from the host
  /// field; the empty string without either.
  public internal(set) var host: String
  /// 0 for HTTP/1.0, else 1.
  public internal(set) var minorVersion: Int
  /// The header fields.
  public internal(set) var fields: HTTPFields
  /// Whether the client wants the connection to stay open.
  public internal(set) var keepsAlive: Bool
  /// The WebSocket handshake, if the request is one.
  public internal(set) var webSocket: WebSocketOffer?

  /// The form of the body.
  enum Body: Sendable, Hashable {
    case none
    case length(Int)
    case chunks
  }

  var body: Body
  var expectsContinue: Bool

  /// Whether the owner may receive the request together with other requests of the connection.
  var isIndependent: Bool { method.isSafe && body == .none && webSocket == nil }
}

/// A valid WebSocket handshake of a client (RFC 6455, section 4.1).
public struct WebSocketOffer: Sendable, Hashable {
  /// The client's key.
  public let key: String
  /// The subprotocols that the client offers, in order of preference.
  public let subprotocols: [String]
}
