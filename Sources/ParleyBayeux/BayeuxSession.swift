/// A session of a Bayeux client, from its handshake to its end, as a state machine without I/O.
///
/// A connect is held until there is an event, or its time has expired, because a client repeats an
/// answered connect at once. On a WebSocket, events are sent immediately; between polls they are
/// queued, up to a limit.
public struct BayeuxSession: Sendable {
  /// The operator's settings.
  public struct Settings: Sendable, Hashable {
    /// Maximum milliseconds for which a connect is held.
    public var holdMilliseconds: Int64 = 30_000
    /// Maximum milliseconds without a connect, after which a session expires.
    public var idleMilliseconds: Int64 = 60_000
    /// Maximum bytes queued for a client between its polls; beyond it, the session ends.
    public var queuedBytesMax = 1_000_000
    /// Maximum channels that one client may subscribe to.
    public var subscriptionsMax = 256

    /// Creates the default settings.
    public init() {}
  }

  /// An action for the owner.
  public enum Action: Sendable, Hashable {
    /// Send messages over the WebSocket.
    case send([[UInt8]])
    /// Answer the waiting request.
    case answer([[UInt8]])
    /// The session is over: forget it.
    case end
  }

  private enum Carrier {
    case none
    case webSocket
    case polling
  }

  /// The session's id, which is unpredictable.
  public let id: String
  private let settings: Settings
  private var carrier = Carrier.none
  private var held: (message: BayeuxMessage, until: Int64)?
  private var queue: [[UInt8]] = []
  private var queuedBytes = 0
  private var expiresAt: Int64
  private var hasEnded = false
  private var isDismissed = false

  /// Creates a session after its handshake.
  public init(id: String, settings: Settings, now: Int64) {
    self.id = id
    self.settings = settings
    expiresAt = now + settings.idleMilliseconds
  }

  /// The advice in every reply to a connect.
  public var advice: BayeuxReply.Advice {
    BayeuxReply.Advice(
      reconnect: isDismissed ? "none" : "retry", timeout: Int(settings.holdMilliseconds))
  }

  /// Whether events are sent immediately.
  public var isOnWebSocket: Bool {
    switch carrier {
    case .webSocket: true
    case .none, .polling: false
    }
  }

  private func reply(to message: BayeuxMessage) -> [UInt8] {
    BayeuxReply.reply(to: message, clientID: id, advice: advice)
  }

  private mutating func takeQueue() -> [[UInt8]] {
    defer {
      queue.removeAll()
      queuedBytes = 0
    }
    return queue
  }

  /// Handles a connect over a WebSocket, which becomes the session's.
  public mutating func connect(webSocket message: BayeuxMessage, now: Int64) -> [Action] {
    var actions = release()
    carrier = .webSocket
    hold(message, now)
    if !queue.isEmpty { actions.append(.send(takeQueue())) }
    if message.timeout == 0 { actions += release() }
    return actions
  }

  /// Handles a connect in a request.
  ///
  /// - Returns: The actions; without an ``Action/answer(_:)`` the request waits.
  public mutating func connect(request message: BayeuxMessage, now: Int64) -> [Action] {
    let actions = release()
    carrier = .polling
    hold(message, now)
    guard queue.isEmpty, message.timeout != 0 else { return actions + release() }
    return actions
  }

  private mutating func hold(_ message: BayeuxMessage, _ now: Int64) {
    // A client may shorten the time, but not extend it.
    let wanted = message.timeout.map { Int64(max(0, $0)) } ?? settings.holdMilliseconds
    held = (message, now + min(wanted, settings.holdMilliseconds))
    expiresAt = now + settings.holdMilliseconds + settings.idleMilliseconds
  }

  /// Answers the held connect, with the queued events.
  private mutating func release() -> [Action] {
    guard let message = held?.message else { return [] }
    held = nil
    switch carrier {
    case .none: return []
    case .webSocket: return [.send(takeQueue() + [reply(to: message)])]
    case .polling: return [.answer(takeQueue() + [reply(to: message)])]
    }
  }

  /// Sends or queues an event.
  public mutating func deliver(_ event: [UInt8]) -> [Action] {
    if hasEnded { return [] }
    switch carrier {
    case .webSocket: return [.send([event])]
    case .none, .polling:
      queue.append(event)
      queuedBytes += event.count
      if held != nil { return release() }
      return queuedBytes > settings.queuedBytesMax ? end() : []
    }
  }

  /// Handles the loss of the session's WebSocket or waiting request. The client can reconnect until
  /// the session expires.
  public mutating func interrupted() {
    carrier = .none
    held = nil
  }

  /// Ends the session for the client or the server.
  ///
  /// - Parameter mayReconnect: Whether the client should start another session.
  public mutating func end(mayReconnect: Bool = true) -> [Action] {
    guard !hasEnded else { return [] }
    isDismissed = !mayReconnect
    let actions = release()
    hasEnded = true
    return actions + [.end]
  }

  /// Handles the passing of time: answers an expired connect, or ends an idle session.
  public mutating func ticked(now: Int64) -> [Action] {
    if let held, now >= held.until { return release() }
    return now >= expiresAt ? end() : []
  }
}
