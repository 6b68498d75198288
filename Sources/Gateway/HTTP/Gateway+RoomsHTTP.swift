import GatewayPorts
import JSON
import SocketMessages

/// The HTTP surface for rooms.
///
///     POST /api/rooms/{room}/publish                  {"data": …} publishes
///     POST /api/publish                               {"publications": [{"room": …}, …]}
///     GET  /api/rooms/{room}/history?since=|before=   publications, 20 unless limit= says otherwise
///     GET  /api/rooms/{room}/presence                 who is there
///
/// A room's name may have slashes in it, as they are or encoded.
extension Gateway {
  /// Answers a request about rooms.
  ///
  /// - Returns: Whether the path is about them at all.
  func requestRooms(
    _ request: RequestID, head: RequestHead, path: ArraySlice<Substring>, body: [UInt8]
  ) -> Bool {
    switch path.first {
    case "publish" where path.count == 1:
      guard head.method == "POST" else {
        respond(request, .methodNotAllowed("POST"))
        return true
      }
      guard let identity = identity(of: head, request) else { return true }
      publishBatch(request, body, identity)
      return true
    case "rooms" where path.count >= 3:
      guard let identity = identity(of: head, request) else { return true }
      // A name may have slashes, and no transport has to keep those apart from the path's own.
      let parts = path.dropFirst()
      guard let what = parts.last,
        let name = PercentEncoding.decoded(Substring(parts.dropLast().joined(separator: "/")))
      else {
        respond(
          request, .problem(400, .badMessage, "the room's name is not valid percent-encoding"))
        return true
      }
      if let problem = rooms.problem(ofRoom: name) {
        respond(request, .problem(413, .tooLarge, problem))
        return true
      }
      answer(request, head, room: name, String(what), body, identity)
      return true
    default: return false
    }
  }

  private func answer(
    _ request: RequestID, _ head: RequestHead, room name: RoomName, _ what: String,
    _ body: [UInt8], _ identity: Identity
  ) {
    switch (what, head.method) {
    case ("publish", "POST"):
      guard allows(identity, .publish, .room(name), request) else { return }
      publish(request, in: name, body, identity)
    case ("publish", _): respond(request, .methodNotAllowed("POST"))
    case ("history", "GET"):
      guard allows(identity, .read, .room(name), request) else { return }
      history(request, of: name, head.query, identity)
    case ("history", _): respond(request, .methodNotAllowed("GET"))
    case ("presence", "GET"):
      guard allows(identity, .presence, .room(name), request) else { return }
      guard let presence = rooms.people.presence else {
        respond(request, .problem(404, .notOffered, "this server does not offer presence"))
        return
      }
      let reader = person(of: identity)
      let visible = presence.present(in: name).filter { somebody in
        !(reader.map { rooms.separates($0, from: somebody.id) } ?? false)
      }
      respond(request, .json(200, RoomJSON.present(visible, in: name)))
    case ("presence", _): respond(request, .methodNotAllowed("GET"))
    default: respond(request, .problem(404, .unknownType, "no such path below a room"))
    }
  }

  // MARK: Publishing

  private func publish(
    _ request: RequestID, in name: RoomName, _ body: [UInt8], _ identity: Identity
  ) {
    guard let item = RoomJSON.publication(in: body), let data = item.data else {
      respond(request, .problem(400, .badMessage, "expected a JSON object with \"data\""))
      return
    }
    rooms.publish(publishRequest(item, data, in: name, identity), for: .request(request))
  }

  /// Answers a request to publish.
  func answer(_ request: RequestID, _ result: PublishResult, in name: RoomName) {
    switch result {
    case .published(let position, let isRepeated):
      respond(request, .published(name, position, isRepeated: isRepeated))
    case .refused(let code, let message):
      respond(request, .problem(Self.status(for: code), code, message))
    }
  }

  private func publishRequest(
    _ item: RoomJSON.Item, _ data: JSONValue, in name: RoomName, _ identity: Identity
  ) -> PublishRequest {
    PublishRequest(
      room: name, data: data, key: item.key, senderID: item.senderID,
      person: person(of: identity), pushes: item.pushes)
  }

  private func publishBatch(_ request: RequestID, _ body: [UInt8], _ identity: Identity) {
    guard let items = RoomJSON.publications(in: body), !items.isEmpty else {
      respond(
        request,
        .problem(400, .badMessage, "expected a JSON object with a list of \"publications\""))
      return
    }
    guard items.count <= settings.limits.pageMax else {
      respond(
        request,
        .problem(
          413, .tooMany,
          "a batch may have \(settings.limits.pageMax) publications; this one has "
            + "\(items.count)"))
      return
    }
    batches[request] = PublicationBatch(count: items.count)
    for (index, item) in items.enumerated() {
      var item = item
      // Not all of a batch may be in one commit: each part is known by itself when it comes again.
      item.key = item.key ?? once[request].map { Self.key(ofPart: index, of: $0.keyed) }
      publish(item, index, of: request, identity)
    }
  }

  private func publish(
    _ item: RoomJSON.Item, _ index: Int, of request: RequestID, _ identity: Identity
  ) {
    guard let name = item.room, let data = item.data else {
      answer(
        part: index, of: request, .refused(.badMessage, "expected \"room\" and \"data\""),
        in: item.room ?? "")
      return
    }
    guard identity.may(.publish, .room(name)) else {
      log(.info, "request refused", ErrorCode.notAllowed.rawValue)
      answer(
        part: index, of: request,
        .refused(.notAllowed, "the token does not grant publishing in this room"), in: name)
      return
    }
    rooms.publish(
      publishRequest(item, data, in: name, identity), for: .part(request, index: index))
  }

  /// A part of a batch is done; the last one to be done has the whole answered.
  func answer(
    part index: Int, of request: RequestID, _ result: PublishResult, in room: RoomName
  ) {
    batches[request]?.note(result, of: index, in: room)
    guard let batch = batches[request], batch.isDone else { return }
    batches[request] = nil
    if !batch.isWhole { once.keepNothing(of: request) }
    respond(request, .json(200, RoomJSON.results(batch.results)))
  }

  // MARK: History

  private func history(
    _ request: RequestID, of name: RoomName, _ query: String, _ identity: Identity
  ) {
    let since = Self.number("since", in: query)
    let before = Self.number("before", in: query)
    let limit = Self.number("limit", in: query)
    guard let since = since.optional, let before = before.optional, let limit = limit.optional,
      let range = Rooms.range(since: since, before: before), let limit = rooms.limit(limit)
    else {
      respond(
        request,
        .problem(
          400, .badMessage,
          "expected since or before as a number, or neither, and a limit from 1 to "
            + "\(settings.limits.pageMax)"))
      return
    }
    rooms.read(
      name, range, limit: limit, visibleTo: person(of: identity), for: .request(request))
  }

  /// Answers a request for a part of a room's history.
  func answer(_ request: RequestID, _ outcome: StoreOutcome<RoomPage>, of name: RoomName) {
    switch outcome {
    case .success(let page): respond(request, .json(200, RoomJSON.page(page, of: name)))
    case .failure(let error):
      surroundings.log.write(.error, "room request failed", [("error", error.logName)])
      respond(
        request, .problem(503, .unavailable, "the store cannot do this now; try again later"))
    }
  }

  static func status(for code: ErrorCode) -> Int {
    switch code {
    case .tooLarge, .tooMany: 413
    case .tooFast: 429
    case .notAllowed, .unauthorised: 403
    case .keyReused: 409
    case .unavailable, .busy, .damaged: 503
    default: 400
    }
  }
}

extension Response {
  /// A publication that stands somewhere.
  static func published(_ room: RoomName, _ position: RoomPosition, isRepeated: Bool) -> Response {
    json(200, RoomJSON.published(room, position, isRepeated: isRepeated))
  }
}

extension Gateway.QueryNumber {
  /// The number, `nil` where there is none; nothing at all where it is broken.
  var optional: Int?? {
    switch self {
    case .absent: .some(nil)
    case .value(let value): value
    case .broken: nil
    }
  }
}
