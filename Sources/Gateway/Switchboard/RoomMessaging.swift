import ParleyGatewayPorts
import ParleyWebSocketFrames

/// Messages to a dialect's clients about rooms.
protocol RoomMessaging: AnyObject {
  /// The frame of a room's news for its members; `nil` where they are notified otherwise.
  func frame(of news: RoomNews) -> Frame?

  /// The connection from which a room's news came, and which is not sent them; `nil` if all members are.
  func sender(of news: RoomNews) -> ConnectionID?

  /// The frames that tell members who are present of changes among them.
  func frames(of change: PresenceChange) -> [Frame]

  /// Takes a member out of a room that it may no longer read.
  func lostReading(ofRoom room: RoomName, _ connection: Connection)
}
