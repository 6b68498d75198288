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

  /// Decides about a long body of such a request: by whoever has a token; `nil` if the path is none of theirs.
  func decision(of head: RequestHead) -> BodyDecision? {
    var head = head
    if head.path.utf8.elementsEqual("/private/pusher".utf8) {
      head = Self.pusherHead(head)
    } else if Self.group(in: head.path) != nil {
      head = Self.groupHead(head)
    } else {
      return nil
    }
    do throws(Response) {
      let identity = try access.bearer(of: head)
      return .take(
        upTo: settings.limits.messageBytesMax,
        for: Holder(Stranger(identity, from: head.limitedAddress)))
    } catch {
      return .refuse(error)
    }
  }

  /// The head with its token where other requests have it.
  private static func pusherHead(_ head: RequestHead) -> RequestHead {
    var head = head
    let header = head.headers["authorization"] ?? ""
    if header.utf8.starts(with: "Token ".utf8) {
      head.headers["authorization"] = "Bearer " + String(header.dropFirst(6))
    }
    return head
  }

  /// `POST /private/pusher`: a backend of the Twake family publishes.
  private func push(
    _ request: RequestID, _ head: RequestHead, _ body: [UInt8]
  ) throws(Response) {
    guard head.method == "POST" else { throw .methodNotAllowed("POST") }
    let identity = try access.identity(of: Self.pusherHead(head))
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
