public import ParleyJSON

/// A message of a Pusher client.
public struct PusherMessage: Sendable, Hashable {
  /// The event's name.
  public let event: String
  /// The channel, as sent.
  public let channel: String?
  /// The data. For events of the protocol, the parsed value even if it was sent as a string.
  public let data: JSONValue?

  /// Maximum bytes of a message.
  public static let bytesMax = 32 << 10
  /// Maximum bytes of an event's name.
  public static let eventBytesMax = 200
  private static let ownPrefix = "pusher:"

  /// Parses a message; `nil` if it is malformed or too long.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count <= Self.bytesMax, let value = JSONValue(bytes),
      let parts = value.values(of: "event", "channel", "data"), let event = parts[0]?.string,
      (1...Self.eventBytesMax).contains(event.utf8.count)
    else { return nil }
    self.event = event
    channel = parts[1]?.string
    let isOwn = event.utf8.starts(with: Self.ownPrefix.utf8)
    // Some clients send the data of protocol events as a string.
    data = parts[2].flatMap { data in
      isOwn ? data.string.flatMap { JSONValue($0.utf8) } ?? data : data
    }
  }

  /// The label in metrics. Names that clients choose do not become labels.
  public var metricName: String {
    switch event {
    case "pusher:subscribe", "pusher:unsubscribe", "pusher:signin", "pusher:ping", "pusher:pong":
      event
    default: isClientEvent ? "pusher:client-event" : "unknown"
    }
  }

  /// Whether the message is an event for other subscribers.
  public var isClientEvent: Bool { event.utf8.starts(with: "client-".utf8) }
}

/// An event that a client sends to the other subscribers of a channel.
public struct PusherClientEvent: Sendable, Hashable {
  /// The channel.
  public let channel: PusherChannel
  /// The event's name, which begins with `client-`.
  public let event: String
  /// The data, as sent.
  public let data: JSONValue
  /// The sender's user id on presence channels; otherwise `nil`.
  public let userID: String?

  /// Maximum bytes of the data.
  public static let bytesMax = 10 << 10

  /// Creates an event of a subscriber.
  public init(channel: PusherChannel, event: String, data: JSONValue, userID: String?) {
    self.channel = channel
    self.event = event
    self.data = data
    self.userID = userID
  }
}
