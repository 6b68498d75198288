import GatewayPorts
import JSON
import SocketMessages

/// Requests over HTTP in the words of other apps: backends of the Twake family that publish, and
/// clients of group chats.
final class AppRequests: Part {
  let board: Switchboard
  let access: Access
  let rooms: Rooms

  init(_ board: Switchboard, _ access: Access, _ rooms: Rooms) {
    self.board = board
    self.access = access
    self.rooms = rooms
  }

  /// Answers a request, now or later.
  ///
  /// - Returns: whether the path is one of theirs.
  func receive(_ request: RequestID, head: RequestHead, body: [UInt8]) -> Bool {
    guard head.path.utf8.elementsEqual("/private/pusher".utf8) else {
      return receiveGroupChat(request, head: head, body: body)
    }
    answering(request) { () throws(Response) in try push(request, head, body) }
    return true
  }

  /// `POST /private/pusher`: a backend of the Twake family publishes.
  private func push(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8]
  ) throws(Response) {
    guard head.method == "POST" else { throw .methodNotAllowed("POST") }
    var head = head
    let header = head.headers["authorization"] ?? ""
    if header.utf8.starts(with: "Token ".utf8) {
      head.headers["authorization"] = "Bearer " + String(header.dropFirst(6))
    }
    let identity = try access.identity(of: head)
    guard let fields = JSONFields(body), let room = fields["room"]?.string,
      let data = fields["data"]
    else {
      throw .problem(400, .badMessage, "expected a JSON object with \"room\" and \"data\"")
    }
    try access.require(.publish, .room(room), of: identity)
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
}
