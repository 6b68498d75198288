import ParleyGatewayPorts

/// A request over HTTP about groups that waits for the store.
struct GroupWork {
  let request: GroupRequest
  let identity: Identity
}

extension GroupRequest {
  /// The room of the request; `nil` if it concerns only a person.
  var room: RoomName? {
    switch self {
    case .put(let room, _, _, _), .delete(let room, _), .group(let room),
      .putMember(let room, _, _, _, _, _), .removeMember(let room, _, _),
      .members(let room, _, _), .likes(let room, _, _), .read(let room, _, _, _):
      room
    case .like(let place, _, _, _): place.room
    case .groups, .badges: nil
    }
  }
}
