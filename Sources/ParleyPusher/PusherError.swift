/// An error of Pusher's protocol that a client is sent.
///
/// The range of a code says what a client does after the connection is closed with it: 4000 to 4099 never reconnect, 4100
/// to 4199 wait, 4200 to 4299 reconnect at once. After 4300 to 4399 the connection stays open.
public enum PusherError: Sendable, Error, Equatable {
  /// The key is no app's.
  case unknownApp
  /// The address names no version of the protocol.
  case noProtocol
  /// The version is not served.
  case unsupportedProtocol
  /// The app has ended the connection.
  case unauthorised
  /// The server has no room for the client at the moment, or was sent too much.
  case overCapacity
  /// The server is going down.
  case draining
  /// The client did not answer a ping.
  case pongMissing
  /// A message that is not understood.
  case malformed
  /// A message that is too long.
  case tooLarge(bytesMax: Int)
  /// A subscriber may not send this event.
  case clientEventRefused(String)
  /// Too many events of a subscriber.
  case clientEventsTooFast(perSecondMax: Int)

  /// The number.
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

  /// A sentence for the developer.
  public var message: String {
    switch self {
    case .unknownApp: "no app of this server has this key"
    case .noProtocol: "expected protocol in the query, such as protocol=7"
    case .unsupportedProtocol: "expected protocol 5, 6 or 7"
    case .unauthorised: "the app has ended the connection"
    case .overCapacity: "too much was sent, or the server has no room; reconnect later"
    case .draining: "the server is going down; reconnect"
    case .pongMissing: "no pong came in time; reconnect"
    case .malformed: "expected a JSON object with event, and the data that the event requires"
    case .tooLarge(let bytesMax): "a message may have \(bytesMax) bytes"
    case .clientEventRefused(let reason): reason
    case .clientEventsTooFast(let most): "at most \(most) client events a second are allowed"
    }
  }

  /// Whether the connection ends with it.
  public var endsConnection: Bool { code < 4300 }
}

/// The reason why a client may not subscribe to a channel.
public enum PusherSubscriptionError: Sendable, Error, Equatable {
  /// The name is no channel's.
  case invalidName
  /// The signature is not the app's, or is for another socket, channel or user.
  case signature
  /// The data of a presence channel names no user.
  case memberData
  /// The channel is another user's own.
  case otherUser
  /// A limit is reached.
  case limit(String)

  /// The kind of error, as clients know it.
  public var type: String {
    switch self {
    case .signature, .otherUser: "AuthError"
    case .invalidName, .memberData: "InvalidRequest"
    case .limit: "LimitReached"
    }
  }

  /// A status, as over HTTP.
  public var status: Int {
    switch self {
    case .signature, .otherUser: 401
    case .invalidName, .memberData: 400
    case .limit: 413
    }
  }

  /// A sentence for the developer.
  public var message: String {
    switch self {
    case .invalidName:
      "a channel's name has 1 to \(PusherChannel.bytesMax) letters, digits and _-=@,.;"
    case .signature:
      "the signature is not valid for this socket and channel; look at the app's key and secret"
    case .memberData:
      "expected channel_data with user_id, of 1 to \(PusherMember.idBytesMax) bytes, and at most "
        + "\(PusherMember.infoBytesMax) bytes of user_info"
    case .otherUser: "this channel belongs to another user; sign in first"
    case .limit(let reason): reason
    }
  }
}
