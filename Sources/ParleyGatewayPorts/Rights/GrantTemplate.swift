/// A right of the users of an issuer or a provider, with `{user}` in place of the user's id.
///
///     folder:home/{user}/*=all   ada   ─▶  folder:home/ada/*=all
///     folder:home/{user}/*=all   *     ─▶  nothing
///
/// The id is put between the parts of the name. It is never read as a part of a pattern, and an id that could be one
/// gives no right.
public struct GrantTemplate: Sendable, Hashable {
  private let grant: Grant
  /// The parts of the name, with the id between each two. A right without `{user}` has one part.
  private let parts: [String]

  private static let placeholder = "{user}"

  /// Reads `MATCH=MAY`, as ``Grant`` does.
  public init(_ kind: Grant.Kind, text: String) throws(GrantTextError) {
    grant = try Grant(kind, text: text)
    parts = grant.pattern.name
      .split(separator: Self.placeholder, omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the right of a user.
  ///
  /// - Parameters:
  ///   - id: The user's id at the issuer; `nil` for one that is no plain name.
  ///   - prefix: The operator's text before the id.
  /// - Returns: `nil` if the right depends on the id, and the id cannot be one name in it.
  public func grant(for id: PlainName?, prefix: String = "") -> Grant? {
    guard parts.count > 1 else { return grant }
    guard let id else { return nil }
    var grant = grant
    let name = parts.joined(separator: prefix + id.text)
    guard grant.kind == .folders else {
      grant.pattern = NamePattern(name, isPattern: grant.pattern.isPattern)
      return grant
    }
    // A prefix with a slash would name a folder of the user that is called like its beginning.
    guard PlainName(prefix + id.text) != nil else { return nil }
    let path =
      grant.pattern.isPattern ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
    guard let folder = try? FolderPath(path), folder.text.utf8.elementsEqual(path.utf8) else {
      return nil
    }
    grant.pattern = NamePattern(name, isPattern: grant.pattern.isPattern)
    return grant
  }
}

extension [GrantTemplate] {
  /// Returns the rights of a user, without those that the id cannot have.
  ///
  /// - Parameters:
  ///   - id: The user's id at the issuer.
  ///   - prefix: The operator's text before the id.
  public func grants(for id: String, prefix: String = "") -> [Grant] {
    let name = PlainName(id)
    return compactMap { $0.grant(for: name, prefix: prefix) }
  }
}
