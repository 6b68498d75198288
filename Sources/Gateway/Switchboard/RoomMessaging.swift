import ParleyGatewayPorts
import ParleyWebSocketFrames

/// Messages to a dialect's clients about rooms.
protocol RoomMessaging: AnyObject {
  /// Returns the frame of a room's event for its members; `nil` if it is sent otherwise.
  func frame(of news: RoomEvent) -> Frame?

  /// Returns the connection that caused an event and is not sent it; `nil` if all members are.
  func sender(of news: RoomEvent) -> ConnectionID?

  /// Returns the frames that notify members who see presence of a change of presence.
  func frames(of change: PresenceChange) -> [Frame]

  /// Removes a member from a room that it may no longer read.
  func lostReading(ofRoom room: RoomName, _ connection: Connection)
}
