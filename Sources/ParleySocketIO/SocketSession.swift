public import ParleyJSON

/// A session of Socket.IO over Engine.IO, as a state machine without I/O: events in, actions out.
///
///     polling ──2probe──▶ probing ──5──▶ websocket
///        │                                  │
///     leaving ───poll───▶ ended ◀───────────┘
///
/// A polling session holds at most one request, and queues packets up to a limit until the next
/// poll; a session on a WebSocket queues nothing.
public struct SocketSession: Sendable {
  /// The operator's settings.
  public struct Settings: Sendable, Hashable {
    /// The interval between two pings, in milliseconds.
    public var pingInterval: Int64 = 25_000
    /// Maximum milliseconds until a ping is answered.
    public var pingTimeout: Int64 = 20_000
    /// Maximum bytes of a payload from a client.
    public var payloadBytesMax = 1_000_000
    /// Maximum bytes queued for a polling client; beyond it, the session ends.
    public var queuedBytesMax = 1_000_000
    /// The namespaces that clients can enter.
    public var namespaces = ["/"]

    /// Creates the default settings.
    public init() {}
  }

  /// An action for the owner; actions are performed in order.
  public enum Action: Sendable, Hashable {
    /// Send a text frame over the session's WebSocket.
    case send([UInt8])
    /// Send a text frame over the probed WebSocket.
    case sendToProbe([UInt8])
    /// Make the probed WebSocket the session's.
    case adoptProbe
    /// Answer the waiting poll.
    case answerPoll([UInt8])
    /// The client enters a namespace, with the credentials that it sent, if any. A client of the
    /// fourth generation waits for ``accept(_:as:recoveryID:)`` or ``refuse(_:message:data:)``.
    case entered(namespace: String, credentials: JSONValue?)
    /// The client has left a namespace.
    case left(namespace: String)
    /// An event was received; with an `id` the client requests an acknowledgement.
    case event(namespace: String, name: String, arguments: [JSONValue], id: Int?)
    /// An acknowledgement was received.
    case acknowledged(namespace: String, id: Int, arguments: [JSONValue])
    /// The session is over: close its connections, and forget it.
    case end(Ending)
  }

  /// The reason for the end of a session.
  public enum Ending: Sendable, Hashable {
    /// The client closed it, or its connection.
    case closed
    /// The client did not ping, or did not answer a ping.
    case silent
    /// The client broke the protocol.
    case badPacket
    /// The client polls too slowly.
    case slow
    /// The client exceeded the rate limit, and continued after the warning.
    case flooding
    /// The server ended the session.
    case dismissed
  }

  private enum Carrier {
    /// Next: `websocket` by an upgrade, `leaving`, `ended`.
    case polling(hasPoll: Bool)
    /// The last packets wait for a poll. Next: `ended`.
    case leaving
    /// Next: `ended`.
    case websocket
    /// Final.
    case ended
  }

  /// The session's id, which is unpredictable: a client that knows it can take the session over.
  public let id: String
  /// The protocol's generation.
  public let generation: EngineGeneration
  private let settings: Settings
  private var carrier: Carrier
  private var isProbing = false
  private var queue: [[UInt8]] = []
  private var queuedBytes = 0
  private var namespaces: [String] = []
  /// The time by which the client must send something, or at which the next ping is due.
  private var deadline: Int64
  /// Whether a ping of the server is unanswered. Its answer confirms that all earlier packets have
  /// arrived.
  public private(set) var awaitsPong = false

  /// Creates a new session.
  ///
  /// - Parameter overWebSocket: Whether it starts on a WebSocket, over which ``begin()`` then sends
  ///   its first packet. Otherwise the handshake counts as a poll, which `begin()` answers.
  public init(
    id: String, generation: EngineGeneration, overWebSocket: Bool, settings: Settings, now: Int64
  ) {
    self.id = id
    self.generation = generation
    self.settings = settings
    carrier = overWebSocket ? .websocket : .polling(hasPoll: true)
    deadline = 0
    renew(now)
  }

  private mutating func renew(_ now: Int64) {
    awaitsPong = false
    switch generation {
    case .three: deadline = now + settings.pingInterval + settings.pingTimeout
    case .four: deadline = now + settings.pingInterval
    }
  }

  /// Whether packets can be sent immediately, without waiting for a poll.
  public var isOnWebSocket: Bool {
    switch carrier {
    case .websocket: true
    case .polling, .leaving, .ended: false
    }
  }

  /// Whether a poll is waiting.
  public var hasPoll: Bool {
    switch carrier {
    case .polling(let hasPoll): hasPoll
    case .websocket, .leaving, .ended: false
    }
  }

  /// Whether the session is over.
  public var hasEnded: Bool {
    switch carrier {
    case .ended: true
    case .polling, .leaving, .websocket: false
    }
  }

  /// Whether the last packets of a dismissed session wait for the client's next poll.
  public var isLeaving: Bool {
    switch carrier {
    case .leaving: true
    case .polling, .websocket, .ended: false
    }
  }

  /// Whether the client has entered a namespace.
  public func isIn(_ namespace: String) -> Bool {
    namespaces.contains { $0.isExactly(namespace) }
  }

  // MARK: Beginning

  /// Sends the first packets.
  public mutating func begin() -> [Action] {
    let body = JSONWriter.object { object, body in
      object.field("sid", id, &body)
      object.key("upgrades", &body)
      JSONWriter.array(isOnWebSocket ? [] : ["websocket"], &body) { JSONWriter.string($0, &$1) }
      object.field("pingInterval", Int(settings.pingInterval), &body)
      object.field("pingTimeout", Int(settings.pingTimeout), &body)
      if generation == .four { object.field("maxPayload", settings.payloadBytesMax, &body) }
    }
    var actions = send([EnginePacket.open(body).text], isLast: generation == .four)
    if generation == .three {
      // Clients of this generation are in the default namespace without a connect.
      namespaces.append("/")
      actions += send([SocketPacket(.connect).engineText], isLast: true)
      actions.append(.entered(namespace: "/", credentials: nil))
    }
    return actions
  }

  // MARK: Sending

  /// Sends a packet encoded by ``SocketPacket/engineText``.
  public mutating func send(_ packet: [UInt8]) -> [Action] { send([packet], isLast: true) }

  /// - Parameter isLast: Whether a waiting poll may be answered now.
  private mutating func send(_ packets: [[UInt8]], isLast: Bool) -> [Action] {
    switch carrier {
    case .ended, .leaving: return []
    case .websocket: return packets.map { .send($0) }
    case .polling(let hasPoll):
      for packet in packets { keep(packet) }
      if hasPoll, isLast { return [answerPoll()] }
      return queuedBytes > settings.queuedBytesMax ? end(.slow) : []
    }
  }

  private mutating func keep(_ packet: [UInt8]) {
    queue.append(packet)
    queuedBytes += packet.count
  }

  /// Maximum packets in the answer to one poll: some clients accept no more.
  private static let polledPacketsMax = 16

  private mutating func answerPoll() -> Action {
    carrier = .polling(hasPoll: false)
    let packets = queue.prefix(Self.polledPacketsMax)
    queue.removeFirst(packets.count)
    for packet in packets { queuedBytes -= packet.count }
    return .answerPoll(EnginePayload.encode(Array(packets), generation: generation))
  }

  /// Ends the session; its namespaces are left.
  ///
  /// A session that is dismissed between two polls ends with the next poll, which gets the close
  /// packet.
  public mutating func end(_ ending: Ending) -> [Action] {
    let left = namespaces.map { Action.left(namespace: $0) }
    namespaces.removeAll()
    switch carrier {
    case .ended: return []
    case .leaving: break
    case .websocket:
      carrier = .ended
      return (ending == .dismissed ? [.send(EnginePacket.close.text)] : []) + left + [.end(ending)]
    case .polling(let hasPoll):
      keep(EnginePacket.close.text)
      if hasPoll {
        let answer = answerPoll()
        carrier = .ended
        return [answer] + left + [.end(ending)]
      }
      if ending == .dismissed {
        carrier = .leaving
        return left
      }
    }
    carrier = .ended
    queue.removeAll()
    return left + [.end(ending)]
  }

  // MARK: Polling

  /// Handles a poll. Without an action it waits, and is answered later.
  ///
  /// - Returns: `nil` if a poll is not possible now; refuse the request.
  public mutating func poll() -> [Action]? {
    switch carrier {
    case .polling(hasPoll: false):
      carrier = .polling(hasPoll: true)
      // While a WebSocket is probed, answer the poll at once, so that the upgrade can continue.
      if queue.isEmpty, isProbing { keep(EnginePacket.noop.text) }
      return queue.isEmpty ? [] : [answerPoll()]
    case .leaving:
      let answer = answerPoll()
      carrier = queue.isEmpty ? .ended : .leaving
      return queue.isEmpty ? [answer, .end(.dismissed)] : [answer]
    case .polling(hasPoll: true), .websocket, .ended: return nil
    }
  }

  /// Handles the loss of the waiting poll's connection.
  public mutating func abandonPoll() {
    if hasPoll { carrier = .polling(hasPoll: false) }
  }

  /// Handles the body of a POST request.
  ///
  /// - Returns: `nil` if the session is not polling, or the body is malformed or too large.
  public mutating func posted(_ body: [UInt8], now: Int64) -> [Action]? {
    switch carrier {
    case .polling: break
    case .leaving: return []
    case .websocket, .ended: return nil
    }
    guard body.count <= settings.payloadBytesMax,
      let packets = EnginePayload.decode(body, generation: generation)
    else { return nil }
    var actions: [Action] = []
    for packet in packets { actions += received(packet, now: now) }
    return actions
  }

  // MARK: WebSockets

  /// Handles a WebSocket opened for this polling session. Returns whether it may continue.
  public mutating func beginProbe() -> Bool {
    switch carrier {
    case .polling where !isProbing:
      isProbing = true
      return true
    case .polling, .leaving, .websocket, .ended: return false
    }
  }

  /// Handles a text frame on the probed WebSocket.
  ///
  /// - Returns: `nil` for an unexpected frame; close the WebSocket.
  public mutating func receivedByProbe(_ text: some Collection<UInt8>, now: Int64) -> [Action]? {
    guard case .polling(let hasPoll) = carrier, isProbing,
      let packet = EnginePacket(text: text, generation: generation)
    else { return nil }
    switch packet {
    case .ping(let content):
      var actions: [Action] = [.sendToProbe(EnginePacket.pong(content).text)]
      if hasPoll {
        if queue.isEmpty { keep(EnginePacket.noop.text) }
        actions.append(answerPoll())
      }
      return actions
    case .upgrade:
      isProbing = false
      var actions: [Action] = [.adoptProbe]
      if hasPoll {
        carrier = .polling(hasPoll: false)
        actions.append(
          .answerPoll(EnginePayload.encode([EnginePacket.noop.text], generation: generation)))
      }
      carrier = .websocket
      renew(now)
      actions += queue.map { .send($0) }
      queue.removeAll()
      queuedBytes = 0
      return actions
    case .open, .close, .pong, .message, .binary, .noop: return nil
    }
  }

  /// Handles the end of the probed WebSocket; polling continues.
  public mutating func endProbe() { isProbing = false }

  /// Handles a text frame on the session's WebSocket.
  public mutating func received(_ text: some Collection<UInt8>, now: Int64) -> [Action] {
    guard let packet = EnginePacket(text: text, generation: generation) else {
      return end(.badPacket)
    }
    return received(packet, now: now)
  }

  // MARK: Packets

  private mutating func received(_ packet: EnginePacket, now: Int64) -> [Action] {
    switch carrier {
    case .ended, .leaving: return []
    case .polling, .websocket: break
    }
    switch (packet, generation) {
    case (.ping(let content), .three):
      renew(now)
      return send([EnginePacket.pong(content).text], isLast: true)
    case (.pong, .four):
      renew(now)
      return []
    case (.close, _): return end(.closed)
    case (.message(let content), _):
      guard let packet = SocketPacket(content) else { return end(.badPacket) }
      return received(packet)
    case (.noop, _): return []
    case (.ping, .four), (.pong, .three), (.open, _), (.binary, _), (.upgrade, _):
      return end(.badPacket)
    }
  }

  private mutating func received(_ packet: SocketPacket) -> [Action] {
    let namespace = packet.namespace
    switch packet.kind {
    case .connect: return enter(namespace, credentials: packet.data)
    case .disconnect:
      guard isIn(namespace) else { return [] }
      namespaces.removeAll { $0.isExactly(namespace) }
      return [.left(namespace: namespace)]
    case .event:
      guard isIn(namespace), let name = packet.eventName else { return end(.badPacket) }
      return [
        .event(namespace: namespace, name: name, arguments: packet.arguments, id: packet.id)
      ]
    case .acknowledgement:
      guard isIn(namespace), let id = packet.id else { return end(.badPacket) }
      return [.acknowledged(namespace: namespace, id: id, arguments: packet.arguments)]
    case .failure: return end(.badPacket)
    }
  }

  private mutating func enter(_ namespace: String, credentials: JSONValue?) -> [Action] {
    guard !isIn(namespace) else { return [] }
    let isServed = settings.namespaces.contains { $0.isExactly(namespace) }
    guard isServed else { return refuse(namespace, message: "Invalid namespace") }
    namespaces.append(namespace)
    let entered = Action.entered(namespace: namespace, credentials: credentials)
    guard generation == .three else { return [entered] }
    return send(SocketPacket(.connect, in: namespace).engineText) + [entered]
  }

  /// Confirms to a client of the fourth generation that it has entered a namespace.
  ///
  /// - Parameters:
  ///   - name: The client's id in the namespace, which others may learn.
  ///   - recoveryID: A secret by which the client can resume its session.
  public mutating func accept(
    _ namespace: String, as name: String, recoveryID: String? = nil
  ) -> [Action] {
    let body = JSONWriter.object { object, body in
      object.field("sid", name, &body)
      object.field("pid", recoveryID, &body)
    }
    return send(
      SocketPacket(.connect, in: namespace, data: JSONValue(trusted: body)).engineText)
  }

  /// Refuses a client's connect to a namespace, with a reason.
  ///
  /// - Parameter data: Additional data for programs.
  public mutating func refuse(
    _ namespace: String, message: String, data: JSONValue? = nil
  ) -> [Action] {
    namespaces.removeAll { $0.isExactly(namespace) }
    let words = JSONValue(message)
    guard generation == .four else {
      return send(SocketPacket(.failure, in: namespace, data: words).engineText)
    }
    var fields: JSONFields = ["message": words]
    if let data { fields.append(.init("data", data)) }
    return send(SocketPacket(.failure, in: namespace, data: JSONValue(fields)).engineText)
  }

  // MARK: Time

  /// Handles the passing of time: sends a ping, or ends a silent session.
  public mutating func ticked(now: Int64) -> [Action] {
    guard !hasEnded, now >= deadline else { return [] }
    if case .leaving = carrier { return end(.silent) }
    if generation == .three || awaitsPong { return end(.silent) }
    awaitsPong = true
    deadline = now + settings.pingTimeout
    return send([EnginePacket.ping([]).text], isLast: true)
  }
}
