public import OTCore
import ParleyJSON

/// A document of ShareDB: its collection and its id.
public struct ShareDBDocument: Sendable, Hashable {
  /// The collection.
  public let collection: String
  /// The id.
  public let id: String

  /// Creates the name of a document.
  public init(collection: String, id: String) {
    self.collection = collection
    self.id = id
  }
}

/// A change of a client.
public struct ShareDBChange: Sendable, Hashable {
  /// The content of a change.
  public enum Content: Sendable, Hashable {
    /// An operation of the type `text-unicode`. It may end before the text.
    case operation(TextOperation)
    /// The creation of a text.
    case creation(text: String)
    /// The deletion of the document.
    case deletion
    /// A change of another type, or a malformed one.
    case refused(ShareDBError)
  }

  /// The version to which the change applies; `nil` for a creation by a client that has not fetched
  /// the document.
  public let version: Int?
  /// The id of the author's connection. Clients name it when they send a change again.
  public let source: String?
  /// The number of the change among all changes of the source.
  public let sequence: Int
  /// The content.
  public let content: Content
}

/// A message of a ShareDB client.
public enum ShareDBRequest: Sendable, Hashable {
  /// The beginning of a connection, with the id of the client's former connection.
  case handshake(id: String?)
  /// A request about one document.
  case document(Action, ShareDBDocument, version: Int?)
  /// A request about several documents, each with the version that the client has.
  case documents(Action, collection: String, versions: [Version])
  /// A change.
  case change(ShareDBChange, ShareDBDocument)
  /// A request for the document at a former version or time.
  case past(Action, number: Int?, ShareDBDocument)
  /// A query.
  case query(Action, number: Int?)
  /// A subscription to presence, or its end.
  case presenceSubscription(Action, channel: String, sequence: Int?)
  /// The presence of the client in a channel.
  case presence(ShareDBPresence)
  /// A request for the presence of others in a channel.
  case presenceRequest(channel: String)
  /// A ping.
  case ping
  /// A message of another kind, or without its fields.
  case malformed(action: String?)

  /// A document and the version that the client has; `nil` without one.
  public struct Version: Sendable, Hashable {
    /// The document's id.
    public let id: String
    /// The version.
    public let version: Int?

    /// Creates the version of a document.
    public init(id: String, version: Int?) {
      self.id = id
      self.version = version
    }
  }

  /// The action of a message, its field `a`.
  public enum Action: String, Sendable {
    case handshake = "hs"
    case subscribe = "s"
    case unsubscribe = "u"
    case fetch = "f"
    case bulkSubscribe = "bs"
    case bulkUnsubscribe = "bu"
    case bulkFetch = "bf"
    case operation = "op"
    case snapshot = "nf"
    case snapshotByTime = "nt"
    case queryFetch = "qf"
    case querySubscribe = "qs"
    case queryUnsubscribe = "qu"
    case presence = "p"
    case presenceSubscribe = "ps"
    case presenceUnsubscribe = "pu"
    case presenceRequest = "pr"
    case ping = "pp"
  }

  /// The label in metrics. Names that clients choose do not become labels.
  public var metricName: String {
    let action: Action? =
      switch self {
      case .handshake: .handshake
      case .document(let action, _, _), .documents(let action, _, _), .past(let action, _, _),
        .query(let action, _), .presenceSubscription(let action, _, _):
        action
      case .change: .operation
      case .presence: .presence
      case .presenceRequest: .presenceRequest
      case .ping: .ping
      case .malformed: nil
      }
    return action.map { "sharedb:" + $0.rawValue } ?? "malformed"
  }
}

/// The presence of a client in a channel.
public struct ShareDBPresence: Sendable, Hashable {
  /// The channel.
  public var channel: String
  /// The client's id of the presence.
  public var id: String
  /// The value; `nil` when the client leaves.
  public var value: [UInt8]?
  /// The number of the value among those of the id.
  public var number: Int

  /// Creates a presence.
  public init(channel: String, id: String, value: [UInt8]?, number: Int) {
    self.channel = channel
    self.id = id
    self.value = value
    self.number = number
  }
}
