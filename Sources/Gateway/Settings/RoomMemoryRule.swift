public import ParleyGatewayPorts

/// A rule for the history limits of rooms that match a pattern.
public struct RoomMemoryRule: Sendable, Equatable {
  /// The rooms that the rule matches.
  public var pattern: NamePattern
  /// The history limits of these rooms.
  public var memory: RoomMemory

  /// Creates a rule.
  public init(_ pattern: NamePattern, _ memory: RoomMemory) {
    self.pattern = pattern
    self.memory = memory
  }
}

extension GatewaySettings {
  /// Returns a room's history limits, from the first rule that matches it, or the default.
  func memory(of room: RoomName) -> RoomMemory {
    roomMemories.first { $0.pattern.matches(room.text) }?.memory ?? roomMemory
  }
}
