/// A name from a token, a provider, a file or a request that has no second meaning in the pattern of a
/// right, in a path, or in a line.
///
///     ada, ada@example.org, auth0|5f3a, 山田   names
///     *, a*, ., .., a/b, "a b", a\u{200B}       no names
public struct PlainName: Hashable, Sendable {
  private let name: ExactName

  /// The name.
  public var text: String { name.text }

  /// Checks a text.
  ///
  /// - Returns: `nil` for an empty text, `.`, `..`, and texts with `*`, a slash, a backslash, a blank, or characters
  ///   that control, reorder or are not visible.
  /// - Complexity: O(*n*) scalars.
  public init?(_ text: String) {
    let isDots = text.utf8.elementsEqual(".".utf8) || text.utf8.elementsEqual("..".utf8)
    guard !text.isEmpty, !isDots,
      !text.unicodeScalars.contains(where: { Self.hasMeaning($0) || $0.isBlank || $0.isInvisible })
    else { return nil }
    name = ExactName(text)
  }

  private static func hasMeaning(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "*" || scalar == "/" || scalar == "\\"
  }
}
