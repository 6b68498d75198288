import ParleyBayeux
import ParleyGatewayPorts
import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// Publishing on channels.
extension BayeuxDialect {
  func publish(_ message: BayeuxMessage, from address: String, by way: Way) {
    let link = message.clientID.flatMap { bySession[$0] }
    if let clientID = message.clientID {
      guard let link, link.address.isExactly(address) else {
        return self.refuse(
          message, .unknownClient(clientID), advice: Self.newHandshake, by: way)
      }
    }
    func refuse(_ error: BayeuxError) {
      self.refuse(message, error, clientID: message.clientID, by: way)
    }
    guard let channel = BayeuxChannel(message.channel), !channel.isPattern else {
      return refuse(.invalid(String(message.channel.prefix(64))))
    }
    guard !channel.isMeta, !channel.isService else { return refuse(.forbidden(channel.text)) }
    guard let data = message.data else { return refuse(.missing("data")) }
    guard let identity = publisher(of: message, on: channel, link) else {
      return refuse(.forbidden(channel.text))
    }
    admit(identity, link, by: way)
    guard rooms.checks.problem(ofData: data.utf8.count) == nil else {
      return refuse(.unavailable(channel.text))
    }
    let fields = data.values(of: "type", "started")
    let reply = BayeuxReply.reply(to: message, clientID: message.clientID)
    switch fields?[0]?.string {
    case "ping" where link != nil && Self.mayHear(channel, identity):
      if let link { deliver(data, channel, to: link) }
      answer(reply, by: way)
      return
    case "typing" where Self.mayType(on: channel, identity):
      var stamped = Self.typing(started: fields?[1]?.integer)
      let person = identity.user.isEmpty ? link?.connection.client ?? "" : identity.user
      stamped.set("user_id", JSONValue(person))
      deliver(JSONValue(stamped), by: PersonID(person), in: RoomName(channel.room))
      answer(reply, by: way)
      return
    default: break
    }
    guard identity.may(.publish, .room(RoomName(channel.room))) else {
      return refuse(.forbidden(channel.text))
    }
    if let excess = access.excess(ofPublishingBy: identity, bytes: data.utf8.count) {
      return self.refuse([message], excess, by: way)
    }
    if case .request(let exchange) = way { exchange.pending += 1 }
    let person = identity.user.isEmpty ? link?.connection.client : identity.user
    let number = nextPublishing
    nextPublishing += 1
    publishings[number] = BayeuxPublishing(message: message, reply: reply, way: way)
    rooms.publish(
      PublishRequest(
        room: RoomName(channel.room), data: Self.stamped(data, identity.user),
        person: person.map { PersonID($0) }),
      for: .bayeux(number))
  }

  /// Returns the identity by the event's token or its channel's subscription; `nil` if invalid.
  private func publisher(
    of message: BayeuxMessage, on channel: BayeuxChannel, _ link: BayeuxLink?
  ) -> Identity? {
    if message.accessToken == nil, let own = link?.subscriptions[channel.text],
      own.isValid(for: channel, dependencies.clock.now)
    {
      return own.identity
    }
    return try? access.identity(for: message.accessToken)
  }

  /// Replies to a publisher with the outcome of its event.
  func answer(publishing number: UInt64, _ result: PublishResult) {
    guard let publishing = publishings.removeValue(forKey: number) else { return }
    switch result {
    case .published(_, isRepeated: false):
      // The publisher receives the event first, and then the reply.
      afterDelivery.append((publishing.reply, publishing.way))
    case .published: finish(publishing.reply, by: publishing.way)
    case .refused, .unmet:
      let message = publishing.message
      finish(
        BayeuxReply.reply(
          to: message, clientID: message.clientID,
          error: .unavailable(message.channel)), by: publishing.way)
    }
  }

  /// Adds a delayed reply to its exchange.
  func finish(_ bytes: [UInt8], by way: Way) {
    answer(bytes, by: way)
    guard case .request(let exchange) = way else { return }
    exchange.pending -= 1
    finish(exchange)
  }

  /// Whether a user may send typing messages on a channel.
  private static func mayType(on channel: BayeuxChannel, _ identity: Identity) -> Bool {
    isOwn(channel, identity) || identity.may([.read, .presence], .room(RoomName(channel.room)))
  }

  /// Returns the typing message to deliver, without other content: typing requires no right to
  /// publish.
  private static func typing(started: Int?) -> JSONFields {
    var fields: JSONFields = ["type": JSONValue("typing")]
    if let started { fields.append(.init("started", JSONValue(started))) }
    return fields
  }

  /// Returns the data with each author's id replaced by the sender's: no client may publish as
  /// another user, and no user as the service.
  private static func stamped(_ data: JSONValue, _ user: String) -> JSONValue {
    guard !user.isEmpty, let parts = data.values(of: "user_id", "subject", "type") else {
      return data
    }
    let own = JSONValue(user)
    var fields: [JSONFields.Field] = []
    if parts[0] != nil { fields.append(.init("user_id", own)) }
    if let subject = parts[1], let said = subject.values(of: "user_id", "system") {
      var words: [JSONFields.Field] = []
      if said[0] != nil || parts[2] != nil { words.append(.init("user_id", own)) }
      if said[1] != nil { words.append(.init("system", JSONValue(false))) }
      fields.append(.init("subject", subject.replacing(words, removing: "event")))
    }
    return data.replacing(fields)
  }
}
