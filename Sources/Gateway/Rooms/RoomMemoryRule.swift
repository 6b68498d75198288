public import GatewayPorts

/// How much the rooms of a pattern remember.
public struct RoomMemoryRule: Sendable, Equatable {
  /// Which rooms.
  public var pattern: NamePattern
  /// What they remember.
  public var memory: RoomMemory

  /// Makes a rule.
  public init(_ pattern: NamePattern, _ memory: RoomMemory) {
    self.pattern = pattern
    self.memory = memory
  }
}

extension GatewaySettings {
  /// What a room remembers: as the first rule says that means it, or as the default.
  func memory(of room: RoomName) -> RoomMemory {
    roomMemories.first { $0.pattern.matches(room) }?.memory ?? roomMemory
  }
}
