public import ParleyGatewayPorts
import SocketMessages
import ParleyWebSocketFrames

/// Calls from the rooms to other parts and to the gateway's owner.
extension Gateway: RoomsOwner, PeopleStore {
  /// Notifies a room's subscribers that a resource has changed. The room does not store it.
  ///
  /// - Parameter sender: The caller's sender id, by which its own app can ignore the event.
  public func publish(resource: String, in name: RoomName, sender: String?) {
    rooms.publish(resource: resource, in: name, sender: sender)
  }

  /// Finds the room's followers that have no connection, and the notifications for them. The owner
  /// must then take the actions.
  public func notifications(
    of publication: Publication, epoch: Epoch, in room: RoomName,
    then proceed: @escaping (Result<[PushNotification], StoreError>) -> Void
  ) {
    rooms.notifications(of: publication, epoch: epoch, in: room, then: proceed)
  }

  /// Has the store perform a request about people; see ``PeopleStore``.
  public func perform(_ request: PeopleRequest, then proceed: @escaping (PeopleReply) -> Void) {
    rooms.storage.perform(request, then: proceed)
  }

  // MARK: Rooms

  func answer(_ publisher: Publisher, _ result: PublishResult, in room: RoomName) {
    switch publisher {
    case .native, .service: break  // The rooms have answered it, or no answer is wanted.
    case .request(let request): http.rooms.answer(request, result, in: room)
    case .part(let request, let index):
      http.rooms.answer(part: index, of: request, result, in: room)
    case .backend(let request): apps.answer(backend: request, result)
    case .groupChat(let request, let subject, let time):
      apps.answer(groupChat: request, subject, at: time, result)
    case .socketIO(let place): socketIO.answer(place, result, in: room)
    case .pusher(let request): pusher.answer(publishing: request, result)
    case .bayeux(let number): bayeux.answer(publishing: number, result)
    }
  }

  func answer(_ work: RoomSubscribing, _ outcome: StoreOutcome<RoomRecovery>) {
    switch work.subscriber {
    case .native: break  // The rooms have answered it.
    case .socketIO(let place): socketIO.finish(work, outcome, at: place)
    }
  }

  func answer(_ reader: RoomReader, _ outcome: StoreOutcome<RoomPage>, of room: RoomName) {
    switch reader {
    case .native: break  // The rooms have answered it.
    case .request(let request): http.rooms.answer(request, outcome, of: room)
    case .groupChat(let request, let isSince):
      apps.answer(groupChat: request, outcome, isSince: isSince)
    case .pusher(let id): pusher.answer(id, outcome, of: room)
    }
  }

  func answer(_ work: ValueReading, _ outcome: StoreOutcome<RoomValuesPage>) {
    http.values.answer(work, outcome)
  }

  func keepingAnswer(
    of publication: StoreRequest, in room: RoomName, to request: RequestID
  ) -> StoreRequest {
    http.once.keepingAnswer(of: publication, in: room, to: request)
  }
}
