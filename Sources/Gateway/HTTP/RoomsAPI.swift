import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The HTTP API for rooms.
///
///     POST /api/rooms/{room}/publish                  {"data": …} publishes
///     POST /api/publish                               {"publications": [{"room": …}, …]}
///     GET  /api/rooms/{room}/history?since=|before=   publications; limit= is 20 by default
///     GET  /api/rooms/{room}/presence                 the users who are present
///
/// A room's name may contain slashes, literal or percent-encoded.
final class RoomsAPI: Part {
  let board: Switchboard
  private let rooms: Rooms
  private let once: OnceRequests
  /// Batches of publications that are in progress.
  private var batches: [RequestID: PublicationBatch] = [:]

  init(_ board: Switchboard, _ rooms: Rooms, _ once: OnceRequests) {
    self.board = board
    self.rooms = rooms
    self.once = once
  }

  /// Refuses a name that is too long for a room.
  func check(name: RoomName) throws(Response) {
    if let problem = rooms.checks.problem(ofRoom: name) { throw .problem(413, .tooLarge, problem) }
  }

  func readRoomPresence(_ call: Call) throws(Response) {
    guard let presence = rooms.people.presence else {
      throw .problem(404, .notOffered, "this server does not offer presence")
    }
    let reader = call.identity.person
    let visible = presence.present(in: call.room).filter { somebody in
      !(reader.map { rooms.people.separates($0, from: somebody.personID) } ?? false)
    }
    respond(call.request, .json(200, RoomJSON.present(visible, in: call.room)))
  }

  // MARK: Publishing

  func publish(_ call: Call) throws(Response) {
    guard let item = RoomJSON.publication(in: call.body), item.hasContent else {
      throw .problem(
        400, .badMessage, "expected a JSON object with \"data\", \"values\" or both")
    }
    let work = PublishRequest(item, in: call.room, by: call.identity)
    if work.hasConditions, !call.identity.may(.read, .room(call.room)) { throw .notGranted }
    rooms.publish(work, for: .request(call.request))
  }

  /// Responds to a request to publish.
  func answer(_ request: RequestID, _ result: PublishResult, in name: RoomName) {
    switch result {
    case .published(let position, let isRepeated):
      respond(request, .published(name, position, isRepeated: isRepeated))
    case .refused(let code, let message):
      respond(request, .problem(code, message))
    case .unmet(let condition): respond(request, .unmet(condition))
    }
  }

  func publishBatch(_ call: Call) throws(Response) {
    let request = call.request
    let countMax = settings.limits.pageMax
    guard let items = RoomJSON.publications(in: call.body, countMax: countMax), !items.isEmpty
    else {
      throw .problem(400, .badMessage, "expected a JSON object with a list of \"publications\"")
    }
    guard items.count <= countMax else {
      throw .problem(
        413, .tooMany, "a batch may contain at most \(countMax) publications")
    }
    batches[request] = PublicationBatch(count: items.count)
    for (index, item) in items.enumerated() {
      var item = item
      // A batch may span several commits. A key for each publication lets a retry repeat none.
      item.key = item.key ?? once.key(ofPart: index, of: request)
      publish(item, index, of: request, call.identity)
    }
  }

  private func publish(
    _ item: RoomJSON.Item, _ index: Int, of request: RequestID, _ identity: Identity
  ) {
    guard let name = item.room, item.hasContent else {
      answer(
        part: index, of: request,
        .refused(.badMessage, "expected \"room\", and \"data\", \"values\" or both"),
        in: item.room ?? "")
      return
    }
    let work = PublishRequest(item, in: name, by: identity)
    guard identity.may(work.hasConditions ? [.publish, .read] : .publish, .room(name)) else {
      log(.info, "request refused", ErrorCode.notAllowed.rawValue)
      answer(
        part: index, of: request,
        .refused(.notAllowed, "the token does not grant publishing in this room"), in: name)
      return
    }
    rooms.publish(work, for: .part(request, index: index))
  }

  /// Records the result of one publication of a batch. After the last result, sends the response.
  func answer(
    part index: Int, of request: RequestID, _ result: PublishResult, in room: RoomName
  ) {
    batches[request]?.note(result, of: index, in: room)
    guard let batch = batches[request], batch.isDone else { return }
    batches[request] = nil
    if !batch.isWhole { once.discardResponse(of: request) }
    respond(request, .json(200, RoomJSON.results(batch.results)))
  }

  // MARK: History

  func readRoomHistory(_ call: Call) throws(Response) {
    let since = call.query.number("since")
    let before = call.query.number("before")
    let limit = call.query.number("limit")
    guard let since = since.optional, let before = before.optional, let limit = limit.optional,
      let range = Rooms.range(since: since, before: before), let limit = rooms.limit(limit)
    else {
      throw .problem(
        400, .badMessage,
        "expected at most one of since and before, as a number, and a limit from 1 to "
          + "\(settings.limits.pageMax)")
    }
    let values = call.query["values"] ?? "false"
    guard values == "true" || values == "false" else {
      throw .problem(400, .badMessage, "expected true or false as values")
    }
    rooms.read(
      call.room, range, limit: limit, visibleTo: call.identity.person,
      takesValues: values == "true", for: .request(call.request))
  }

  /// Responds to a request for a range of a room's history.
  func answer(_ request: RequestID, _ outcome: StoreOutcome<RoomPage>, of name: RoomName) {
    switch outcome {
    case .success(let page): respond(request, .json(200, RoomJSON.page(page, of: name)))
    case .failure(let error): refuse(request, error, "room request failed")
    }
  }
}
