import ParleyJSON
import ParleyGatewayPorts
import SocketMessages

/// The address of a publisher, to which the outcome is sent.
enum Publisher {
  case native(ConnectionID, ref: String)
  /// A request over HTTP that consists of this publication.
  case request(RequestID)
  /// A publication of a batch over HTTP.
  case part(RequestID, index: Int)
  /// A backend of the Twake family.
  case backend(RequestID)
  /// A message to a group chat, and its time of arrival.
  case groupChat(RequestID, subject: JSONFields, time: Timestamp)
  /// A Socket.IO session, by its connection id.
  case socketIO(ConnectionID)
  /// A Bayeux event, by its number.
  case bayeux(UInt64)
  /// A request of an app's back end in Pusher's protocol; one per event and channel.
  case pusher(RequestID)
  /// The server itself, which needs no reply.
  case service
}

/// The address of a subscriber.
enum Subscriber {
  case native(ConnectionID, ClientMessage.Subscribe, ref: String)
  /// A Socket.IO session, by its connection id.
  case socketIO(ConnectionID)
}

/// The address of a reader of a room's history.
enum RoomReader {
  case native(ConnectionID, ref: String)
  case request(RequestID)
  /// A group chat's request; newest first, unless it requests messages since another one.
  case groupChat(RequestID, isSince: Bool)
  /// A subscriber of a cache channel of Pusher's protocol.
  case pusher(ConnectionID)
}
