import GatewayPorts
import SocketMessages

/// Rooms of resource updates.
extension Gateway {
  /// The room that hears when the list of notes changes.
  static let noteListRoom = "notes"

  func join(room name: String, _ connection: Connection) {
    connection.rooms.insert(name)
    rooms[name, default: Room()].add(connection.id)
  }

  func leave(room name: String, _ connection: Connection) {
    connection.rooms.remove(name)
    rooms[name]?.remove(connection.id)
    if rooms[name]?.isEmpty ?? false { rooms[name] = nil }
  }

  /// Tells a room's subscribers that a resource has changed.
  ///
  /// - Parameter sender: named by whoever caused the change, so that their own app can ignore it.
  public func publish(resource: String, in name: String, sender: String?) {
    guard let room = rooms[name] else { return }
    let update = ResourceUpdate(resourceID: resource, senderID: sender)
    var native: Frame?
    var whaler: Frame?
    for id in room.members {
      guard let connection = connections[id] else { continue }
      switch connection.dialect {
      case .native:
        let frame = native ?? nativeFrame(.resourceUpdate(update), ref: pushID())
        native = frame
        send(frame, to: connection)
      case .whaler:
        let frame = whaler ?? whalerFrame(.resourceUpdate(update), messageID: pushID())
        whaler = frame
        send(frame, to: connection)
      }
    }
  }

  func publishNoteList() {
    publish(resource: Self.noteListRoom, in: Self.noteListRoom, sender: nil)
  }
}
