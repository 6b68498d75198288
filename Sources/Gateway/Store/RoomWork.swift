import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// A publication that waits for the store.
struct RoomPublishing {
  let room: RoomName
  /// The publication; the store sets offset and time.
  let publication: Publication
  /// Whether offline followers are notified.
  let pushes: Bool
  let publisher: Publisher
}

/// A subscription that waits for the publications after its position.
struct RoomSubscribing {
  let room: RoomName
  let position: RoomPosition?
  let subscriber: Subscriber
  /// The number of the attempt: the connection may have left the room or subscribed again since.
  let attempt: UInt64
}

/// A page of a room's history that is read in one or more steps.
struct RoomReading {
  /// The publications that the page contains.
  enum Filter {
    case all
    /// Publications whose authors are not hidden from the reader by a block.
    case visible(to: PersonID)
    /// Messages of a group chat whose authors are not hidden from the reader by a block.
    case messages(to: PersonID?)
  }

  let room: RoomName
  let range: RoomRange
  let limit: Int
  let filter: Filter
  let reader: RoomReader
  /// Whether a gap was found before this range.
  var hasGap = false
}
