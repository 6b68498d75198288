public import ParleyGatewayPorts

/// A choice of values of rooms, written `board-*=card-*`.
public struct WebhookValueRule: Sendable, Hashable {
  /// The rooms.
  public var rooms: NamePattern
  /// The names of their values.
  public var names: NamePattern

  /// Creates a rule.
  public init(rooms: NamePattern, names: NamePattern) {
    self.rooms = rooms
    self.names = names
  }

  /// Parses a rule; `nil` unless both patterns are there.
  ///
  /// - Parameter text: The patterns, separated by the last `=`: a room's name may contain one.
  public init?(_ text: some StringProtocol) {
    guard let equals = text.lastIndex(of: "=") else { return nil }
    let (rooms, names) = (text[..<equals], text[text.index(after: equals)...])
    guard !rooms.isEmpty, !names.isEmpty else { return nil }
    self.init(rooms: NamePattern(String(rooms)), names: NamePattern(String(names)))
  }
}
