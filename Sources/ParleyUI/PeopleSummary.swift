public import ParleyClient

/// A summary of the people in a note or a room, for a row of badges.
public struct PeopleSummary: Sendable, Hashable {
  /// A person's badge.
  public struct Badge: Sendable, Hashable, Identifiable {
    /// The person's id.
    public let id: String
    /// The name.
    public let name: String
    /// The initials: the first letters of the name's first and last words.
    public let initials: String
    /// The colour, equal to that of the person's caret.
    public let color: CaretColor
    /// Whether the person is writing.
    public let isWriting: Bool
  }

  /// The badges, starting with people who are writing.
  public let badges: [Badge]
  /// The number of people without a badge.
  public let further: Int

  /// Creates a summary. Views that call it observe the people's properties.
  ///
  /// - Parameters:
  ///   - count: The number of people, this one included, if not all of them are listed:
  ///     `Note.peopleCount`.
  ///   - most: Maximum badges.
  @MainActor public init(_ people: [Person], count: Int? = nil, most: Int = 5) {
    let others = max(people.count, (count ?? 1) - 1)
    badges = (people.filter(\.isWriting) + people.filter { !$0.isWriting }).prefix(most).map {
      Badge(
        id: $0.id, name: $0.name, initials: Self.initials($0.name),
        color: CaretColor($0.color, of: $0.id), isWriting: $0.isWriting)
    }
    further = others - badges.count
  }

  package static func initials(_ name: String) -> String {
    let words = name.split(whereSeparator: \.isWhitespace)
    guard let first = words.first?.first else { return "?" }
    guard words.count > 1, let last = words.last?.first else { return first.uppercased() }
    return first.uppercased() + last.uppercased()
  }
}
