public import ParleyClient

/// The people in a note or a room, as a row of badges shows them.
public struct PeopleSummary: Sendable, Hashable {
  /// A person's badge.
  public struct Badge: Sendable, Hashable, Identifiable {
    /// The person's id.
    public let id: String
    /// The name.
    public let name: String
    /// The first letters of the first and the last word of the name.
    public let initials: String
    /// The colour, as their caret's.
    public let color: CaretColor
    /// Whether the person writes just now.
    public let isWriting: Bool
  }

  /// The badges, beginning with the people who write.
  public let badges: [Badge]
  /// The number of people without a badge.
  public let further: Int

  /// Sums up people. Views that call it observe what it reads.
  ///
  /// - Parameters:
  ///   - count: The number of people where not all are named, this person included: ``Note/peopleCount``.
  ///   - most: Badges at most.
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
