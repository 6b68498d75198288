public import ParleyJSON

/// The client's end of a session over one WebSocket, in the default namespace of Socket.IO 3 or
/// later, as a state machine without I/O: frames in, actions out.
///
///     opening ─ open packet ▶ entering ─ connect packet ▶ entered ▶ ended
///
/// It sends nothing before the server's open packet. A reconnecting client creates a new value for
/// each connection.
public struct SocketClient: Sendable {
  /// An action for the owner; actions are performed in order.
  public enum Action: Sendable, Hashable {
    /// Send a text frame.
    case send([UInt8])
    /// The namespace was entered.
    case entered
    /// An event was received.
    case event(name: String, arguments: [JSONValue])
    /// The answer to a request was received.
    case answered(id: Int, arguments: [JSONValue])
    /// The session is over: close the connection.
    case end(Ending)
  }

  /// The reason for the end of a session.
  public enum Ending: Sendable, Hashable {
    /// The server refused the namespace; contains its message.
    case refused(String)
    /// The server closed the session.
    case closed
    /// The server broke the protocol, or speaks another one.
    case badPacket
    /// The server has sent nothing for longer than it promised.
    case silent
  }

  private enum State {
    /// Next: `entering`, `ended`.
    case opening
    /// Next: `entered`, `ended`.
    case entering
    /// Next: `ended`.
    case entered
    /// Final.
    case ended
  }

  /// The query of the WebSocket's address.
  public static let query = "EIO=4&transport=websocket"
  /// The maximum milliseconds until the namespace is entered.
  public static let openMilliseconds: Int64 = 20_000
  /// The maximum milliseconds of silence that a server may ask for.
  public static let silenceMax: Int64 = 600_000

  private let credentials: JSONValue?
  private var state = State.opening
  private var silence: Int64 = 0
  private var lastID = 0
  /// The time by which the server must send something.
  public private(set) var deadline: Int64

  /// Creates the client of a connection that is open.
  ///
  /// - Parameter credentials: The data of the connect packet.
  public init(credentials: JSONValue? = nil, now: Int64) {
    self.credentials = credentials
    deadline = now + Self.openMilliseconds
  }

  /// Whether events can be sent.
  public var isEntered: Bool {
    switch state {
    case .entered: true
    case .opening, .entering, .ended: false
    }
  }

  /// Returns the frame of an event.
  public func frame(event name: String, _ arguments: [JSONValue]) -> [UInt8] {
    SocketPacket(event: name, arguments).engineText
  }

  /// Returns the frame of an event that the server answers, and the number of the answer.
  public mutating func request(_ name: String, _ arguments: [JSONValue]) -> (id: Int, [UInt8]) {
    lastID += 1
    var packet = SocketPacket(event: name, arguments)
    packet.id = lastID
    return (lastID, packet.engineText)
  }

  /// Handles a text frame.
  public mutating func received(_ text: some Collection<UInt8>, now: Int64) -> [Action] {
    switch state {
    case .ended: return []
    case .opening, .entering, .entered: break
    }
    guard let packet = EnginePacket(text: text, generation: .four) else { return end(.badPacket) }
    if case .opening = state {
      guard case .open(let content) = packet else { return end(.badPacket) }
      return opened(content, now)
    }
    deadline = max(deadline, now + silence)
    switch packet {
    case .ping(let content): return [.send(EnginePacket.pong(content).text)]
    case .close: return end(.closed)
    case .noop: return []
    case .message(let content):
      guard let packet = SocketPacket(content) else { return end(.badPacket) }
      return received(packet, now)
    case .open, .pong, .upgrade, .binary: return end(.badPacket)
    }
  }

  private mutating func opened(_ content: [UInt8], _ now: Int64) -> [Action] {
    let fields = JSONFields(content)
    guard let interval = fields?["pingInterval"]?.integer, interval > 0,
      let timeout = fields?["pingTimeout"]?.integer, timeout > 0
    else { return end(.badPacket) }
    silence = min(Int64(clamping: interval), Self.silenceMax / 2)
    silence += min(Int64(clamping: timeout), Self.silenceMax / 2)
    state = .entering
    return [.send(SocketPacket(.connect, data: credentials).engineText)]
  }

  private mutating func received(_ packet: SocketPacket, _ now: Int64) -> [Action] {
    guard packet.namespace.isExactly("/") else { return [] }
    switch packet.kind {
    case .connect:
      guard case .entering = state else { return [] }
      state = .entered
      deadline = now + silence
      return [.entered]
    case .failure:
      let message = packet.data?.fields?["message"]?.string ?? packet.data?.string
      return end(.refused(message ?? "no reason given"))
    case .disconnect: return end(.closed)
    case .event:
      guard isEntered, let name = packet.eventName else { return [] }
      return [.event(name: name, arguments: packet.arguments)]
    case .acknowledgement:
      guard isEntered, let id = packet.id else { return [] }
      return [.answered(id: id, arguments: packet.arguments)]
    }
  }

  /// Handles the passing of time: ends the session of a silent server.
  public mutating func ticked(now: Int64) -> [Action] {
    switch state {
    case .ended: []
    case .opening, .entering, .entered: now >= deadline ? end(.silent) : []
    }
  }

  private mutating func end(_ ending: Ending) -> [Action] {
    state = .ended
    return [.end(ending)]
  }
}
