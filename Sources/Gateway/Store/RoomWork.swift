import JSON
import GatewayPorts
import SocketMessages

/// A publication on its way to the disk.
struct RoomPublishing {
  let room: RoomName
  /// The publication; offset and time are the store's to give.
  let publication: Publication
  /// Whether followers who are offline are to be notified.
  let pushes: Bool
  let publisher: Publisher
}

/// A subscription that waits for what came after a position.
struct RoomSubscribing {
  let room: RoomName
  let position: RoomPosition?
  let subscriber: Subscriber
  /// Numbers the attempt: the connection may have left the room meanwhile, or subscribed again.
  let attempt: UInt64
}

/// A page of a room's history that is being read, in one go or in several.
struct RoomReading {
  /// Which publications the reader wants.
  enum Filter {
    case all
    /// Publications whose authors are not kept from the reader.
    case visible(to: PersonID)
    /// Messages of a group chat, likewise.
    case messages(to: PersonID?)
  }

  let room: RoomName
  let range: RoomRange
  let limit: Int
  let filter: Filter
  let reader: RoomReader
  /// Whether publications were found missing before this range.
  var hasGap = false
}
