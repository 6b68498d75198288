import ParleyGatewayPorts

/// The occupied rooms, by name.
final class RoomTable {
  private var rooms: [RoomName: Room] = [:]

  /// The number of rooms.
  var count: Int { rooms.count }

  /// The names of the rooms, unordered.
  var names: [RoomName] { Array(rooms.keys) }

  subscript(name: RoomName) -> Room? {
    get { rooms[name] }
    _modify { yield &rooms[name] }
  }

  subscript(name: RoomName, default room: @autoclosure () -> Room) -> Room {
    get { rooms[name, default: room()] }
    _modify { yield &rooms[name, default: room()] }
  }
}
