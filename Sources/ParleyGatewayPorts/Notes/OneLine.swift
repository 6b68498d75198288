import ParleyModel

/// Texts of one line, such as titles of notes and names of versions.
public enum OneLine {
  /// Whether a text contains neither line breaks nor other control characters.
  ///
  /// - Complexity: O(*n*) scalars.
  public static func isMet(by text: String) -> Bool {
    !text.unicodeScalars.contains(where: CharacterRules.isBreak)
  }

  /// Returns an external text in one line: line breaks and control characters become spaces, and
  /// spaces at both ends are removed.
  public static func made(of text: String) -> String {
    guard !isMet(by: text) else { return text }
    var line: [Unicode.Scalar] = text.unicodeScalars.map { CharacterRules.isBreak($0) ? " " : $0 }
    while line.last == " " { line.removeLast() }
    return String(String.UnicodeScalarView(line.drop { $0 == " " }))
  }

  /// Returns the expectation and the remedy for a text that is not one line. `subject` names the
  /// text, such as `a title`.
  public static func problem(of subject: String) -> String {
    "\(subject) is one line: expected no line breaks and no control characters; remove them"
  }
}
