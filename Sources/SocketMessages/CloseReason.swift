/// The codes with which a server closes a WebSocket. 4000 to 4499: reconnect and resume. 4500 to
/// 4999: do not reconnect with the same request.
public enum CloseReason: UInt16, Sendable, CaseIterable {
  /// The client reads too slowly; resume.
  case slowReader = 4001
  /// The server shuts down or moves the connection; resume.
  case draining = 4002
  /// The server received nothing for too long; resume.
  case idle = 4003
  /// The document must be joined again; resume.
  case rejoin = 4004
  /// An operator has ended the connection; resume.
  case disconnected = 4005
  /// The client exceeded the rate limit for too long; wait, then resume.
  case tooFast = 4006
  /// The message was malformed.
  case badMessage = 4500
  /// The message was too large.
  case messageTooLarge = 4501
  /// The token is missing or invalid.
  case unauthorised = 4502
  /// Pages of this origin may not connect.
  case forbiddenOrigin = 4503
  /// A limit on a count was exceeded.
  case tooMany = 4504
  /// The same client has opened another connection.
  case replaced = 4505
  /// The client sent no hello within the time limit.
  case helloMissing = 4506
  /// The token has expired; get a new one, then reconnect and resume.
  case tokenExpired = 4507
  /// The token or the connection was revoked.
  case revoked = 4508
  /// An operator has ended the connection; do not reconnect.
  case dismissed = 4509

  /// Whether a client should reconnect automatically.
  public var allowsReconnect: Bool { rawValue < 4500 }
}
