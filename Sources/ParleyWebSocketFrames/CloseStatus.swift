/// The status code of a close frame (RFC 6455, section 7.4).
public struct CloseStatus: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Creates a status from its number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Creates a status from its number.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// The connection has fulfilled its purpose.
  public static let normal = CloseStatus(1000)
  /// The server stops, or the user leaves the page.
  public static let goingAway = CloseStatus(1001)
  /// The peer has violated the protocol.
  public static let protocolError = CloseStatus(1002)
  /// The peer has sent a kind of data that is not accepted.
  public static let unsupportedData = CloseStatus(1003)
  /// A text is not UTF-8.
  public static let invalidPayload = CloseStatus(1007)
  /// The peer has violated a rule of the application, or a limit.
  public static let policyViolation = CloseStatus(1008)
  /// A message is too large.
  public static let tooLarge = CloseStatus(1009)

  /// Whether a close frame may contain this status: 1000 to 1003 and 1007 to 1014 as registered,
  /// and 3000 to 4999 for libraries and applications. 1004 to 1006 and 1015 are never sent.
  public var isValidOnWire: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
