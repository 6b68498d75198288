/// An error of the Pusher protocol that is sent to a client.
///
/// The range of the code determines what a client does after the connection has closed: 4000 to
/// 4099 never reconnects, 4100 to 4199 waits before reconnecting, 4200 to 4299 reconnects at once.
/// After 4300 to 4399 the connection remains open.
public enum PusherError: Sendable, Error, Equatable {
  /// No app has the key.
  case unknownApp
  /// The URL contains no protocol version.
  case noProtocol
  /// The protocol version is not supported.
  case unsupportedProtocol
  /// The sign-in was invalid, or the app has ended the connection.
  case unauthorised
  /// The server is full at the moment, or the client has sent too much.
  case overCapacity
  /// The server is shutting down.
  case draining
  /// The client did not answer a ping.
  case pongMissing
  /// The message cannot be parsed, or its event is unknown.
  case malformed
  /// The message is too long.
  case tooLarge(bytesMax: Int)
  /// The client may not send this event.
  case clientEventRefused(String)
  /// The client has sent too many events.
  case clientEventsTooFast(perSecondMax: Int)

  /// The code on the wire.
  public var code: Int {
    switch self {
    case .unknownApp: 4001
    case .unsupportedProtocol: 4007
    case .noProtocol: 4008
    case .unauthorised: 4009
    case .overCapacity: 4100
    case .draining: 4200
    case .pongMissing: 4201
    case .malformed, .tooLarge: 4300
    case .clientEventRefused, .clientEventsTooFast: 4301
    }
  }

  /// The text for the client's developer.
  public var message: String {
    switch self {
    case .unknownApp: "no app of this server has this key"
    case .noProtocol: "expected protocol in the query, such as protocol=7"
    case .unsupportedProtocol: "expected protocol 5, 6 or 7"
    case .unauthorised: "the app has ended the connection"
    case .overCapacity: "too much was sent, or the server has no room; reconnect later"
    case .draining: "the server is shutting down; reconnect"
    case .pongMissing: "no pong within the time limit; reconnect"
    case .malformed: "expected a JSON object with event, and the data that the event requires"
    case .tooLarge(let bytesMax): "a message may have at most \(bytesMax) bytes"
    case .clientEventRefused(let reason): reason
    case .clientEventsTooFast(let most): "at most \(most) client events a second are allowed"
    }
  }

  /// Whether the connection is closed after the error.
  public var endsConnection: Bool { code < 4300 }
}

/// The reason why a client may not subscribe to a channel.
public enum PusherSubscriptionError: Sendable, Error, Equatable {
  /// The name is not a valid channel name.
  case invalidName
  /// The signature is invalid, or is for another socket, channel or user.
  case signature
  /// The channel data of a presence channel contains no valid user.
  case memberData
  /// The channel belongs to another user.
  case otherUser
  /// A limit is reached.
  case limit(String)

  /// The type of error in messages.
  public var type: String {
    switch self {
    case .signature, .otherUser: "AuthError"
    case .invalidName, .memberData: "InvalidRequest"
    case .limit: "LimitReached"
    }
  }

  /// The HTTP status code that corresponds to the error.
  public var status: Int {
    switch self {
    case .signature, .otherUser: 401
    case .invalidName, .memberData: 400
    case .limit: 413
    }
  }

  /// The text for the client's developer.
  public var message: String {
    switch self {
    case .invalidName:
      "a channel's name has 1 to \(PusherChannel.bytesMax) letters, digits and _-=@,.;"
    case .signature:
      "the signature is not valid for this socket and channel; check the app's key and secret"
    case .memberData:
      "expected channel_data with user_id, of 1 to \(PusherMember.idBytesMax) bytes, and at most "
        + "\(PusherMember.infoBytesMax) bytes of user_info"
    case .otherUser: "this channel belongs to another user; sign in first"
    case .limit(let reason): reason
    }
  }
}
