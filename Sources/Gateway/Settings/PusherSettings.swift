public import ParleyPusher

/// An operator's settings for Pusher's protocol.
public struct PusherSettings: Sendable {
  /// The apps; if empty, the protocol is not served.
  public var apps: [PusherApp] = []
  /// Maximum client events of one connection per second, on average.
  public var clientEventsPerSecondMax = 10

  /// Creates the defaults, without apps.
  public init() {}
}
