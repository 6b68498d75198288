/// A name under which a note is published, such as `minutes-2026`, in normalised form.
///
/// A name has 1 to 64 letters, digits and hyphens. It is converted to lower case and composed
/// (NFC), so that equal names have equal bytes. All letters belong to one script, because a name of
/// mixed scripts could look like another name.
public struct ReadableName: Sendable, Hashable {
  /// The normalised name.
  public let text: String

  /// Maximum number of characters, as Unicode scalars.
  public static let scalarsMax = 64
  /// Maximum bytes of a text to be normalised.
  private static let bytesMax = 1_024
  /// Words that URLs of this or later versions use, or that seem to speak for the server.
  private static let reserved: Set<String> = [
    "admin", "api", "assets", "health", "help", "index", "login", "metrics", "n", "new", "null",
    "p", "parley", "ready", "root", "s", "sdk", "search", "settings", "undefined", "worker", "www",
  ]

  /// Normalises and checks a name that a person has written.
  public init(_ written: String) throws(ReadableNameError) {
    guard written.utf8.count <= Self.bytesMax else { throw .tooLong }
    let text = Self.folded(written)
    guard !text.isEmpty else { throw .empty }
    guard text.unicodeScalars.count <= Self.scalarsMax else { throw .tooLong }
    try Self.checkHyphens(of: text)
    try Self.checkLetters(of: text)
    guard !Self.reserved.contains(text) else { throw .reserved }
    self.text = text
  }

  /// Creates a name from its stored form.
  package init(stored text: String) { self.text = text }

  /// Returns the text composed and in lower case. Both forms of the Greek sigma become one, as they
  /// have the same capital.
  private static func folded(_ text: String) -> String {
    var folded = ""
    for scalar in text.composed.lowercased().unicodeScalars {
      folded.unicodeScalars.append(scalar == "\u{3c2}" ? "\u{3c3}" : scalar)
    }
    return folded.composed
  }

  /// Rejects hyphens at either end, and two hyphens in a row.
  private static func checkHyphens(of text: String) throws(ReadableNameError) {
    var isAfterHyphen = true
    for byte in text.utf8 {
      let isHyphen = byte == UInt8(ascii: "-")
      if isHyphen, isAfterHyphen { throw .hyphens }
      isAfterHyphen = isHyphen
    }
    if isAfterHyphen { throw .hyphens }
  }

  /// Rejects characters other than letters, digits and hyphens, letters of several scripts, and
  /// names that look like Latin ones.
  private static func checkLetters(of text: String) throws(ReadableNameError) {
    var script: LetterScript?
    var hasOwnLook = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "0"..."9", "-": continue
      default: break
      }
      guard let own = LetterScript(of: scalar) else { throw .character }
      if let script, script != own { throw .scripts }
      script = own
      if !own.looksLatin(scalar) { hasOwnLook = true }
    }
    if script != nil, !hasOwnLook { throw .lookalike }
  }
}

/// The reason why a text is not a ``ReadableName``.
public enum ReadableNameError: Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The text is empty.
  case empty
  /// The name has more than 64 characters.
  case tooLong
  /// The name begins or ends with a hyphen, or has two in a row.
  case hyphens
  /// The name contains a character that is not a letter, digit or hyphen.
  case character
  /// The letters belong to several scripts.
  case scripts
  /// All letters look like Latin ones, but belong to another script.
  case lookalike
  /// The name is reserved for the server.
  case reserved

  /// The expectation, for the person who has chosen the name.
  public var description: String {
    switch self {
    case .empty: "a name has 1 to \(ReadableName.scalarsMax) characters; this one has none"
    case .tooLong: "a name has at most \(ReadableName.scalarsMax) characters; shorten it"
    case .hyphens: "hyphens go between letters or digits, one at a time"
    case .character: "a name has letters, digits and hyphens only"
    case .scripts: "the letters of a name are of one script; this one mixes several"
    case .lookalike:
      "all letters of this name look like Latin ones; write it in Latin letters, or add a word"
    case .reserved: "this name is reserved; choose another one"
    }
  }
}
