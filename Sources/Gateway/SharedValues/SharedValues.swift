import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The HTTP API for the values of rooms, and for signals.
///
///     GET   /api/rooms/{room}/values           prefix=, after=, limit=; or name= for one value
///     GET   /api/rooms/{room}/values/{name}    one value
///     PATCH /api/rooms/{room}/values           {"values": […], "ifOffsets": {…}, "key": …}
///     POST  /api/rooms/{room}/signal           {"name": "pointer", "data": …}
final class SharedValues: Part {
  let board: Switchboard
  private let rooms: Rooms
  /// The requests that wait for values of the store.
  private var readers: [RequestID: Call] = [:]

  /// Maximum and default values of one page.
  private static let pageMax = 1_000

  init(_ board: Switchboard, _ rooms: Rooms) {
    self.board = board
    self.rooms = rooms
  }

  // MARK: Reading

  func read(_ call: Call) throws(Response) {
    if let name = try call.query.text("name") { return try readOne(call, ValueName(name)) }
    let prefix = try call.query.text("prefix") ?? ""
    let after = try call.query.text("after").map { ValueName($0) }
    for text in [prefix, after?.text ?? ""] where text.utf8.count > ValueName.bytesMax {
      throw Self.tooLong
    }
    let limit = try call.query.limit(Self.pageMax, max: Self.pageMax)
    read(
      call,
      ValueQuery(
        .prefix(prefix, after: after), countMax: limit, bytesMax: settings.valuePageBytes))
  }

  func readOne(_ call: Call) throws(Response) {
    guard let name = call.item else {
      throw .problem(400, .badMessage, "expected the name in UTF-8, percent-encoded")
    }
    try readOne(call, ValueName(name))
  }

  private func readOne(_ call: Call, _ name: ValueName) throws(Response) {
    guard name.isValid else { throw Self.tooLong }
    read(call, ValueQuery(.one(name)))
  }

  private static var tooLong: Response {
    .problem(413, .tooLarge, "a name of a value has 1 to \(ValueName.bytesMax) bytes")
  }

  private func read(_ call: Call, _ query: ValueQuery) {
    readers[call.request] = call
    rooms.readValues(
      ValueReading(room: call.room, query: query, reader: .request(call.request)))
  }

  /// Responds to a request for values.
  func answer(_ work: ValueReading, _ outcome: StoreOutcome<RoomValuesPage>) {
    guard case .request(let request) = work.reader,
      let call = readers.removeValue(forKey: request)
    else { return }
    switch outcome {
    case .success(let page): respond(request, Self.response(page, work.query, call))
    case .failure(let error): refuse(request, error, "room request failed")
    }
  }

  private static func response(
    _ page: RoomValuesPage, _ query: ValueQuery, _ call: Call
  ) -> Response {
    var tag = FNV1a(page.head.epoch.text.utf8)
    let body: [UInt8]
    switch query.names {
    case .prefix:
      tag.combine(UInt64(page.head.offset))
      body = ValueJSON.page(page)
    case .one:
      guard let item = page.values.first else {
        return .problem(404, .unknownValue, "the room has no value of this name")
      }
      tag.combine(UInt64(item.value.offset))
      body = ValueJSON.one(item, at: page.head)
    }
    return Response.json(200, body)
      .with("etag", "\"\(String(tag.value, radix: 16))\"").unless(known: call.known)
  }

  // MARK: Changing

  func change(_ call: Call) throws(Response) {
    guard let item = RoomJSON.publication(in: call.body), !(item.values ?? []).isEmpty else {
      throw .problem(
        400, .badMessage,
        "expected a JSON object with \"values\", 1 to \(ValueLimits.operationsMax) operations: "
          + "set with to, merge with an object in with, add with an integer in by, or delete")
    }
    let request = PublishRequest(item, in: call.room, by: call.identity)
    if request.hasConditions, !call.identity.may(.read, .room(call.room)) { throw .notGranted }
    rooms.publish(request, for: .request(call.request))
  }

  func signal(_ call: Call) throws(Response) {
    guard let (name, data) = ValueJSON.signal(in: call.body) else {
      throw .problem(400, .badMessage, "expected a JSON object with \"name\" and \"data\"")
    }
    let signal = RoomSignal(client: nil, person: call.identity.person, name: name, data: data)
    do throws(MessageRefusal) {
      try rooms.send(signal, in: call.room, from: nil)
    } catch {
      throw .problem(error.code, error.message)
    }
    respond(call.request, Response(status: 204))
  }
}
