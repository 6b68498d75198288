/// The reason why a message cannot be built. Descriptions never contain the rejected value.
public enum MailError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A part of a message.
  public enum Part: String, Sendable {
    case address = "an address"
    case name = "a name"
    case subject = "a subject"
    case header = "a header"
    case identifier = "a message id"
    case text = "a text"
  }

  /// The text is not an address such as `ada@example.org`.
  case malformedAddress
  /// A part contains a control character, such as a line break, with which it could add headers.
  case controlCharacter(Part)
  /// A part is longer than its maximum.
  case tooLong(Part, bytesMax: Int)
  /// An additional header has an invalid name, or the name of a header that the message has anyway.
  case headerName
  /// A part contains characters other than those that it may have.
  case characters(Part)

  /// The problem, and what was expected.
  public var description: String {
    switch self {
    case .malformedAddress:
      "expected a mail address such as ada@example.org, in ASCII; write an international domain in "
        + "its form with xn--"
    case .controlCharacter(let part):
      "\(part.rawValue) of a mail must not contain line breaks or other control characters"
    case .tooLong(let part, let bytesMax):
      "\(part.rawValue) of a mail must have at most \(bytesMax) bytes"
    case .headerName: "the name of an additional header is invalid, or already in use"
    case .characters(let part):
      "\(part.rawValue) of a mail contains characters that are not allowed"
    }
  }
}

extension Unicode.Scalar {
  /// Whether a header must not contain the scalar: a control character, or a line break of Unicode.
  var isHeaderControl: Bool {
    properties.generalCategory == .control || value == 0x2028 || value == 0x2029
  }
}
