public import ParleyJSON

/// A message of a Bayeux client; a frame or a request may hold several.
public struct BayeuxMessage: Sendable, Hashable {
  /// The channel's name as it was sent; it may be no valid channel.
  public var channel: String
  /// The client's own number for it, as it was sent.
  public var id: JSONValue?
  /// The session.
  public var clientID: String?
  /// Of a handshake: the version spoken.
  public var version: String?
  /// Of a handshake: how the client can connect.
  public var supportedConnectionTypes: [String]?
  /// Of a connect: how it connects.
  public var connectionType: String?
  /// Of a subscribe or unsubscribe: channels, as they were sent.
  public var subscriptions: [String]?
  /// The published data.
  public var data: JSONValue?
  /// `ext.access_token`.
  public var accessToken: String?
  /// `advice.timeout`: milliseconds that the client wants a connect held, at most.
  public var timeout: Int?

  /// Messages in one frame or request, at most.
  public static let messagesMax = 256

  /// JSON values in one frame or request, at most; those nested in data count.
  public static let valuesMax = 100_000

  /// Channels that one message may name, and ways to connect.
  public static let listMax = 1_000

  /// Bytes of a channel, a client's id or a token, as they were sent; a longer one counts as missing.
  static let nameBytesMax = 16 << 10

  /// The protocol's own channels that clients send on.
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
  /// Reads it once, and stops at the first message, value or channel too many.
  ///
  /// - Returns: `nil` if it is neither, or too large; an object without a channel has an empty one.
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

  /// Reads an object. A field of another type counts as missing; of one that comes twice, the last counts.
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

  /// The most bytes of an id that is sent back.
  private static let idBytesMax = 256

  /// Reads an id: text, or a number; nothing longer than either is sent back.
  private static func id(_ reader: inout JSONReader) throws(JSONError) -> JSONValue? {
    let range = try reader.skipValue()
    guard range.count <= idBytesMax else { return nil }
    let value = reader.value(at: range)
    return (value.string ?? value.integer.map { String($0) }) == nil ? nil : value
  }
}

extension BayeuxMessage.Field {
  /// The field of a name; `nil` for one that is skipped.
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

/// Why a message was not done, in the form that clients know.
public enum BayeuxError: Sendable, Hashable {
  /// No session has this id.
  case unknownClient(String)
  /// A field is not there.
  case missing(String)
  /// The channel may not be used so.
  case forbidden(String)
  /// It is no channel.
  case invalid(String)
  /// The client offers no connection type that this server supports.
  case connectionTypes([String])
  /// More came than may come in such a time.
  case tooFast(String)
  /// It cannot be done now.
  case unavailable(String)

  /// The number, what it is about, and words.
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

/// Messages of a Bayeux server: answers, and publications that it passes on.
public enum BayeuxReply {
  /// The connection types that clients may choose from.
  public static let connectionTypes = [
    "long-polling", "cross-origin-long-polling", "callback-polling", "websocket",
  ]

  /// Advice on the client's next step.
  public struct Advice: Sendable, Hashable {
    /// `retry` or `handshake` or `none`.
    public var reconnect: String
    /// Milliseconds before it does.
    public var interval: Int
    /// Milliseconds for which a connect is held.
    public var timeout: Int?

    /// Makes an advice.
    public init(reconnect: String = "retry", interval: Int = 0, timeout: Int? = nil) {
      self.reconnect = reconnect
      self.interval = interval
      self.timeout = timeout
    }
  }

  /// Answers a message.
  ///
  /// - Parameters:
  ///   - clientID: left out where there is no such session.
  ///   - subscription: of a subscribe or unsubscribe, as it was sent.
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

  /// Passes an event on. Who sent it is not told.
  public static func event(channel: String, data: JSONValue, id: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("channel", channel, &bytes)
      object.field("data", data, &bytes)
      object.field("id", id, &bytes)
    }
  }

  /// Notifies a client, unasked, that its subscription has ended.
  public static func ended(_ subscription: String, clientID: String) -> [UInt8] {
    JSONWriter.object { object, bytes in
      object.field("channel", "/meta/subscribe", &bytes)
      object.field("successful", false, &bytes)
      object.field("clientId", clientID, &bytes)
      object.field("error", BayeuxError.forbidden(subscription).text, &bytes)
      object.field("subscription", subscription, &bytes)
    }
  }

  /// Several messages as one frame or body.
  public static func frame(_ messages: [[UInt8]]) -> [UInt8] {
    JSONWriter.bytes { JSONWriter.array(messages, &$0) { $1.append(contentsOf: $0) } }
  }
}
