import GatewayPorts
import SocketMessages

/// A publication on its way to the disk.
struct RoomPublishing {
  let room: RoomName
  /// The publication; offset and time are the store's to give.
  let publication: Publication
  /// Whether followers who are offline are to be told.
  let pushes: Bool
  let publisher: Publisher
}

/// The address of a publisher, which hears what became of its publication.
enum Publisher {
  case native(ConnectionID, ref: String)
  /// A request over HTTP, of which it is all.
  case request(RequestID)
  /// A part of a request over HTTP.
  case part(RequestID, index: Int)
  /// A backend of the Twake family.
  case backend(RequestID)
  /// A message to a group chat, and when it came.
  case groupChat(RequestID, subject: JSONFields, time: Timestamp)
  /// A session of Socket.IO, by its place.
  case socketIO(ConnectionID)
  case bayeux(BayeuxPublishing)
}

/// A subscription that waits for what came after a position.
struct RoomSubscribing {
  let room: RoomName
  let position: RoomPosition?
  let subscriber: Subscriber
  /// Numbers the attempt: the connection may have left the room meanwhile, or subscribed again.
  let attempt: UInt64
}

/// The address of a subscriber.
enum Subscriber {
  case native(ConnectionID, ClientMessage.Subscribe, ref: String)
  /// A session of Socket.IO, by its place.
  case socketIO(ConnectionID)
}

/// A page of a room's history that is being read, in one go or in several.
struct RoomReading {
  /// Which publications the reader wants.
  enum Filter {
    case all
    /// Those whose authors are not kept from the reader.
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

/// The address of a reader of a room's history.
enum RoomReader {
  case native(ConnectionID, ref: String)
  case request(RequestID)
  /// A request of a group chat; the newest come first unless it asks for what came since a message.
  case groupChat(RequestID, isSince: Bool)
}
