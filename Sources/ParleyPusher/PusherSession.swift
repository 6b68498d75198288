import ParleyJSON

/// A connection of Pusher's protocol: events in, actions out.
///
///     opened ─▶ connection_established
///     subscribe, with the app's signature of socket and channel ─▶ .subscribe ─▶ subscription_succeeded
///     silence ─▶ ping ─▶ pong, or the end
///
/// The caller does the actions in order, and answers a `.subscribe` with a frame.
public struct PusherSession: Sendable {
  /// Bounds and times.
  public struct Settings: Sendable {
    /// Milliseconds of silence after which a client is to send a ping, and is sent one.
    public var activityMilliseconds: Int64 = 30_000
    /// Milliseconds that a client may take to answer.
    public var pongMilliseconds: Int64 = 30_000
    /// Channels of one connection, at most.
    public var channelsMax = 64

    /// The defaults.
    public init() {}
  }

  /// An action for the caller.
  public enum Action: Sendable, Equatable {
    /// Send a message.
    case send([UInt8])
    /// Make the connection a subscriber; on a presence channel as a member.
    case subscribe(PusherChannel, PusherMember?)
    /// End a subscription.
    case unsubscribe(PusherChannel)
    /// Send an event to the other subscribers.
    case publish(PusherClientEvent)
    /// Close the connection, after the error was sent.
    case close(PusherError)
  }

  /// A signed subscription, by the name of its channel.
  private struct Subscription {
    let channel: PusherChannel
    let member: PusherMember?
  }

  /// The name of the connection, which signatures are for.
  public let socketID: String
  /// The user who is signed in.
  public private(set) var userID: String?
  private let app: PusherApp
  private let settings: Settings
  private var subscriptions: [[UInt8]: Subscription] = [:]
  private var heardAt: Int64
  /// The time of the ping that is not answered yet.
  private var pingedAt: Int64?
  private var isClosed = false

  /// Makes a connection.
  public init(app: PusherApp, socketID: String, settings: Settings, now: Int64) {
    self.app = app
    self.socketID = socketID
    self.settings = settings
    heardAt = now
  }

  /// The first message.
  public var greeting: [UInt8] {
    PusherFrame.established(
      socketID: socketID, activitySeconds: max(1, Int(settings.activityMilliseconds / 1_000)))
  }

  /// The problem with an address; `nil` if its version of the protocol is served.
  public static func problem(ofProtocol version: String?) -> PusherError? {
    guard let version, !version.isEmpty else { return .noProtocol }
    return ["5", "6", "7"].contains(version) ? nil : .unsupportedProtocol
  }

  // MARK: Events

  /// A message has arrived.
  ///
  /// - Parameter message: `nil` for one that cannot be read.
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

  /// Time has passed.
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

  /// Ends the connection.
  public mutating func end(with error: PusherError) -> [Action] {
    guard !isClosed else { return [] }
    isClosed = true
    return [.send(PusherFrame.error(error)), .close(error)]
  }

  /// The caller could not make the connection a subscriber.
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
      // A client that subscribes again may be another member by now.
      return (former == nil ? [] : [.unsubscribe(channel)]) + [.subscribe(channel, member)]
    } catch {
      return [.send(PusherFrame.refused(error, channel: name))]
    }
  }

  /// The member that a client is on a channel; `nil` on one without members.
  private func member(
    of channel: PusherChannel, auth: String, channelData: String?
  ) throws(PusherSubscriptionError) -> PusherMember? {
    if case .user(let id) = channel.kind {
      guard let userID, userID.utf8.elementsEqual(id.utf8) else { throw .otherUser }
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
    // The first sign-in counts: a connection belongs to one user.
    guard userID.map({ $0.utf8.elementsEqual(id.utf8) }) ?? true else {
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
      return refuse("the data of a client event may have \(PusherClientEvent.bytesMax) bytes")
    }
    return [
      .publish(
        PusherClientEvent(
          channel: subscription.channel, event: message.event, data: data,
          userID: subscription.member?.userID))
    ]
  }
}
