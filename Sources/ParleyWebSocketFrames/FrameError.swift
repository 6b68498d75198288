/// A rule of RFC 6455 or a limit that a peer has broken.
public enum FrameError: Error, Sendable, Hashable {
  /// RSV1 without an extension that uses it, or RSV2 or RSV3.
  case reservedBits
  /// A reserved opcode.
  case unknownOpcode(UInt8)
  /// A control frame without FIN.
  case fragmentedControl
  /// A control frame of more than 125 bytes.
  case longControl
  /// A client's frame without a mask.
  case notMasked
  /// A server's frame with a mask.
  case masked
  /// A length in more bytes than necessary.
  case lengthNotMinimal
  /// A length of 2^63 or more.
  case lengthBeyondRange
  /// A continuation without a message to continue.
  case unexpectedContinuation
  /// A new message before the last frame of the previous one.
  case expectedContinuation
  /// More frames in one message, or more tiny ones, than the limits allow.
  case tooManyFragments
  /// A text that is not UTF-8.
  case textNotUTF8
  /// A close frame with only one byte of a status code.
  case closePayloadOfOneByte
  /// A status code that must not be sent in a close frame.
  case closeStatus(UInt16)
  /// A close frame whose reason is not UTF-8.
  case closeReasonNotUTF8

  /// The status to close the connection with.
  public var status: CloseStatus {
    switch self {
    case .textNotUTF8, .closeReasonNotUTF8: .invalidPayload
    case .tooManyFragments: .policyViolation
    case .reservedBits, .unknownOpcode, .fragmentedControl, .longControl, .notMasked, .masked,
      .lengthNotMinimal, .lengthBeyondRange, .unexpectedContinuation, .expectedContinuation,
      .closePayloadOfOneByte, .closeStatus:
      .protocolError
    }
  }

  /// The reason for the close frame: the rule that was broken.
  public var reason: String {
    switch self {
    case .reservedBits: "a reserved bit is set, and no extension was agreed on"
    case .unknownOpcode(let opcode): "opcode " + String(opcode) + " is reserved"
    case .fragmentedControl: "a control frame must not be fragmented"
    case .longControl: "a control frame carries at most 125 bytes"
    case .notMasked: "a client must mask its frames"
    case .masked: "a server must not mask its frames"
    case .lengthNotMinimal: "a length must take as few bytes as it can"
    case .lengthBeyondRange: "a length must be below 2^63"
    case .unexpectedContinuation: "a continuation without a started message"
    case .expectedContinuation: "a new message began before the last frame of the one before"
    case .tooManyFragments: "a message has too many fragments; send larger ones"
    case .textNotUTF8: "a text message must be UTF-8"
    case .closePayloadOfOneByte: "a close frame carries no status or one of two bytes"
    case .closeStatus(let status): "a close frame must not carry the status " + String(status)
    case .closeReasonNotUTF8: "the reason of a close frame must be UTF-8"
    }
  }
}
