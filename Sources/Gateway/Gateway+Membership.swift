import GatewayPorts
import SocketMessages

/// Belonging to a room while offline, and being told of what is published there.
extension Gateway {
  func handle(_ message: ClientMessage.Follow, ref: String, _ connection: Connection) {
    guard let membership = offered(people.membership, ref: ref, connection),
      checksOut(room: message.room, ref: ref, connection),
      // Whoever has lost the right may still say that they do not want to be told.
      !message.isFollowing || allows(.read, "reading", in: message.room, ref: ref, connection),
      givesSign(ref: ref, connection)
    else { return }
    membership.set(
      connection.person, in: message.room, isMember: message.isFollowing, store: self
    ) { [unowned self] error in
      if let error { return sendUnavailable(error, ref: ref, to: connection) }
      sendNative(
        .following(
          ServerMessage.Following(room: message.room, isFollowing: message.isFollowing)),
        ref: ref, to: connection)
    }
  }

  /// Has every follower of the room told who has no connection.
  func notify(_ publication: Publication, epoch: String, in room: RoomName) {
    guard let push = people.push, let membership = people.membership else { return }
    membership.members(of: room, store: self) { [unowned self] outcome in
      guard case .success(let members) = outcome else {
        surroundings.log.write(.error, "followers not told", [])
        return
      }
      for person in members where online[person] == nil {
        if let author = publication.person,
          author.utf8.elementsEqual(person.utf8)
            || people.blocking?.separates(person, from: author) ?? false
        {
          continue
        }
        push.notify(
          PushNotification(person: person, room: room, epoch: epoch, publication: publication))
      }
    }
  }
}
