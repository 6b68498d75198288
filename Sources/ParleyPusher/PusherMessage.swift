public import ParleyJSON

/// A message of a client of Pusher's protocol.
public struct PusherMessage: Sendable, Hashable {
  /// The event's name.
  public let event: String
  /// The channel, as it was sent.
  public let channel: String?
  /// The data; of the protocol's own events an object, even if it came as text.
  public let data: JSONValue?

  /// Bytes of a message, at most.
  public static let bytesMax = 32 << 10
  /// Bytes of an event's name, at most.
  public static let eventBytesMax = 200
  private static let ownPrefix = "pusher:"

  /// Reads a message; `nil` if it is malformed or too long.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count <= Self.bytesMax, let value = JSONValue(bytes),
      let parts = value.values(of: "event", "channel", "data"), let event = parts[0]?.string,
      (1...Self.eventBytesMax).contains(event.utf8.count)
    else { return nil }
    self.event = event
    channel = parts[1]?.string
    let isOwn = event.utf8.starts(with: Self.ownPrefix.utf8)
    // Some clients write the data of the protocol's own events as text.
    data = parts[2].flatMap { data in
      isOwn ? data.string.flatMap { JSONValue($0.utf8) } ?? data : data
    }
  }

  /// The type in metrics. A name that a client chose does not become a label.
  public var metricName: String {
    switch event {
    case "pusher:subscribe", "pusher:unsubscribe", "pusher:signin", "pusher:ping", "pusher:pong":
      event
    default: isClientEvent ? "pusher:client-event" : "unknown"
    }
  }

  /// Whether it is an event for other subscribers.
  public var isClientEvent: Bool { event.utf8.starts(with: "client-".utf8) }
}

/// An event that a subscriber sends to the others of a channel.
public struct PusherClientEvent: Sendable, Hashable {
  /// The channel.
  public let channel: PusherChannel
  /// The event's name, which begins with `client-`.
  public let event: String
  /// The data, as they were sent.
  public let data: JSONValue
  /// The sender, on presence channels.
  public let userID: String?

  /// Bytes of the data, at most.
  public static let bytesMax = 10 << 10

  /// Makes an event.
  public init(channel: PusherChannel, event: String, data: JSONValue, userID: String?) {
    self.channel = channel
    self.event = event
    self.data = data
    self.userID = userID
  }
}
