import ParleyJSON
import ParleyClient
import SocketMessages
import Synchronization

/// A server of rooms, without sockets: it welcomes, subscribes and stores publications by itself. A
/// test answers requests, says things unasked, and ends connections.
final class ScriptedRooms: ClientTransport {
  struct State {
    var capabilities = [
      "roomPresence", "typing", "receipts", "lastOnline", "blocking", "moderation", "membership",
      "push",
    ]
    var person: String? = "u-ann"
    var epoch: Epoch = "e"
    var histories: [String: [ParleyModel.Publication]] = [:]
    var connection: ScriptedConnection?
    var sent: [(id: String, message: ClientMessage)] = []
    var isAway = false
  }

  struct Away: Error {}

  let state = Mutex(State())
  /// The requests that the test is to answer.
  let requests = Feed<(id: String, message: ClientMessage)>(bound: 1_000)

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  func open() async throws -> any ClientConnection {
    let connection = ScriptedConnection(take(_:from:))
    try state.withLock { state in
      if state.isAway { throw Away() }
      state.connection = connection
    }
    return connection
  }

  /// Ends the connection.
  func cut() { state.withLock { $0.connection }?.close() }

  /// Says something unasked.
  func say(_ message: ServerMessage) { state.withLock { $0.connection }?.push(message) }

  /// Waits for the next request, and answers it.
  func answer(_ reply: @Sendable (ClientMessage) -> ServerMessage) async {
    guard let (id, message) = await requests.next() else { return }
    state.withLock { $0.connection }?.push(reply(message), to: id)
  }

  /// The messages that came, without signs of life.
  var messages: [ClientMessage] { state.withLock { $0.sent.map(\.message) } }

  /// Publishes as another.
  func publish(_ json: String, in room: String, by person: String, senderID: String? = nil) {
    state.withLock { state in
      let publication = state.store(
        .init(
          room: room, data: JSONValue(Array(json.utf8)) ?? .null, senderID: senderID), by: person)
      state.connection?.push(
        .publication(.init(room: room, epoch: state.epoch, publication: publication)))
    }
  }

  private func take(_ bytes: [UInt8], from connection: ScriptedConnection) {
    guard let (id, message) = try? bytes.withUnsafeBytes({ try ClientMessage.decode($0) }) else {
      return
    }
    state.withLock { state in
      guard state.connection === connection else { return }
      if message != .ping { state.sent.append((id, message)) }
      switch message {
      case .hello(let hello):
        connection.push(
          .welcome(
            .init(
              clientID: hello.client?.id ?? "A", resumeToken: "r", serverTime: 1_000, demo: false,
              capabilities: state.capabilities, limits: Limits(), personID: state.person)), to: id)
      case .subscribe(let subscribe): connection.push(state.subscribe(subscribe), to: id)
      case .unsubscribe(let unsubscribe):
        connection.push(.unsubscribed(.init(room: unsubscribe.room)), to: id)
      case .publish(let publish):
        let publication = state.store(publish, by: state.person)
        connection.push(
          .published(
            .init(
              room: publish.room, position: .init(epoch: state.epoch, offset: publication.offset),
              isRepeated: false)), to: id)
        connection.push(
          .publication(.init(room: publish.room, epoch: state.epoch, publication: publication)))
      case .ping: connection.push(.pong(.init(serverTime: 1)), to: id)
      case .roomHistory, .receipts, .lastOnline, .block, .blocks, .flag, .flags, .follow:
        requests.put((id, message)) { Array($0) }
      default: break
      }
    }
  }
}

extension ScriptedRooms.State {
  mutating func store(_ publish: ClientMessage.Publish, by person: String?)
    -> ParleyModel.Publication
  {
    let publication = ParleyModel.Publication(
      offset: histories[publish.room, default: []].count + 1, time: 1,
      personID: person.map { PersonID($0) },
      senderID: publish.senderID, data: publish.data ?? .null)
    histories[publish.room, default: []].append(publication)
    return publication
  }

  func subscribe(_ subscribe: ClientMessage.Subscribe) -> ServerMessage {
    let history = histories[subscribe.room] ?? []
    var reply = ServerMessage.Subscribed(
      room: subscribe.room, position: .init(epoch: epoch, offset: history.count))
    if let position = subscribe.position {
      let isRecovered = position.epoch == epoch
      reply.isRecovered = isRecovered
      if isRecovered { reply.publications = Array(history.dropFirst(position.offset)) }
    }
    if subscribe.isPresent {
      reply.present = [.init(personID: PersonID(person ?? "A"), name: "Ann")]
    }
    return .subscribed(reply)
  }
}
