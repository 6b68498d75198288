public import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// The sessions of the compatibility dialects: their transports, and the publications for them.
extension Gateway: SessionDialectOwner {
  // MARK: Carriers

  /// A message has come over a connection that only carries sessions.
  func receivedByCarrier(
    _ id: ConnectionID, _ message: UnsafeRawBufferPointer, kind: MessageKind
  ) {
    if !socketIO.received(message, kind: kind, byCarrier: id) {
      bayeux.received(message, byCarrier: id)
    }
  }

  /// A message on such a connection was too long.
  func oversizedByCarrier(_ id: ConnectionID) {
    if !socketIO.oversized(byCarrier: id) { bayeux.oversized(byCarrier: id) }
  }

  /// A message on such a connection was dropped in part, since its sender holds its share of memory.
  func crowdedCarrier(_ id: ConnectionID) {
    if !socketIO.crowded(carrier: id) { bayeux.crowded(carrier: id) }
  }

  /// Such a connection is gone.
  func closedCarrier(_ id: ConnectionID) {
    if !socketIO.closed(carrier: id) { bayeux.closed(carrier: id) }
  }

  // MARK: Requests

  /// Answers a request of the dialects, now or later.
  ///
  /// - Returns: Whether the path is theirs.
  func requestOfDialect(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    switch Opening(head) {
    case .socketIO: socketIO.receive(request, head: head, body: body)
    case .bayeux: bayeux.receive(request, head: head, body: body)
    case .native, .whaler, .pusher, nil:
      return apps.receive(request, head: head, body: body)
        || pusher.receive(request, head: head, body: body)
    }
    return true
  }

  /// Whether a request is a poll, which waits for news.
  public func isHeld(_ request: RequestID) -> Bool {
    socketIO.isPoll(request) || bayeux.isPoll(request)
  }

  /// The client of a request that waited went away.
  public func abandoned(_ request: RequestID) {
    socketIO.abandoned(request)
    bayeux.abandoned(request)
    board.forgetRead(of: request)
    search.abandoned(request)
    files.abandoned(request)
  }

  // MARK: Sessions

  func showTyping(_ typing: JSONValue, of author: PersonID, in room: RoomName) {
    bayeux.deliver(typing, by: author, in: room)
  }

  /// Sends a publication to the room's members of these dialects.
  func deliverToSessions(_ publication: Publication, epoch: String, in name: RoomName) {
    if !socketIO.isEmpty || !bayeux.isEmpty {
      let data = RoomView.placed(publication)
      socketIO.deliver(.publication(publication, data: data, epoch: epoch), in: name)
      bayeux.deliver(data, by: publication.personID, in: name)
    }
    bayeux.finishDelivery()
  }

  /// Notifies them that a resource has changed.
  func deliverToSessions(_ update: ResourceUpdate, in name: RoomName) {
    guard !socketIO.isEmpty || !bayeux.isEmpty else { return }
    socketIO.deliver(.packet(RoomView.socketIO(update, in: name), author: nil), in: name)
    bayeux.deliver(RoomView.bayeux(update), by: nil, in: name)
  }
}
