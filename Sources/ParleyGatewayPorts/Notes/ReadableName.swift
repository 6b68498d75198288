/// A name under which a note is published, such as `minutes-2026`, in its only spelling.
///
/// A name has 1 to 64 letters, digits and hyphens. Capitals become small letters, and characters are composed (NFC), so
/// that two spellings of one name are equal byte by byte. The letters are of one script: names that mix scripts could
/// show one name and be another.
public struct ReadableName: Sendable, Hashable {
  /// The name in its only spelling.
  public let text: String

  /// The maximum number of characters, as Unicode scalars.
  public static let scalarsMax = 64
  /// Longer texts are not looked at.
  private static let bytesMax = 1_024
  /// Words that addresses of this or later versions use, or that seem to speak for the server.
  private static let reserved: Set<String> = [
    "admin", "api", "assets", "health", "help", "index", "login", "metrics", "n", "new", "null",
    "p", "parley", "ready", "root", "s", "sdk", "search", "settings", "undefined", "worker", "www",
  ]

  /// Reads a name that a person has written, in any spelling.
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

  /// Takes a name from a store.
  package init(stored text: String) { self.text = text }

  /// The text composed and in small letters. Both forms of the Greek sigma are one letter, as their capital is.
  private static func folded(_ text: String) -> String {
    var folded = ""
    for scalar in text.composed.lowercased().unicodeScalars {
      folded.unicodeScalars.append(scalar == "\u{3c2}" ? "\u{3c3}" : scalar)
    }
    return folded.composed
  }

  /// Rejects hyphens at an end of the name, and two in a row.
  private static func checkHyphens(of text: String) throws(ReadableNameError) {
    var isAfterHyphen = true
    for byte in text.utf8 {
      let isHyphen = byte == UInt8(ascii: "-")
      if isHyphen, isAfterHyphen { throw .hyphens }
      isAfterHyphen = isHyphen
    }
    if isAfterHyphen { throw .hyphens }
  }

  /// Rejects characters that names cannot have, letters of several scripts, and names that look like other
  /// ones.
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
  /// There is no text.
  case empty
  /// It has more than 64 characters.
  case tooLong
  /// It begins or ends with a hyphen, or has two in a row.
  case hyphens
  /// It has a character that is no letter, digit or hyphen.
  case character
  /// Its letters are of several scripts.
  case scripts
  /// All of its letters look like Latin ones, and are of another script.
  case lookalike
  /// It is a word of the server's own.
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
