import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// The address of a publisher, which hears the outcome of its publication.
enum Publisher {
  case native(ConnectionID, ref: String)
  /// A request over HTTP that consists of this publication.
  case request(RequestID)
  /// A part of a request over HTTP.
  case part(RequestID, index: Int)
  /// A backend of the Twake family.
  case backend(RequestID)
  /// A message to a group chat, and when it came.
  case groupChat(RequestID, subject: JSONFields, time: Timestamp)
  /// A session of Socket.IO, by its place.
  case socketIO(ConnectionID)
  /// An event of Bayeux, by its number.
  case bayeux(UInt64)
  /// A request of an app's back end in Pusher's protocol; there is one for each event and channel.
  case pusher(RequestID)
  /// The server itself, which receives no answer.
  case service
}

/// The address of a subscriber.
enum Subscriber {
  case native(ConnectionID, ClientMessage.Subscribe, ref: String)
  /// A session of Socket.IO, by its place.
  case socketIO(ConnectionID)
}

/// The address of a reader of a room's history.
enum RoomReader {
  case native(ConnectionID, ref: String)
  case request(RequestID)
  /// A request of a group chat; the newest come first unless it asks for what came since a message.
  case groupChat(RequestID, isSince: Bool)
  /// A subscriber of a cache channel of Pusher's protocol.
  case pusher(ConnectionID)
}
