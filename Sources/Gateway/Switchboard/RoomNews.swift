import ParleyGatewayPorts
import SocketMessages

/// An event for a room's members, which each dialect encodes in a separate frame.
struct RoomEvent {
  enum Content {
    case publication(Publication, epoch: Epoch)
    /// A resource has changed; rooms do not store the update.
    case update(ResourceUpdate)
    /// An event from a member to the others; rooms do not store it.
    case event(TransientEvent)
  }

  let room: RoomName
  let content: Content
}
