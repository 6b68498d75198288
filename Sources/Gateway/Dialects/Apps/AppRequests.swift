import ParleyGatewayPorts
import ParleyJSON
import SocketMessages

/// The paths of requests in other apps' protocols.
package enum AppRequest: String, Sendable, CaseIterable {
  /// A backend of the Twake family publishes.
  case pusher = "/private/pusher"
  /// A client of a group chat reads or sends messages.
  case groupMessages = "/v3/groups/{group}/messages"
}

/// HTTP requests in other apps' protocols: publications of Twake backends, and messages of group
/// chats.
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
  func receive(
    _ kind: AppRequest, names: [Substring], _ request: RequestID, head: RequestHead, body: [UInt8]
  ) {
    answering(request) { () throws(Response) in
      switch kind {
      case .pusher: try push(request, head, body)
      case .groupMessages:
        try receiveGroupChat(request, head, body, aboutGroup: names.first ?? "")
      }
    }
  }

  /// Decides on a long body of such a request, which requires a token.
  func decision(on kind: AppRequest, of head: RequestHead) -> BodyDecision {
    let head =
      switch kind {
      case .pusher: Self.pusherHead(head)
      case .groupMessages: Self.groupHead(head)
      }
    do throws(Response) {
      let identity = try access.bearer(of: head)
      return .take(
        upTo: settings.limits.messageBytesMax,
        for: Holder(LimitedClient(identity, from: head.limitedAddress)))
    } catch {
      return .refuse(error)
    }
  }

  /// Returns the head with `Token` in `authorization` replaced by `Bearer`.
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
    typealias Fields = (room: RoomName?, data: JSONValue?)
    let fields: Fields? = JSONBody.fields(in: body, (nil, nil)) {
      (fields: inout Fields, key, reader) throws(JSONError) in
      switch key {
      case "room": fields.room = try reader.stringIfAny().map { RoomName($0) }
      case "data": fields.data = try reader.value()
      default: try reader.skipValue()
      }
    }
    guard let room = fields?.room, let data = fields?.data else {
      throw .problem(400, .badMessage, "expected a JSON object with \"room\" and \"data\"")
    }
    try access.require(.publish, .room(room), of: identity)
    rooms.publish(
      PublishRequest(room: room, data: data, person: identity.person),
      for: .backend(request))
  }

  /// Responds to a Twake backend's publication.
  func answer(backend request: RequestID, _ result: PublishResult) {
    switch result {
    case .published: respond(request, .json(200, Array("{}".utf8)))
    case .refused(let code, let message):
      respond(request, .problem(code, message))
    case .unmet(let condition): respond(request, .problem(condition.code, condition.message))
    }
  }
}
