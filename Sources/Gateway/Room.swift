import GatewayPorts

/// Who wants to hear of a room's resource updates, in the order in which they came.
///
/// The name is an opaque string.
struct Room {
  private(set) var members: [ConnectionID] = []

  var isEmpty: Bool { members.isEmpty }

  mutating func add(_ connection: ConnectionID) {
    if !members.contains(connection) { members.append(connection) }
  }

  mutating func remove(_ connection: ConnectionID) {
    members.removeAll { $0 == connection }
  }
}
