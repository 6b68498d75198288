import ParleyGatewayPorts
import ParleyJSON
import ParleyPusher
import SocketMessages

/// The requests of Pusher's HTTP API.
package enum PusherRequest: String, Sendable, CaseIterable {
  case events = "/apps/{id}/events"
  case batchEvents = "/apps/{id}/batch_events"
  case channels = "/apps/{id}/channels"
  case channel = "/apps/{id}/channels/{channel}"
  case users = "/apps/{id}/channels/{channel}/users"
  case terminate = "/apps/{id}/users/{user}/terminate_connections"

  /// The only method of the request.
  package var method: String {
    switch self {
    case .events, .batchEvents, .terminate: "POST"
    case .channels, .channel, .users: "GET"
    }
  }
}

/// A request with events that wait for the store.
struct PusherBatch {
  var waiting: Int
  var refusal: Response?
  /// The body of the response if all events are published.
  let answer: [UInt8]
}

/// The HTTP API for an app's back end, which signs requests with the app's secret.
extension PusherDialect {
  private static let empty = Array("{}".utf8)

  private static func refusal(_ status: Int, _ message: String) -> Response {
    .plain(status, message + "\n")
  }

  // MARK: Checking

  /// Answers a request, now or later.
  ///
  /// - Returns: False if no app is configured.
  func receive(
    _ kind: PusherRequest, names: [Substring], _ request: RequestID, head: RequestHead,
    body: [UInt8]
  ) -> Bool {
    guard !apps.isEmpty else { return false }
    answering(request) { () throws(Response) in
      let (app, query) = try signed(head, kind, names)
      let identity = Self.identity(of: app)
      count(request, towards: identity, from: head.limitedAddress)
      if let excess = access.excess(ofRequestBy: identity) { throw access.response(to: excess) }
      do throws(PusherQuery.Problem) { try query.check(body, of: app) } catch {
        throw Self.refusal(401, error.message)
      }
      try answer(request, kind, names.dropFirst().map { $0 }, body, query, app)
    }
    return true
  }

  /// Decides on a long body of a signed request; `nil` for any other path.
  func decision(
    on kind: PusherRequest, names: [Substring], of head: RequestHead
  ) -> BodyDecision? {
    guard !apps.isEmpty else { return nil }
    do throws(Response) {
      let (app, _) = try signed(head, kind, names)
      return .take(
        upTo: PusherEvent.bodyBytesMax,
        for: Holder(LimitedClient(Self.identity(of: app), from: head.limitedAddress)))
    } catch {
      return .refuse(error)
    }
  }

  /// Returns the identity of an app's back end, for rate limits.
  private static func identity(of app: PusherApp) -> Identity {
    Identity(user: "\(Identity.programPrefix)pusher/\(app.id)", grants: [])
  }

  /// Returns the app that has signed a request, and the request's query.
  private func signed(
    _ head: RequestHead, _ kind: PusherRequest, _ names: [Substring]
  ) throws(Response) -> (PusherApp, PusherQuery) {
    guard head.method == kind.method else {
      throw .methodNotAllowed(kind.method)
    }
    guard let id = names.first,
      let app = apps.values.first(where: { id.isExactly($0.id) })
    else { throw Self.refusal(404, "no app of this server has this id") }
    guard let query = PusherQuery(head.query) else {
      throw Self.refusal(401, PusherQuery.Problem.malformed.message)
    }
    do throws(PusherQuery.Problem) {
      try query.check(
        head.method, head.path, of: app, at: dependencies.clock.now / 1_000)
    } catch {
      log(.notice, "signature refused", "\(error)")
      throw Self.refusal(401, error.message)
    }
    return (app, query)
  }

  private func answer(
    _ request: RequestID, _ kind: PusherRequest, _ names: [Substring], _ body: [UInt8],
    _ query: PusherQuery, _ app: PusherApp
  ) throws(Response) {
    let name = names.first.flatMap { PercentEncoding.decoded($0) } ?? ""
    switch kind {
    case .events, .batchEvents:
      let events: [PusherEvent]
      do throws(PusherEvent.Problem) {
        events = kind == .events ? [try PusherEvent(body: body)] : try PusherEvent.batch(body)
      } catch {
        throw Self.refusal(400, error.message)
      }
      try publish(events, isBatch: kind == .batchEvents, request, app)
    case .channels: try listChannels(request, query, app)
    case .channel:
      let channel = try channel(name)
      var fields = attributes(of: channel, asked: query["info"], app)
      fields = JSONFields(
        [.init("occupied", JSONValue(rooms.isOccupied(RoomName(app.room(of: channel)))))]
          + fields.all)
      respond(request, .json(200, fields.json))
    case .users:
      let channel = try channel(name)
      guard channel.kind == .presence else {
        throw Self.refusal(400, "only presence channels have users")
      }
      let users = members(of: channel, app).map { JSONValue(["id": JSONValue($0)] as JSONFields) }
      respond(request, .json(200, (["users": JSONValue(users)] as JSONFields).json))
    case .terminate:
      guard let channel = PusherChannel(ofUser: name) else {
        throw Self.refusal(400, "expected the id of a user")
      }
      terminate(channel, app)
      respond(request, .json(200, Self.empty))
    }
  }

  private func channel(_ name: String) throws(Response) -> PusherChannel {
    guard let channel = PusherChannel(name) else {
      throw Self.refusal(400, PusherSubscriptionError.invalidName.message)
    }
    return channel
  }

  // MARK: Events

  private func publish(
    _ events: [PusherEvent], isBatch: Bool, _ request: RequestID, _ app: PusherApp
  ) throws(Response) {
    for event in events {
      if let problem = rooms.checks.problem(ofData: event.data.utf8.count) {
        throw Self.refusal(413, problem)
      }
    }
    batches[request] = PusherBatch(
      waiting: events.reduce(0) { $0 + $1.channels.count }, refusal: nil,
      answer: answer(to: events, isBatch: isBatch, app))
    for event in events {
      let data: JSONValue = ["event": JSONValue(event.name), "data": JSONValue(event.data)]
      for channel in event.channels {
        rooms.publish(
          PublishRequest(
            room: RoomName(app.room(of: channel)), data: data, senderID: event.socketID),
          for: .pusher(request))
      }
    }
  }

  /// Returns the body of the response: the requested attributes of the channels.
  private func answer(to events: [PusherEvent], isBatch: Bool, _ app: PusherApp) -> [UInt8] {
    guard events.contains(where: { $0.info != nil }) else { return Self.empty }
    func about(_ event: PusherEvent, _ channel: PusherChannel) -> JSONValue {
      JSONValue(attributes(of: channel, asked: event.info, app))
    }
    if isBatch {
      let all = events.map { event in event.channels.first.map { about(event, $0) } ?? [:] }
      return (["batch": JSONValue(all)] as JSONFields).json
    }
    let channels = events[0].channels.map {
      JSONFields.Field($0.name, about(events[0], $0))
    }
    return (["channels": JSONValue(JSONFields(channels))] as JSONFields).json
  }

  /// Handles the outcome of one event of a request. After the last outcome, sends the response.
  func answer(publishing request: RequestID, _ result: PublishResult) {
    guard var batch = batches[request] else { return }
    if case .refused(let code, let message) = result {
      batch.refusal = Self.refusal(code.status, message)
    }
    batch.waiting -= 1
    batches[request] = batch.waiting > 0 ? batch : nil
    guard batch.waiting == 0 else { return }
    respond(request, batch.refusal ?? .json(200, batch.answer))
  }

  // MARK: Channels

  private func listChannels(
    _ request: RequestID, _ query: PusherQuery, _ app: PusherApp
  ) throws(Response) {
    let prefix = query["filter_by_prefix"] ?? ""
    let info = query["info"]
    guard info == nil || !Self.asks(info, for: "user_count") || prefix.hasPrefix("presence-")
    else {
      throw Self.refusal(
        400, "only presence channels have user_count: use filter_by_prefix=presence-")
    }
    let names = rooms.names.filter { rooms.isOccupied($0) }
      .compactMap { app.channel(ofRoom: $0.text) }
      .filter { $0.name.utf8.starts(with: prefix.utf8) && $0.isListed }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let fields = names.map {
      JSONFields.Field($0.name, JSONValue(attributes(of: $0, asked: info, app)))
    }
    respond(request, .json(200, (["channels": JSONValue(JSONFields(fields))] as JSONFields).json))
  }

  private static func asks(_ info: String?, for attribute: String) -> Bool {
    info?.split(separator: ",").contains { $0 == attribute } ?? false
  }

  private func attributes(
    of channel: PusherChannel, asked info: String?, _ app: PusherApp
  ) -> JSONFields {
    var fields = JSONFields()
    if channel.kind == .presence, Self.asks(info, for: "user_count") {
      fields.append(.init("user_count", JSONValue(members(of: channel, app).count)))
    }
    if Self.asks(info, for: "subscription_count") {
      fields.append(
        .init(
          "subscription_count", JSONValue(rooms.members(of: RoomName(app.room(of: channel))).count))
      )
    }
    return fields
  }

  /// Returns the ids of a presence channel's members, sorted.
  private func members(of channel: PusherChannel, _ app: PusherApp) -> [PersonID] {
    (rooms.people.presence?.present(in: RoomName(app.room(of: channel))) ?? []).map(\.personID)
      .sorted()
  }

  // MARK: Users

  /// The event by which nodes close a user's connections; no client event can have this name.
  static let terminating = "pusher:terminate"

  /// Closes a user's connections on all nodes.
  private func terminate(_ channel: PusherChannel, _ app: PusherApp) {
    let event = TransientEvent(name: Self.terminating, data: .null, sender: "")
    rooms.presence.notifyNodes(.event(event), in: RoomName(app.room(of: channel)))
    endConnections(of: channel, app)
  }
}

extension PusherChannel {
  /// Whether the HTTP API lists the channel.
  fileprivate var isListed: Bool { if case .user = kind { false } else { true } }
}
