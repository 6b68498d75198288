import ParleyModel

/// Texts of one line, as the titles of notes and the names of versions are: lists, tabs and files show them so.
public enum OneLine {
  /// Whether a text has neither line breaks nor other control characters.
  ///
  /// - Complexity: O(*n*) scalars.
  public static func isMet(by text: String) -> Bool {
    !text.unicodeScalars.contains(where: CharacterRules.isBreak)
  }

  /// Returns a text from elsewhere in one line: each line break and each control character is a space, and there is
  /// none at either end.
  public static func made(of text: String) -> String {
    guard !isMet(by: text) else { return text }
    var line: [Unicode.Scalar] = text.unicodeScalars.map { CharacterRules.isBreak($0) ? " " : $0 }
    while line.last == " " { line.removeLast() }
    return String(String.UnicodeScalarView(line.drop { $0 == " " }))
  }

  /// The expectation of a text, and what to do; `subject` names the text, such as `a title`.
  public static func problem(of subject: String) -> String {
    "\(subject) is one line: expected no line breaks and no control characters; leave them out"
  }
}
