/// The head of a request.
public struct HTTPRequestHead: Sendable {
  /// The method.
  public internal(set) var method: HTTPMethod
  /// The normalized path: it begins with `/`, has no empty segments and no segments `.` or `..`,
  /// and percent-encodes only characters that require it. `*` denotes the whole server.
  public internal(set) var path: String
  /// The part after the `?`, as received; empty if missing.
  public internal(set) var query: String
  /// The requested host, with a port if given: from an absolute target, otherwise from the host
  /// field; empty without either.
  public internal(set) var host: String
  /// 0 for HTTP/1.0, else 1.
  public internal(set) var minorVersion: Int
  /// The header fields.
  public internal(set) var fields: HTTPFields
  /// Whether the connection may stay open according to the client.
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

  /// Whether the request may be delivered together with others of the connection.
  var isIndependent: Bool { method.isSafe && body == .none && webSocket == nil }
}

/// A valid WebSocket handshake of a client (RFC 6455, section 4.1).
public struct WebSocketOffer: Sendable, Hashable {
  /// The client's key.
  public let key: String
  /// The subprotocols that the client offers, in order of preference.
  public let subprotocols: [String]
}
