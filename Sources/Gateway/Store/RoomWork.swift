import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// Values of a room that are read for a client.
struct ValueReading {
  /// The reader, to which the values are sent.
  enum Reader {
    case native(ConnectionID, ref: String)
    case request(RequestID)
    /// A subscriber that was too slow for publications.
    case lagging(ConnectionID)
  }

  let room: RoomName
  let query: ValueQuery
  let reader: Reader

  /// The connection that reads; `nil` for a request over HTTP.
  var connection: ConnectionID? {
    switch reader {
    case .native(let id, _), .lagging(let id): id
    case .request: nil
    }
  }
}

/// A publication that waits for the store.
struct RoomPublishing {
  let room: RoomName
  /// The publication; the store sets offset and time.
  let publication: Publication
  /// Whether offline followers are notified.
  let pushes: Bool
  /// The change of values, and the client that makes it.
  var change: ValueChange?
  var client: String?
  let publisher: Publisher
}

/// A subscription that waits for the publications after its position.
struct RoomSubscribing {
  let room: RoomName
  let position: RoomPosition?
  let subscriber: Subscriber
  /// The values that the subscriber receives if the publications are not available.
  var values: ValueNames?
  /// The page of values that the subscriber receives if the room is still at its position.
  var snapshot: ValueSnapshot?
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
  /// Whether the page also contains publications without data, and operations on values.
  var takesValues = false
  /// Whether earlier steps have found only publications that the page does not contain.
  var isContinued = false
  /// Whether a gap was found before this range.
  var hasGap = false
}
