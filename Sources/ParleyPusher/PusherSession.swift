import ParleyJSON

/// The state machine of a Pusher connection: events in, actions out.
///
///     opened ─▶ connection_established
///     subscribe, signed for socket and channel ─▶ .subscribe ─▶ subscription_succeeded
///     silence ─▶ ping ─▶ pong, or the end
///
/// The caller performs the actions in order, and answers `.subscribe` with a frame.
public struct PusherSession: Sendable {
  /// Limits and time-outs.
  public struct Settings: Sendable {
    /// Milliseconds of silence after which the client should send a ping, and the server sends one.
    public var activityMilliseconds: Int64 = 30_000
    /// Maximum milliseconds until the client answers a ping.
    public var pongMilliseconds: Int64 = 30_000
    /// Maximum channels of one connection.
    public var channelsMax = 64

    /// Creates the default settings.
    public init() {}
  }

  /// An action for the caller.
  public enum Action: Sendable, Equatable {
    /// Send a message.
    case send([UInt8])
    /// Subscribe the connection to a channel, as a member if it is a presence channel.
    case subscribe(PusherChannel, PusherMember?)
    /// End a subscription.
    case unsubscribe(PusherChannel)
    /// Send an event to the other subscribers.
    case publish(PusherClientEvent)
    /// Close the connection. The error message was already sent.
    case close(PusherError)
  }

  /// A subscription of the connection, with its member on a presence channel.
  private struct Subscription {
    let channel: PusherChannel
    let member: PusherMember?
  }

  /// The id of the connection, contained in signed texts.
  public let socketID: String
  /// The signed-in user; `nil` before a sign-in.
  public private(set) var userID: String?
  private let app: PusherApp
  private let settings: Settings
  private var subscriptions: [[UInt8]: Subscription] = [:]
  private var heardAt: Int64
  /// The time of the unanswered ping.
  private var pingedAt: Int64?
  private var isClosed = false

  /// Creates a connection that has just been opened.
  public init(app: PusherApp, socketID: String, settings: Settings, now: Int64) {
    self.app = app
    self.socketID = socketID
    self.settings = settings
    heardAt = now
  }

  /// The first message to the client.
  public var greeting: [UInt8] {
    PusherFrame.established(
      socketID: socketID, activitySeconds: max(1, Int(settings.activityMilliseconds / 1_000)))
  }

  /// Returns the error for a protocol version; `nil` if the version is supported.
  public static func problem(ofProtocol version: String?) -> PusherError? {
    guard let version, !version.isEmpty else { return .noProtocol }
    return ["5", "6", "7"].contains(version) ? nil : .unsupportedProtocol
  }

  // MARK: Events

  /// Handles a message of the client.
  ///
  /// - Parameter message: The message; `nil` if it cannot be parsed.
  public mutating func received(_ message: PusherMessage?, now: Int64) -> [Action] {
    guard !isClosed else { return [] }
    heardAt = now
    pingedAt = nil
    guard let message else { return [.send(PusherFrame.error(.malformed))] }
    switch message.event {
    case "pusher:ping": return [.send(PusherFrame.pong)]
    case "pusher:pong": return []
    case "pusher:subscribe": return subscribe(message)
    case "pusher:unsubscribe":
      guard let channel = message.data?.value(of: "channel")?.string,
        let former = subscriptions.removeValue(forKey: Array(channel.utf8))
      else { return [] }
      return [.unsubscribe(former.channel)]
    case "pusher:signin": return signIn(message)
    default:
      return message.isClientEvent ? publish(message) : [.send(PusherFrame.error(.malformed))]
    }
  }

  /// Handles the passing of time: sends pings, and ends a silent connection.
  public mutating func ticked(now: Int64) -> [Action] {
    guard !isClosed else { return [] }
    if let pingedAt {
      guard now - pingedAt >= settings.pongMilliseconds else { return [] }
      return end(with: .pongMissing)
    }
    guard now - heardAt >= settings.activityMilliseconds else { return [] }
    pingedAt = now
    return [.send(PusherFrame.ping)]
  }

  /// Ends the connection with an error.
  public mutating func end(with error: PusherError) -> [Action] {
    guard !isClosed else { return [] }
    isClosed = true
    return [.send(PusherFrame.error(error)), .close(error)]
  }

  /// Removes a subscription that the caller has rejected.
  public mutating func refused(_ channel: PusherChannel) {
    subscriptions[Array(channel.name.utf8)] = nil
  }

  // MARK: Subscribing

  private mutating func subscribe(_ message: PusherMessage) -> [Action] {
    guard let parts = message.data?.values(of: "channel", "auth", "channel_data"),
      let name = parts[0]?.string
    else { return [.send(PusherFrame.error(.malformed))] }
    let key = Array(name.utf8)
    do throws(PusherSubscriptionError) {
      guard let channel = PusherChannel(name) else { throw .invalidName }
      let member = try member(
        of: channel, auth: parts[1]?.string ?? "", channelData: parts[2]?.string)
      let former = subscriptions[key]
      guard former != nil || subscriptions.count < settings.channelsMax else {
        throw .limit("a connection may subscribe to \(settings.channelsMax) channels")
      }
      subscriptions[key] = Subscription(channel: channel, member: member)
      // A client that subscribes again may have become another member.
      return (former == nil ? [] : [.unsubscribe(channel)]) + [.subscribe(channel, member)]
    } catch {
      return [.send(PusherFrame.refused(error, channel: name))]
    }
  }

  /// Checks the right to subscribe, and returns the member; `nil` on channels without members.
  private func member(
    of channel: PusherChannel, auth: String, channelData: String?
  ) throws(PusherSubscriptionError) -> PusherMember? {
    if case .user(let id) = channel.kind {
      guard let userID, userID.isExactly(id) else { throw .otherUser }
    }
    guard channel.isSigned else { return nil }
    let text = PusherApp.subscriptionText(
      socketID: socketID, channel: channel, channelData: channelData)
    guard app.accepts(auth, of: text) else { throw .signature }
    guard channel.kind == .presence else { return nil }
    guard let channelData, let member = PusherMember(channelData: channelData) else {
      throw .memberData
    }
    return member
  }

  // MARK: Signing in

  private mutating func signIn(_ message: PusherMessage) -> [Action] {
    guard let parts = message.data?.values(of: "auth", "user_data"),
      let auth = parts[0]?.string, let data = parts[1]?.string
    else { return [.send(PusherFrame.error(.malformed))] }
    guard app.accepts(auth, of: PusherApp.signInText(socketID: socketID, userData: data)),
      let id = JSONValue(data.utf8)?.value(of: "id").flatMap(PusherMember.id),
      PusherChannel(ofUser: id) != nil
    else { return end(with: .unauthorised) }
    // A connection belongs to one user, so a second sign-in must be of the same user.
    guard userID.map({ $0.isExactly(id) }) ?? true else {
      return end(with: .unauthorised)
    }
    userID = id
    return [.send(PusherFrame.signedIn(userData: data))]
  }

  // MARK: Client events

  private func publish(_ message: PusherMessage) -> [Action] {
    func refuse(_ reason: String) -> [Action] {
      [.send(PusherFrame.error(.clientEventRefused(reason)))]
    }
    guard app.allowsClientEvents else { return refuse("the app does not allow client events") }
    guard let name = message.channel, let subscription = subscriptions[Array(name.utf8)] else {
      return refuse("subscribe to the channel before sending events to it")
    }
    guard subscription.channel.takesClientEvents else {
      return refuse("client events are for private and presence channels")
    }
    let data = message.data ?? .null
    guard data.utf8.count <= PusherClientEvent.bytesMax else {
      return refuse(
        "the data of a client event may have at most \(PusherClientEvent.bytesMax) bytes")
    }
    return [
      .publish(
        PusherClientEvent(
          channel: subscription.channel, event: message.event, data: data,
          userID: subscription.member?.userID))
    ]
  }
}
