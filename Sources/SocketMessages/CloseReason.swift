/// The numbers with which a server closes a WebSocket. 4000 to 4499 mean: reconnect and resume;
/// 4500 to 4999: do not reconnect with the same request.
public enum CloseReason: UInt16, Sendable, CaseIterable {
  /// Too slow in reading; resume.
  case slowReader = 4001
  /// The server is going down or moving; resume.
  case draining = 4002
  /// Nothing came for too long; resume.
  case idle = 4003
  /// The document has to be joined again; resume.
  case rejoin = 4004
  /// An operator has ended the connection; resume.
  case disconnected = 4005
  /// The client exceeded the rate limit for too long; wait, then resume.
  case tooFast = 4006
  /// The message was malformed.
  case badMessage = 4500
  /// The message was too large.
  case messageTooLarge = 4501
  /// No or no valid token.
  case unauthorised = 4502
  /// Pages of this origin may not connect.
  case forbiddenOrigin = 4503
  /// Too many of something.
  case tooMany = 4504
  /// The same client has opened another connection.
  case replaced = 4505
  /// No hello came in time.
  case helloMissing = 4506
  /// The token has expired; get a new one, then reconnect and resume.
  case tokenExpired = 4507
  /// The token, or the connection itself, was taken back.
  case revoked = 4508
  /// An operator has ended the connection, and wants no other.
  case dismissed = 4509

  /// Whether a client should reconnect by itself.
  public var allowsReconnect: Bool { rawValue < 4500 }
}
