import GatewayPorts

/// The subscribers of a room, in the order in which they came.
///
/// The name is an opaque string.
struct Room {
  /// Connections that receive publications.
  private(set) var members: [ConnectionID] = []
  /// The members, and connections that wait for what they have missed.
  private var occupants: Set<ConnectionID> = []

  /// The members' place in the history, if other nodes publish in the room, too.
  var cursor: RoomCursor?
  /// Whether that place is being looked for.
  var isFindingPlace = false

  var isEmpty: Bool { occupants.isEmpty }

  /// Makes a connection an occupant.
  mutating func admit(_ connection: ConnectionID) { occupants.insert(connection) }

  /// Makes an occupant a member.
  mutating func add(_ connection: ConnectionID) {
    occupants.insert(connection)
    if !members.contains(connection) { members.append(connection) }
  }

  /// Lets a member wait: what is published from here on reaches it with what it has missed.
  mutating func suspend(_ connection: ConnectionID) { members.removeAll { $0 == connection } }

  mutating func remove(_ connection: ConnectionID) {
    members.removeAll { $0 == connection }
    occupants.remove(connection)
  }
}
