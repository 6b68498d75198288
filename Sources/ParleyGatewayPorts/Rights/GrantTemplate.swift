import ParleyJSON

/// A grant for the users of an issuer or a provider, in which the user's id replaces `{user}`.
///
///     folder:home/{user}/*=all   ada   ─▶  folder:home/ada/*=all
///     folder:home/{user}/*=all   *     ─▶  nothing
///
/// The id is never parsed as part of a pattern: an id that could be one results in no grant.
public struct GrantTemplate: Sendable, Hashable {
  private let grant: Grant
  /// The parts of the name around each `{user}`; one part without it.
  private let parts: [String]

  private static let placeholder = "{user}"

  /// Parses `MATCH=MAY`, as ``Grant`` does.
  public init(_ kind: Grant.Kind, text: String) throws(GrantTextError) {
    grant = try Grant(kind, text: text)
    parts = grant.pattern.name
      .split(separator: Self.placeholder, omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the grant of a user.
  ///
  /// - Parameters:
  ///   - id: The user's id at the issuer; `nil` if the id is not a plain name.
  ///   - prefix: The operator's text before the id.
  /// - Returns: `nil` if the grant contains `{user}` and the id cannot be one name in it.
  public func grant(for id: PlainName?, prefix: String = "") -> Grant? {
    guard parts.count > 1 else { return grant }
    guard let id else { return nil }
    var grant = grant
    let name = parts.joined(separator: prefix + id.text)
    guard grant.kind == .folders else {
      grant.pattern = NamePattern(name, isPattern: grant.pattern.isPattern)
      return grant
    }
    // With the prefix `x/`, the folder would lie within that of a user named `x`.
    guard PlainName(prefix + id.text) != nil else { return nil }
    let path =
      grant.pattern.isPattern ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
    guard let folder = try? FolderPath(path), folder.text.isExactly(path) else {
      return nil
    }
    grant.pattern = NamePattern(name, isPattern: grant.pattern.isPattern)
    return grant
  }
}

extension [GrantTemplate] {
  /// Returns the grants of a user, except those that the id does not fit.
  ///
  /// - Parameters:
  ///   - id: The user's id at the issuer.
  ///   - prefix: The operator's text before the id.
  public func grants(for id: String, prefix: String = "") -> [Grant] {
    let name = PlainName(id)
    return compactMap { $0.grant(for: name, prefix: prefix) }
  }
}
