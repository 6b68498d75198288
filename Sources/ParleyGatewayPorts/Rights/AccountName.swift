/// The normalised name of an account, by which sign-ins, files and commands compare names: trimmed,
/// case-folded and composed (NFC).
///
///     " Ada@Example.org "  ─▶  ada@example.org        Straße, STRASSE  ─▶  strasse
///
/// The id of an account is stored as written; only comparisons use this form. Ids in tokens are
/// compared byte by byte, because issuers distinguish users by them.
package struct AccountName: Hashable, Sendable {
  private let name: ExactName

  /// The normalised name.
  package var text: String { name.text }

  /// Normalises a name as a user has written it.
  ///
  /// - Complexity: O(*n*) bytes.
  package init(_ written: String) { name = ExactName(Self.folded(Self.tidied(written)).composed) }

  /// Returns the id of a new account: the written name, composed and trimmed.
  package static func tidied(_ written: String) -> String {
    var scalars = written.composed.unicodeScalars[...]
    while let first = scalars.first, first.isBlank { scalars.removeFirst() }
    while let last = scalars.last, last.isBlank { scalars.removeLast() }
    return String(scalars)
  }

  /// Folds case by mapping each letter to lower, upper and lower case, which unites all letters
  /// that Unicode's full case folding unites. The dotless i is excluded, because it would become i.
  private static func folded(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    var folded = ""
    for scalar in text.unicodeScalars {
      guard scalar != "ı" else {
        folded.unicodeScalars.append(scalar)
        continue
      }
      for small in scalar.properties.lowercaseMapping.unicodeScalars {
        for capital in small.properties.uppercaseMapping.unicodeScalars {
          folded += capital.properties.lowercaseMapping
        }
      }
    }
    return folded
  }
}
