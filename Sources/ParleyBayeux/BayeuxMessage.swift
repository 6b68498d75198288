public import ParleyJSON

/// A message of a Bayeux client; a frame or a request may contain several.
public struct BayeuxMessage: Sendable, Hashable {
  /// The channel's name as received; it may be invalid.
  public var channel: String
  /// The client's id for the message, as received.
  public var id: JSONValue?
  /// The session's id.
  public var clientID: String?
  /// The protocol version of a handshake.
  public var version: String?
  /// The connection types that a handshake offers.
  public var supportedConnectionTypes: [String]?
  /// The connection type of a connect.
  public var connectionType: String?
  /// The channels of a subscribe or unsubscribe, as received.
  public var subscriptions: [String]?
  /// The published data.
  public var data: JSONValue?
  /// `ext.access_token`.
  public var accessToken: String?
  /// `advice.timeout`: maximum milliseconds for which a connect is held, as the client wishes.
  public var timeout: Int?

  /// Maximum messages in one frame or request.
  public static let messagesMax = 256

  /// Maximum JSON values in one frame or request, including nested ones.
  public static let valuesMax = 100_000

  /// Maximum channels in one message; also maximum connection types.
  public static let listMax = 1_000

  /// Maximum encoded bytes of a channel, a client's id or a token; a longer one counts as missing.
  static let nameBytesMax = 16 << 10

  /// The channels of the protocol on which clients send.
  package enum MetaChannel: String, Sendable, CaseIterable {
    case handshake = "/meta/handshake"
    case connect = "/meta/connect"
    case disconnect = "/meta/disconnect"
    case subscribe = "/meta/subscribe"
    case unsubscribe = "/meta/unsubscribe"
  }

  /// The fields that are read; others are skipped.
  package enum Field: String, Sendable, CaseIterable {
    case channel, id, clientId, version, supportedConnectionTypes, connectionType, subscription
    case data, ext, advice
  }

  /// Reads a frame or the body of a request: one object, or an array of them.
  ///
  /// It reads the bytes in one pass, up to the limits of messages, values and channels.
  ///
  /// - Returns: `nil` if it is neither, or exceeds a limit; a missing channel is read as empty.
  public static func decode(_ bytes: some Sequence<UInt8>) -> [BayeuxMessage]? {
    if let messages = bytes.withContiguousStorageIfAvailable({ messages(in: $0) }) {
      return messages
    }
    return Array(bytes).withUnsafeBufferPointer { messages(in: $0) }
  }

  private static func messages(in bytes: UnsafeBufferPointer<UInt8>) -> [BayeuxMessage]? {
    var reader = JSONReader(bytes)
    reader.limitNesting()
    reader.limitValues(to: valuesMax)
    var messages: [BayeuxMessage] = []
    do throws(JSONError) {
      if reader.isAtArray() {
        try reader.array { reader throws(JSONError) in
          guard messages.count < messagesMax else { throw .tooManyValues(valuesMax: messagesMax) }
          messages.append(try BayeuxMessage(&reader))
        }
      } else {
        messages.append(try BayeuxMessage(&reader))
      }
      try reader.finish()
      return messages
    } catch {
      return nil
    }
  }

  /// Reads an object. A field of another type counts as missing; the last of repeated ones counts.
  private init(_ reader: inout JSONReader) throws(JSONError) {
    var message = BayeuxMessage()
    try reader.object { key, reader throws(JSONError) in try message.read(key, &reader) }
    self = message
  }

  private init() { channel = "" }

  private mutating func read(
    _ key: JSONText, _ reader: inout JSONReader
  ) throws(JSONError) {
    switch Field(key) {
    case .channel: channel = try reader.stringIfAny(bytesMax: Self.nameBytesMax) ?? ""
    case .id: id = try Self.id(&reader)
    case .clientId: clientID = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
    case .version: version = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
    case .supportedConnectionTypes:
      supportedConnectionTypes = try reader.stringsIfAny(countMax: Self.listMax)
    case .connectionType: connectionType = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
    case .subscription:
      subscriptions =
        reader.isAtString
        ? try reader.stringIfAny(bytesMax: Self.nameBytesMax).map { [$0] }
        : try reader.stringsIfAny(countMax: Self.listMax)
    case .data: data = try reader.value()
    case .ext:
      accessToken = nil
      try reader.objectIfAny { key, reader throws(JSONError) in
        if key == "access_token" {
          accessToken = try reader.stringIfAny(bytesMax: Self.nameBytesMax)
        } else {
          try reader.skipValue()
        }
      }
    case .advice:
      timeout = nil
      try reader.objectIfAny { key, reader throws(JSONError) in
        if key == "timeout" {
          timeout = try reader.integerIfAny()
        } else {
          try reader.skipValue()
        }
      }
    case nil: try reader.skipValue()
    }
  }

  /// Maximum bytes of an id that is sent back.
  private static let idBytesMax = 256

  /// Reads an id, which is a string or a number; a longer one is ignored.
  private static func id(_ reader: inout JSONReader) throws(JSONError) -> JSONValue? {
    let range = try reader.skipValue()
    guard range.count <= idBytesMax else { return nil }
    let value = reader.value(at: range)
    return (value.string ?? value.integer.map { String($0) }) == nil ? nil : value
  }
}

extension BayeuxMessage.Field {
  /// Creates the field of a name; `nil` for a name that is skipped.
  fileprivate init?(_ key: JSONText) {
    switch key {
    case "channel": self = .channel
    case "id": self = .id
    case "clientId": self = .clientId
    case "version": self = .version
    case "supportedConnectionTypes": self = .supportedConnectionTypes
    case "connectionType": self = .connectionType
    case "subscription": self = .subscription
    case "data": self = .data
    case "ext": self = .ext
    case "advice": self = .advice
    default: return nil
    }
  }
}

/// The reason why a message was refused, in the form that clients know.
public enum BayeuxError: Sendable, Hashable {
  /// No session has this id.
  case unknownClient(String)
  /// A required field is missing.
  case missing(String)
  /// The channel must not be used for this message.
  case forbidden(String)
  /// The channel's name is invalid.
  case invalid(String)
  /// The client offers no connection type that this server supports.
  case connectionTypes([String])
  /// The rate limit was exceeded.
  case tooFast(String)
  /// The message cannot be processed now.
  case unavailable(String)

  /// The error on the wire: its number, its subject and a text.
  public var text: String {
    switch self {
    case .unknownClient(let id): "401:\(id):Unknown client"
    case .missing(let field): "402:\(field):Missing required parameter"
    case .forbidden(let channel): "403:\(channel):Forbidden channel"
    case .invalid(let channel): "405:\(channel):Invalid channel"
    case .connectionTypes(let types):
      "301:\(types.joined(separator: ",")):Connection types not supported"
    case .tooFast(let channel): "429:\(channel):Too many requests"
    case .unavailable(let what): "500:\(what):Internal server error"
    }
  }
}

/// Messages of a Bayeux server: replies, and the publications that it delivers.
public enum BayeuxReply {
  /// The connection types that the server supports.
  public static let connectionTypes = [
    "long-polling", "cross-origin-long-polling", "callback-polling", "websocket",
  ]

  /// Advice on the client's next step.
  public struct Advice: Sendable, Hashable {
    /// The next step: `retry`, `handshake` or `none`.
    public var reconnect: String
    /// Milliseconds before the next step.
    public var interval: Int
    /// Milliseconds for which a connect is held.
    public var timeout: Int?

    /// Creates an advice.
    public init(reconnect: String = "retry", interval: Int = 0, timeout: Int? = nil) {
      self.reconnect = reconnect
      self.interval = interval
      self.timeout = timeout
    }
  }

  /// Encodes the reply to a message.
  ///
  /// - Parameters:
  ///   - clientID: The session's id; `nil` if there is no session.
  ///   - subscription: The channels of a subscribe or unsubscribe, as received.
  public static func reply(
    to message: BayeuxMessage, clientID: String?, error: BayeuxError? = nil,
    subscription: [String]? = nil, advice: Advice? = nil
  ) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("id", message.id, &bytes)
      object.field("channel", message.channel, &bytes)
      object.field("successful", error == nil, &bytes)
      if message.channel == "/meta/handshake" {
        object.field("version", "1.0", &bytes)
        object.key("supportedConnectionTypes", &bytes)
        JSONWriter.array(connectionTypes, &bytes) { JSONWriter.string($0, &$1) }
      }
      object.field("clientId", clientID, &bytes)
      object.field("error", error?.text, &bytes)
      if let subscription {
        object.key("subscription", &bytes)
        if subscription.count == 1 {
          JSONWriter.string(subscription[0], &bytes)
        } else {
          JSONWriter.array(subscription, &bytes) { JSONWriter.string($0, &$1) }
        }
      }
      if let advice {
        object.key("advice", &bytes)
        JSONWriter.object(&bytes) { object, bytes in
          object.field("reconnect", advice.reconnect, &bytes)
          object.field("interval", advice.interval, &bytes)
          object.field("timeout", advice.timeout, &bytes)
        }
      }
    }
  }

  /// Encodes a publication, without its sender.
  public static func event(channel: String, data: JSONValue, id: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("channel", channel, &bytes)
      object.field("data", data, &bytes)
      object.field("id", id, &bytes)
    }
  }

  /// Encodes an unrequested notification that a subscription has ended.
  public static func ended(_ subscription: String, clientID: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("channel", "/meta/subscribe", &bytes)
      object.field("successful", false, &bytes)
      object.field("clientId", clientID, &bytes)
      object.field("error", BayeuxError.forbidden(subscription).text, &bytes)
      object.field("subscription", subscription, &bytes)
    }
  }

  /// Combines several messages into one frame or body.
  public static func frame(_ messages: [[UInt8]]) -> [UInt8] {
    JSONWriter.bytes { JSONWriter.array(messages, &$0) { $1.append(contentsOf: $0) } }
  }
}
