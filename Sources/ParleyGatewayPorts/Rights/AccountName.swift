/// The name of an account as sign-ins, files and commands compare it: without blanks around it, in folded case, composed.
///
///     " Ada@Example.org "  ─▶  ada@example.org        Straße, STRASSE  ─▶  strasse
///
/// The id of an account stays as it was written; only the comparison uses this form. Ids in tokens are compared byte by
/// byte, for issuers tell their users apart by them.
package struct AccountName: Hashable, Sendable {
  private let name: ExactName

  /// The form in which names are compared.
  package var text: String { name.text }

  /// Folds a name as it was written.
  ///
  /// - Complexity: O(*n*) bytes.
  package init(_ written: String) { name = ExactName(Self.folded(Self.tidied(written)).composed) }

  /// The id of a new account: the name as it was written, composed and without blanks around it.
  package static func tidied(_ written: String) -> String {
    var scalars = written.composed.unicodeScalars[...]
    while let first = scalars.first, first.isBlank { scalars.removeFirst() }
    while let last = scalars.last, last.isBlank { scalars.removeLast() }
    return String(scalars)
  }

  /// Folds case: small letters of the capitals of the small letters join what Unicode's full case folding joins. The
  /// dotless i alone would join another letter.
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
