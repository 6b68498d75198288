package import ParleyDialectModels
package import ParleyJSON
import ParleyModel
import ParleySocketIO

/// The rules of a ``TwakeSocket`` as a state machine without I/O: events in, actions out.
///
///     start ─▶ token ─▶ open ─▶ `authenticate` ─▶ online: rooms are joined ─▶ lost ─▶ pause ─▶ token
///
/// A room is joined with the position of its last event, so that the server first sends the events
/// since then. If the server does not, the room's events count as missed.
package struct TwakeSession: Sendable {
  /// An input of the machine.
  package enum Event: Sendable {
    case start
    case stop
    /// The network may be available again.
    case reachable
    /// The requested token; `nil` if the user has to sign in first.
    case token(String?)
    /// The requested token could not be fetched.
    case tokenFailed(String)
    /// The connection of an attempt is open.
    case opened(attempt: Int)
    /// The connection of an attempt could not be opened, or has ended.
    case ended(attempt: Int, String)
    case received(attempt: Int, [UInt8])
    case join(room: String)
    case leave(room: String)
    /// The token of a room; `nil` without one.
    case roomToken(room: String, String?)
    /// The time requested by ``Action/wake(at:)`` has come.
    case wake
  }

  /// An output of the machine.
  package enum Action: Sendable, Equatable {
    case needToken
    case open(attempt: Int)
    case send([UInt8])
    case close
    case state(TwakeSocketState)
    case needRoomToken(room: String)
    case joined(room: String)
    case failed(TwakeSocketError)
    case event(DomainEvent)
    case answered(id: Int, [JSONValue])
    /// Report ``Event/wake`` at this time; `nil` for never. It replaces the former wake-up.
    case wake(at: Int64?)
  }

  private enum Phase {
    /// Next: `authorising`.
    case stopped
    /// Next: `opening`, `stopped`, `waiting`.
    case authorising(until: Int64)
    /// Next: `connected`, `waiting`, `stopped`.
    case opening
    /// Next: `online`, `authorising`, `waiting`, `stopped`.
    case connected
    /// Next: `authorising`, `waiting`, `stopped`.
    case online
    /// Next: `authorising`, `stopped`.
    case waiting(until: Int64)
  }

  /// A room whose events the app has requested.
  private struct Room {
    var isJoined = false
    /// Whether it was joined over an earlier connection.
    var hasBeenJoined = false
    var position: JSONValue = .null
  }

  /// Maximum rooms.
  package static let roomsMax = 1_000
  private static let pauseMin: Int64 = 1_000
  private static let pauseMax: Int64 = 60_000
  /// The maximum milliseconds until a requested token must arrive.
  private static let tokenMilliseconds: Int64 = 30_000

  private var phase = Phase.stopped
  private var client: SocketClient?
  private var token: String?
  private var rooms: [ExactName: Room] = [:]
  private var router = DomainRouter()
  private(set) package var attempt = 0
  private var failures = 0
  private var chance: UInt64
  private var wakeAt: Int64?

  /// Creates a stopped machine; the seed determines its pauses.
  package init(seed: UInt64) { chance = seed }

  /// Whether events can be sent.
  package var isOnline: Bool {
    if case .online = phase { true } else { false }
  }

  /// Whether another room can be joined.
  package func canJoin(_ room: String) -> Bool {
    rooms[ExactName(room)] != nil || rooms.count < Self.roomsMax
  }

  /// Whether the app has joined a room, and its events arrive.
  package func isJoined(_ room: String) -> Bool { rooms[ExactName(room)]?.isJoined ?? false }

  /// Handles an event, and returns the actions to perform, in order.
  package mutating func handle(_ event: Event, now: Int64) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .start:
      if case .stopped = phase { authorise(now, &actions) }
    case .stop: stop(.stopped, &actions)
    case .reachable:
      failures = 0
      if case .waiting = phase { authorise(now, &actions) }
    case .token(let token): take(token, &actions)
    case .tokenFailed(let reason):
      if case .authorising = phase { wait(reason, now, &actions) }
    case .opened(let attempt):
      guard attempt == self.attempt, case .opening = phase else { break }
      phase = .connected
      client = SocketClient(now: now)
    case .ended(let attempt, let reason):
      if attempt == self.attempt { lost(reason, now, &actions) }
    case .received(let attempt, let bytes):
      guard attempt == self.attempt, let received = client?.received(bytes, now: now) else { break }
      perform(received, now, &actions)
    case .join(let room):
      guard rooms[ExactName(room)] == nil else { break }
      rooms[ExactName(room)] = Room()
      if isOnline { actions.append(.needRoomToken(room: room)) }
    case .leave(let room): leave(room, &actions)
    case .roomToken(let room, let token): join(room, token, &actions)
    case .wake:
      wakeAt = nil
      woken(now, &actions)
    }
    setWake(&actions)
    return actions
  }

  /// Returns the frame of an event of the user; `nil` without a connection.
  package func frame(of data: JSONValue, in room: String, token: String?) -> [UInt8]? {
    guard isOnline else { return nil }
    var fields: JSONFields = ["name": JSONValue(room), "data": data]
    if let token { fields.append(.init("token", JSONValue(token))) }
    return client?.frame(event: "realtime:event", [JSONValue(fields)])
  }

  /// Returns a request for the users who are online, and the number of its answer; `nil` without a
  /// connection.
  package mutating func requestOnline(_ users: [String]) -> (id: Int, [UInt8])? {
    guard isOnline else { return nil }
    let argument: JSONValue = ["data": JSONValue(users.map { JSONValue($0) })]
    return client?.request("online:get", [argument])
  }
}

/// Connecting, and pauses.
extension TwakeSession {
  private mutating func authorise(_ now: Int64, _ actions: inout [Action]) {
    phase = .authorising(until: now + Self.tokenMilliseconds)
    actions += [.state(.connecting), .needToken]
  }

  private mutating func take(_ token: String?, _ actions: inout [Action]) {
    guard case .authorising = phase else { return }
    guard let token else { return stop(.refused(.noToken), &actions) }
    self.token = token
    attempt += 1
    phase = .opening
    actions.append(.open(attempt: attempt))
  }

  private mutating func stop(_ state: TwakeSocketState, _ actions: inout [Action]) {
    let isOpen = disconnect()
    phase = .stopped
    if isOpen { actions.append(.close) }
    actions.append(.state(state))
  }

  /// Forgets the connection. Returns whether one is open, or being opened.
  private mutating func disconnect() -> Bool {
    let isOpen =
      switch phase {
      case .opening, .connected, .online: true
      case .stopped, .authorising, .waiting: false
      }
    client = nil
    if isOpen { attempt += 1 }
    for room in rooms.keys { rooms[room]?.isJoined = false }
    return isOpen
  }

  private mutating func lost(_ reason: String, _ now: Int64, _ actions: inout [Action]) {
    switch phase {
    case .opening, .connected, .online:
      if disconnect() { actions.append(.close) }
      wait(reason, now, &actions)
    case .stopped, .authorising, .waiting: break
    }
  }

  private mutating func wait(_ reason: String, _ now: Int64, _ actions: inout [Action]) {
    let longest = min(Self.pauseMax, Self.pauseMin << Int64(min(failures, 10)))
    failures += 1
    // Half of the pause is random, so that clients that lost a server together do not return
    // together.
    chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let pause = longest / 2 + Int64((chance >> 33) % UInt64(longest / 2 + 1))
    phase = .waiting(until: now + pause)
    actions.append(.state(.waiting(reason)))
  }

  private mutating func woken(_ now: Int64, _ actions: inout [Action]) {
    switch phase {
    case .waiting(let until):
      if until <= now { authorise(now, &actions) }
    case .authorising(let until):
      if until <= now { wait("the token function has not answered", now, &actions) }
    case .connected, .online:
      if let ticked = client?.ticked(now: now) { perform(ticked, now, &actions) }
    case .stopped, .opening: break
    }
  }

  private mutating func setWake(_ actions: inout [Action]) {
    let next: Int64? =
      switch phase {
      case .authorising(let until), .waiting(let until): until
      case .connected, .online: client?.deadline
      case .stopped, .opening: nil
      }
    guard next != wakeAt else { return }
    wakeAt = next
    actions.append(.wake(at: next))
  }
}

/// Packets of the server.
extension TwakeSession {
  private mutating func perform(
    _ steps: [SocketClient.Action], _ now: Int64, _ actions: inout [Action]
  ) {
    for action in steps {
      switch action {
      case .send(let bytes): actions.append(.send(bytes))
      case .entered: authenticate(&actions)
      case .event(let name, let arguments): hear(name, arguments, now, &actions)
      case .answered(let id, let arguments): actions.append(.answered(id: id, arguments))
      case .end(let ending): lost(Self.words(of: ending), now, &actions)
      }
    }
  }

  private static func words(of ending: SocketClient.Ending) -> String {
    switch ending {
    case .refused(let message): "the server refused the connection: \(message)"
    case .closed: "the server closed the connection"
    case .badPacket: "expected Socket.IO 3 or later, received something else"
    case .silent: "the server has sent nothing for longer than its ping interval"
    }
  }

  private func authenticate(_ actions: inout [Action]) {
    guard let client, let token else { return }
    let argument: JSONValue = token.isEmpty ? [:] : ["token": JSONValue(token)]
    actions.append(.send(client.frame(event: "authenticate", [argument])))
  }

  private mutating func hear(
    _ name: String, _ arguments: [JSONValue], _ now: Int64, _ actions: inout [Action]
  ) {
    let fields = arguments.first?.fields ?? JSONFields()
    switch name {
    case "authenticated": authenticated(&actions)
    case "unauthorized": unauthorised(fields["message"]?.string, now, &actions)
    case "realtime:join:success": joined(fields, &actions)
    case "realtime:join:error": refusedRoom(fields, &actions)
    case "realtime:event:error":
      actions.append(.failed(.notAllowed(Self.words(fields))))
    case "realtime:event", "realtime:resource":
      let room = fields[name == "realtime:event" ? "name" : "room"]?.string
      remember(fields, of: room)
      actions.append(.event(router.route(name, fields)))
    default: break
    }
  }

  private static func words(_ fields: JSONFields) -> String {
    fields["message"]?.string ?? "no reason given"
  }

  private mutating func authenticated(_ actions: inout [Action]) {
    guard case .connected = phase else { return }
    phase = .online
    failures = 0
    actions.append(.state(.online))
    for room in rooms.keys.sorted(by: { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }) {
      actions.append(.needRoomToken(room: room.text))
    }
  }

  private mutating func unauthorised(
    _ message: String?, _ now: Int64, _ actions: inout [Action]
  ) {
    switch phase {
    case .online:
      // The token has expired, or was revoked: there may be a new one.
      if disconnect() { actions.append(.close) }
      authorise(now, &actions)
    case .connected:
      stop(.refused(.unauthorised(message ?? "no reason given")), &actions)
    case .stopped, .authorising, .opening, .waiting: break
    }
  }

  // MARK: Rooms

  private func join(_ room: String, _ token: String?, _ actions: inout [Action]) {
    guard isOnline, let client, let wanted = rooms[ExactName(room)] else { return }
    var fields: JSONFields = ["name": JSONValue(room)]
    if let token { fields.append(.init("token", JSONValue(token))) }
    fields.append(.init("position", wanted.position))
    actions.append(.send(client.frame(event: "realtime:join", [JSONValue(fields)])))
  }

  private mutating func leave(_ room: String, _ actions: inout [Action]) {
    guard rooms.removeValue(forKey: ExactName(room)) != nil, isOnline, let client else { return }
    actions.append(.send(client.frame(event: "realtime:leave", [["name": JSONValue(room)]])))
  }

  private mutating func joined(_ fields: JSONFields, _ actions: inout [Action]) {
    guard let name = fields["name"]?.string, var room = rooms[ExactName(name)] else { return }
    let isComplete = fields["recovered"]?.boolean ?? false
    if room.hasBeenJoined, !isComplete { actions.append(.event(.missed(place: name))) }
    room.isJoined = true
    room.hasBeenJoined = true
    if !isComplete || room.position == .null { room.position = fields["position"] ?? .null }
    rooms[ExactName(name)] = room
    actions.append(.joined(room: name))
  }

  private mutating func refusedRoom(_ fields: JSONFields, _ actions: inout [Action]) {
    guard let name = fields["name"]?.string, rooms.removeValue(forKey: ExactName(name)) != nil
    else { return }
    actions.append(.failed(.roomRefused(room: name, Self.words(fields))))
  }

  /// Records the position of an event, if it contains one.
  private mutating func remember(_ fields: JSONFields, of room: String?) {
    guard let room, let epoch = fields["epoch"], let offset = fields["offset"] else { return }
    rooms[ExactName(room)]?.position = ["epoch": epoch, "offset": offset]
  }
}
