public import JSON

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

  /// Reads a frame or the body of a request: one object, or an array of them.
  ///
  /// - Returns: `nil` if it is neither; an object without a channel has an empty one.
  public static func decode(_ bytes: some Sequence<UInt8>) -> [BayeuxMessage]? {
    guard let value = JSONValue(bytes) else { return nil }
    if let fields = value.fields { return [BayeuxMessage(fields)] }
    guard let elements = value.elements, elements.count <= messagesMax else { return nil }
    var messages: [BayeuxMessage] = []
    for element in elements {
      guard let fields = element.fields else { return nil }
      messages.append(BayeuxMessage(fields))
    }
    return messages
  }

  private init(_ fields: JSONFields) {
    func text(_ name: String) -> String? { fields[name]?.string }
    channel = text("channel") ?? ""
    // An id is text, or a number; nothing longer than either is sent back.
    id = fields["id"].flatMap {
      $0.utf8.count <= 256 && ($0.string ?? $0.integer.map(String.init)) != nil ? $0 : nil
    }
    clientID = text("clientId")
    version = text("version")
    supportedConnectionTypes = fields["supportedConnectionTypes"]?.elements?.compactMap(\.string)
    connectionType = text("connectionType")
    if let one = text("subscription") {
      subscriptions = [one]
    } else {
      subscriptions = fields["subscription"]?.elements?.compactMap(\.string)
    }
    data = fields["data"]
    accessToken = fields["ext"]?.fields?["access_token"]?.string
    timeout = fields["advice"]?.fields?["timeout"]?.integer
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
  /// None of the ways to connect is known here.
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

  /// Tells a client, unasked, that it does not hear a channel any more.
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
