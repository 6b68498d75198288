import GatewayPorts
import WebSocketFrames

/// Messages to a dialect's clients about rooms.
protocol RoomMessaging: AnyObject {
  /// The frame of a room's news for its members; `nil` where they are notified otherwise.
  func frame(of news: RoomNews) -> Frame?

  /// Takes a member out of a room that it may no longer read.
  func lostReading(ofRoom room: RoomName, _ connection: Connection)
}
