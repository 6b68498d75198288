import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// Membership of rooms, and notifications about publications for members who are offline.
extension Rooms {
  func handle(
    _ message: ClientMessage.Follow, ref: String, _ connection: Connection
  ) throws(MessageRefusal) {
    let membership = try checks.offered(people.membership)
    let room = RoomName(message.room)
    try checks.checkName(of: room)
    // A person who has lost the right can still unsubscribe from notifications.
    if message.isFollowing { try checks.checkRight(.read, "reading", in: room, connection) }
    try checks.countSignal(connection)
    membership.set(
      connection.person, in: room, isMember: message.isFollowing, store: storage
    ) { [unowned self] error in
      if let error { return checks.sendUnavailable(error, ref: ref, to: connection) }
      send(
        .following(.init(room: message.room, isFollowing: message.isFollowing)), ref: ref,
        to: connection)
    }
  }

  /// Notifies the room's followers who are offline.
  func notify(_ publication: Publication, epoch: Epoch, in room: RoomName) {
    guard let push = people.push else { return }
    notifications(of: publication, epoch: epoch, in: room) { [unowned self] outcome in
      switch outcome {
      case .success(let notifications):
        for notification in notifications { push.notify(notification) }
      case .failure(let error):
        dependencies.log.write(.error, "followers not notified", [("error", error.logName)])
      }
    }
  }

  /// Returns notifications for the room's followers who are offline. The owner has to take the
  /// actions afterwards.
  func notifications(
    of publication: Publication, epoch: Epoch, in room: RoomName,
    then proceed: @escaping (Result<[PushNotification], StoreError>) -> Void
  ) {
    guard let membership = people.membership else { return proceed(.success([])) }
    membership.members(of: room, store: storage) { [unowned self] outcome in
      proceed(
        outcome.map { members in
          members.filter { !presence.isOnline($0) && isFor($0, publication) }.map {
            PushNotification(person: $0, room: room, epoch: epoch, publication: publication)
          }
        })
    }
  }

  /// Whether a publication is relevant for a person: not for its author, nor for readers separated
  /// from the author by a block.
  private func isFor(_ person: PersonID, _ publication: Publication) -> Bool {
    guard let author = publication.personID else { return true }
    return author != person
      && !(people.blocking?.separates(person, from: author) ?? false)
  }
}
