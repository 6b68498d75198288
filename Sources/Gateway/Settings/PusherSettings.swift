public import ParleyPusher

/// An operator's settings for Pusher's protocol.
public struct PusherSettings: Sendable {
  /// The apps; without any, the protocol is not served.
  public var apps: [PusherApp] = []
  /// Client events of one connection in a second, on average.
  public var clientEventsPerSecondMax = 10

  /// No apps.
  public init() {}
}
