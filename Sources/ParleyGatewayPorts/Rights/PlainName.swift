import ParleyJSON

/// A name from a token, provider, file or request that is safe in patterns, paths and lines.
///
///     ada, ada@example.org, auth0|5f3a, 山田   names
///     *, a*, ., .., a/b, "a b", a\u{200B}       no names
public struct PlainName: Hashable, Sendable {
  private let name: ExactName

  /// The name.
  public var text: String { name.text }

  /// Validates a text.
  ///
  /// - Returns: `nil` for an empty text, `.`, `..`, and texts with `*`, a slash, a backslash, white
  ///   space, control characters, bidirectional controls or invisible characters.
  /// - Complexity: O(*n*) scalars.
  public init?(_ text: String) {
    let isDots = text.isExactly(".") || text.isExactly("..")
    guard !text.isEmpty, !isDots,
      !text.unicodeScalars.contains(where: { Self.hasMeaning($0) || $0.isBlank || $0.isInvisible })
    else { return nil }
    name = ExactName(text)
  }

  private static func hasMeaning(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "*" || scalar == "/" || scalar == "\\"
  }
}
