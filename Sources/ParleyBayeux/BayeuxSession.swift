/// A session of a Bayeux client, from its handshake to its end, without I/O.
///
/// A connect is held until something happens or its time is over: a client that is answered at once
/// asks again at once, for ever. On a WebSocket events do not wait for it; between polls they are
/// kept, up to a limit.
public struct BayeuxSession: Sendable {
  /// Settings of the operator.
  public struct Settings: Sendable, Hashable {
    /// Milliseconds for which a connect is held.
    public var holdMilliseconds: Int64 = 30_000
    /// Milliseconds without a connect after which a session is forgotten.
    public var idleMilliseconds: Int64 = 60_000
    /// Bytes kept for a client between its polls, beyond which its session ends.
    public var queuedBytesMax = 1_000_000
    /// Channels that one client may subscribe to.
    public var subscriptionsMax = 256

    /// The defaults.
    public init() {}
  }

  /// An action for the owner.
  public enum Action: Sendable, Hashable {
    /// Send messages over the WebSocket.
    case send([[UInt8]])
    /// Answer the request that waits.
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
  private var forgottenAt: Int64
  private var hasEnded = false
  private var isDismissed = false

  /// A session after its handshake.
  public init(id: String, settings: Settings, now: Int64) {
    self.id = id
    self.settings = settings
    forgottenAt = now + settings.idleMilliseconds
  }

  /// The advice in every answer to a connect.
  public var advice: BayeuxReply.Advice {
    BayeuxReply.Advice(
      reconnect: isDismissed ? "none" : "retry", timeout: Int(settings.holdMilliseconds))
  }

  /// Whether events go straight out.
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

  /// A connect has come over a WebSocket, which carries the session from here on.
  public mutating func connect(webSocket message: BayeuxMessage, now: Int64) -> [Action] {
    var actions = release()
    carrier = .webSocket
    hold(message, now)
    if !queue.isEmpty { actions.append(.send(takeQueue())) }
    if message.timeout == 0 { actions += release() }
    return actions
  }

  /// A connect has come in a request.
  ///
  /// - Returns: With no ``Action/answer(_:)`` among them the request waits.
  public mutating func connect(request message: BayeuxMessage, now: Int64) -> [Action] {
    let actions = release()
    carrier = .polling
    hold(message, now)
    guard queue.isEmpty, message.timeout != 0 else { return actions + release() }
    return actions
  }

  private mutating func hold(_ message: BayeuxMessage, _ now: Int64) {
    // A client may want it shorter, not longer.
    let wanted = message.timeout.map { Int64(max(0, $0)) } ?? settings.holdMilliseconds
    held = (message, now + min(wanted, settings.holdMilliseconds))
    forgottenAt = now + settings.holdMilliseconds + settings.idleMilliseconds
  }

  /// Answers the connect that is held, with what was kept.
  private mutating func release() -> [Action] {
    guard let message = held?.message else { return [] }
    held = nil
    switch carrier {
    case .none: return []
    case .webSocket: return [.send(takeQueue() + [reply(to: message)])]
    case .polling: return [.answer(takeQueue() + [reply(to: message)])]
    }
  }

  /// Passes an event on.
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

  /// Notes that the session's WebSocket or waiting request is gone. The client can return until the
  /// session expires.
  public mutating func interrupted() {
    carrier = .none
    held = nil
  }

  /// The client or the server ends the session.
  ///
  /// - Parameter comesBack: Whether the client is to begin another, as it does unless told.
  public mutating func end(comesBack: Bool = true) -> [Action] {
    guard !hasEnded else { return [] }
    isDismissed = !comesBack
    let actions = release()
    hasEnded = true
    return actions + [.end]
  }

  /// Time has passed.
  public mutating func ticked(now: Int64) -> [Action] {
    if let held, now >= held.until { return release() }
    return now >= forgottenAt ? end() : []
  }
}
