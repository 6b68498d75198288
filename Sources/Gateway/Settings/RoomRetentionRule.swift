public import ParleyGatewayPorts

/// A rule for the history limits of rooms that match a pattern.
public struct RoomRetentionRule: Sendable, Equatable {
  /// The rooms that the rule matches.
  public var pattern: NamePattern
  /// The history limits of these rooms.
  public var retention: RoomRetention

  /// Creates a rule.
  public init(_ pattern: NamePattern, _ retention: RoomRetention) {
    self.pattern = pattern
    self.retention = retention
  }
}

extension GatewaySettings {
  /// Returns a room's history limits, from the first rule that matches it, or the default.
  func retention(of room: RoomName) -> RoomRetention {
    roomMemories.first { $0.pattern.matches(room.text) }?.retention ?? roomRetention
  }
}
