import ParleyGatewayPorts
import SocketMessages

extension Publication {
  /// The publication for readers without values; `nil` if it has no data.
  var withoutValues: Publication? {
    guard data != nil else { return nil }
    guard values != nil else { return self }
    var publication = self
    publication.values = nil
    return publication
  }
}

extension Publication {
  /// The publication without its data and its author; `nil` if it changes no values.
  var operationsAlone: Publication? {
    guard values != nil else { return nil }
    var publication = self
    (publication.data, publication.personID, publication.senderID) = (nil, nil, nil)
    return publication
  }
}

/// An event for a room's members, which each dialect encodes in a separate frame.
struct RoomEvent {
  enum Content {
    case publication(Publication, epoch: Epoch)
    /// A resource has changed; rooms do not store the update.
    case update(ResourceUpdate)
    /// An event from a member to the others; rooms do not store it.
    case event(TransientEvent)
    /// A signal from a member or a backend; rooms do not store it.
    case signal(RoomSignal)
  }

  let room: RoomName
  let content: Content

  /// The event for members that receive no operations on values; `nil` if it has nothing for them.
  var withoutValues: RoomEvent? {
    guard case .publication(let publication, let epoch) = content else { return self }
    return publication.withoutValues.map {
      RoomEvent(room: room, content: .publication($0, epoch: epoch))
    }
  }

  /// The event for readers of values who have blocked the author, or are blocked by the author: the
  /// operations alone. `nil` if there are none.
  var operationsAlone: RoomEvent? {
    guard case .publication(let publication, let epoch) = content else { return nil }
    return publication.operationsAlone.map {
      RoomEvent(room: room, content: .publication($0, epoch: epoch))
    }
  }
}
