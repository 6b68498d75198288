import GatewayPorts
import SocketMessages
import WebSocketFrames

/// News for a room's members, in a frame for each dialect that is made for the first who gets it.
struct RoomNews {
  enum Content {
    case publication(Publication, epoch: String)
    /// A resource has changed: no room remembers it.
    case update(ResourceUpdate)
  }

  let room: RoomName
  let content: Content
  var native: Frame?
  var whaler: Frame?

  init(_ content: Content, in room: RoomName) {
    self.content = content
    self.room = room
  }
}
