import ParleyGatewayPorts
import SocketMessages

/// News for a room's members, which each dialect puts into a frame of its own.
struct RoomNews {
  enum Content {
    case publication(Publication, epoch: String)
    /// A resource has changed; rooms do not store this.
    case update(ResourceUpdate)
    /// An event of a member for the others; rooms do not store this.
    case event(TransientEvent)
  }

  let room: RoomName
  let content: Content
}
