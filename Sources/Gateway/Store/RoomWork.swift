import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// A publication that waits for the store.
struct RoomPublishing {
  let room: RoomName
  /// The publication; the store sets offset and time.
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
  /// Numbers the attempt: meanwhile the connection may have left the room, or subscribed again.
  let attempt: UInt64
}

/// A page of a room's history that is being read, in one go or in several.
struct RoomReading {
  /// The publications that the reader wants.
  enum Filter {
    case all
    /// Publications whose authors are not hidden from the reader by a block.
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
