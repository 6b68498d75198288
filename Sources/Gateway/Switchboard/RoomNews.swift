import GatewayPorts
import SocketMessages

/// News for a room's members, which each dialect puts into a frame of its own.
struct RoomNews {
  enum Content {
    case publication(Publication, epoch: String)
    /// A resource has changed; rooms do not store this.
    case update(ResourceUpdate)
  }

  let room: RoomName
  let content: Content
}
