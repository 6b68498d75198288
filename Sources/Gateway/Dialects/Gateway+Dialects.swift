public import GatewayPorts
import JSON
import SocketIO
import SocketMessages
import WebSocketFrames

/// Entry points of the compatibility dialects, which have sessions of their own.
///
/// A session that polls has no connection. So each session has a place among the connections under
/// an id that no transport gives out, and rooms know it by that.
extension Gateway {
  private static let firstPlace: UInt64 = 1 << 63

  /// An id for a session.
  func makePlace() -> ConnectionID {
    defer { nextPlace += 1 }
    return ConnectionID(Self.firstPlace | nextPlace)
  }

  /// A message has come over a connection that is no place of its own.
  func receivedByCarrier(
    _ id: ConnectionID, _ message: UnsafeRawBufferPointer, kind: MessageKind
  ) {
    if let link = socketIO.byCarrier[id] {
      receivedSocketIO(message, kind: kind, on: id, link)
    } else if bayeux.byCarrier[id] != nil {
      receivedBayeux(message, on: id)
    }
  }

  /// A message on such a connection was too long.
  func oversizedByCarrier(_ id: ConnectionID) {
    if let link = socketIO.byCarrier[id] {
      perform(link.session.end(.badPacket), for: link)
    } else if bayeux.byCarrier[id] != nil {
      act(
        .close(
          id, code: CloseCode(CloseReason.messageTooLarge.rawValue), reason: "message too large"))
    }
  }

  /// Such a connection is gone.
  func closedCarrier(_ id: ConnectionID) {
    if let link = socketIO.byCarrier[id] {
      closedSocketIO(id, link)
    } else if bayeux.byCarrier[id] != nil {
      closedBayeux(id)
    }
  }

  /// Ends the session that has this place, if one has.
  ///
  /// - Returns: Whether one had.
  func endSession(at place: ConnectionID) -> Bool {
    if let link = socketIO.byPlace[place] {
      dismiss(link)
      return true
    }
    if let link = bayeux.byPlace[place] {
      endBayeux(link)
      return true
    }
    return false
  }

  /// Removes a session's place.
  func forget(_ place: Connection) {
    guard connections.removeValue(forKey: place.id) != nil else { return }
    place.phase = .closing
    leaveEverything(place)
  }

  /// Answers a request of the dialects, now or later.
  ///
  /// - Returns: Whether the path is theirs.
  func requestOfDialect(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    switch Opening(head) {
    case .socketIO: requestSocketIO(request, head: head, body: body)
    case .bayeux: requestBayeux(request, head: head, body: body)
    case .native, .whaler, nil:
      guard head.path.utf8.elementsEqual("/private/pusher".utf8) else {
        return requestGroupChat(request, head: head, body: body)
      }
      push(request, head, body)
    }
    return true
  }

  /// The client of a request that waited went away.
  public func abandoned(_ request: RequestID) {
    if let link = socketIO.byPoll[request] { abandonedSocketIO(link) }
    if let link = bayeux.byRequest[request] { abandonedBayeux(link) }
    board.forgetRead(of: request)
  }

  /// `POST /private/pusher`: a backend of the Twake family publishes.
  private func push(_ request: RequestID, _ head: RequestHead, _ body: [UInt8]) {
    guard head.method == "POST" else {
      respond(request, .methodNotAllowed("POST"))
      return
    }
    var head = head
    let header = head.headers["authorization"] ?? ""
    if header.utf8.starts(with: "Token ".utf8) {
      head.headers["authorization"] = "Bearer " + String(header.dropFirst(6))
    }
    guard let identity = access.identity(of: head, request) else { return }
    guard let fields = JSONFields(body), let room = fields["room"]?.string,
      let data = fields["data"]
    else {
      respond(
        request, .problem(400, .badMessage, "expected a JSON object with \"room\" and \"data\""))
      return
    }
    guard access.allows(identity, .publish, .room(room), request) else { return }
    rooms.publish(
      PublishRequest(room: room, data: data, person: identity.person),
      for: .backend(request))
  }

  /// Answers a backend of the Twake family that publishes.
  func answer(backend request: RequestID, _ result: PublishResult) {
    switch result {
    case .published: respond(request, .json(200, Array("{}".utf8)))
    case .refused(let code, let message):
      respond(request, .problem(code, message))
    }
  }

  /// Sends a publication to those members of its room who speak such a dialect.
  func deliverToSessions(_ publication: Publication, epoch: String, in name: RoomName) {
    if !socketIO.byPlace.isEmpty || !bayeux.byPlace.isEmpty {
      let data = RoomView.placed(publication)
      deliverSocketIO(.publication(publication, data: data, epoch: epoch), in: name)
      deliverBayeux(data, by: publication.person, in: name)
    }
    finishDelivery()
  }

  /// Tells them that a resource has changed.
  func deliverToSessions(_ update: ResourceUpdate, in name: RoomName) {
    guard !socketIO.byPlace.isEmpty || !bayeux.byPlace.isEmpty else { return }
    deliverSocketIO(.packet(RoomView.socketIO(update, in: name), author: nil), in: name)
    deliverBayeux(RoomView.bayeux(update), by: nil, in: name)
  }
}
