public import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// The sessions of the compatibility dialects: their transports, and the delivery of publications.
extension Gateway: SessionDialectOwner {
  // MARK: Carriers

  /// Handles a message on a connection that only carries sessions.
  func receivedByCarrier(
    _ id: ConnectionID, _ message: UnsafeRawBufferPointer, kind: MessageKind
  ) {
    if !socketIO.received(message, kind: kind, byCarrier: id) {
      bayeux.received(message, byCarrier: id)
    }
  }

  /// Handles a message on a carrier connection that exceeded the size limit.
  func oversizedByCarrier(_ id: ConnectionID) {
    if !socketIO.oversized(byCarrier: id) { bayeux.oversized(byCarrier: id) }
  }

  /// Handles a carrier's message that was dropped in part: its sender has used its share of memory.
  func carrierDroppedForMemory(_ id: ConnectionID) {
    if !socketIO.droppedForMemory(carrier: id) { bayeux.droppedForMemory(carrier: id) }
  }

  /// Handles the end of a carrier connection.
  func closedCarrier(_ id: ConnectionID) {
    if !socketIO.closed(carrier: id) { bayeux.closed(carrier: id) }
  }

  // MARK: Requests

  /// Answers a request of the compatibility dialects, now or later.
  ///
  /// - Returns: Whether the path belongs to one of these dialects.
  func requestOfDialect(
    _ request: RequestID, head: RequestHead, at target: RequestTarget?, body: [UInt8]
  ) -> Bool {
    switch clientKind(of: head) {
    case .socketIO: socketIO.receive(request, head: head, body: body)
    case .bayeux: bayeux.receive(request, head: head, body: body)
    case .native, .whaler, .pusher, .shareDB, .rustpad, nil:
      switch target {
      case .app(let kind, let names):
        apps.receive(kind, names: names, request, head: head, body: body)
      case .pusher(let kind, let names):
        return pusher.receive(kind, names: names, request, head: head, body: body)
      case .resource, nil: return false
      }
    }
    return true
  }

  /// Returns the dialect of a request's path.
  func clientKind(of head: RequestHead) -> ClientKind? {
    ClientKind(head, shareDBPath: settings.dialects.shareDBPath)
  }

  /// Whether a request is a poll that waits for events.
  public func isHeld(_ request: RequestID) -> Bool {
    socketIO.isPoll(request) || bayeux.isPoll(request)
  }

  /// Handles the disconnect of a client whose request was still waiting.
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

  /// Sends a publication to the room's subscribers with Socket.IO or Bayeux.
  func deliverToSessions(_ publication: Publication, epoch: Epoch, in name: RoomName) {
    if !socketIO.isEmpty || !bayeux.isEmpty, let data = RoomView.placed(publication) {
      socketIO.deliver(.publication(publication, data: data, epoch: epoch), in: name)
      bayeux.deliver(data, by: publication.personID, in: name)
    }
    bayeux.finishDelivery()
  }

  /// Notifies the room's subscribers with Socket.IO or Bayeux that a resource has changed.
  func deliverToSessions(_ update: ResourceUpdate, in name: RoomName) {
    guard !socketIO.isEmpty || !bayeux.isEmpty else { return }
    socketIO.deliver(.packet(RoomView.socketIO(update, in: name), author: nil), in: name)
    bayeux.deliver(RoomView.bayeux(update), by: nil, in: name)
  }
}
