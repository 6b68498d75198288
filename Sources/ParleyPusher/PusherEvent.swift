import ParleyJSON

/// An event that an app's backend publishes over HTTP.
public struct PusherEvent: Sendable, Hashable {
  /// The event's name.
  public let name: String
  /// The channels to publish in.
  public let channels: [PusherChannel]
  /// The data, forwarded unchanged.
  public let data: String
  /// The connection that does not receive the event, usually the event's origin.
  public let socketID: String?
  /// The requested attributes of the channels, such as `user_count`.
  public let info: String?

  /// Maximum channels of one event.
  public static let channelsMax = 100
  /// Maximum events of one request.
  public static let batchMax = 10

  /// Maximum values of a request's body, nested ones included.
  static let valuesMax = 8_192

  /// Maximum bytes of a request's body.
  public static let bodyBytesMax = 1 << 20

  /// The reason to reject an event.
  public enum Problem: Error, Sendable, Equatable {
    /// The body is not an object with a name, data, and a channel or channels.
    case malformed
    /// The body has more than ``PusherEvent/valuesMax`` values.
    case values
    /// The name is empty, too long, or reserved for the protocol.
    case name
    /// A channel's name is invalid, or there are no channels or too many.
    case channels
    /// The socket id is invalid.
    case socketID
    /// The batch is empty, or has too many events.
    case batch

    /// The text for the backend's developer.
    public var message: String {
      switch self {
      case .malformed: "expected an object with name, data as text, and channel or channels"
      case .values:
        "expected at most \(PusherEvent.valuesMax) values in the body, nested ones included"
      case .name:
        "a name has 1 to \(PusherMessage.eventBytesMax) bytes, and does not begin with pusher: or "
          + "pusher_internal:"
      case .channels:
        "expected 1 to \(PusherEvent.channelsMax) channels of 1 to \(PusherChannel.bytesMax) "
          + "letters, digits and _-=@,.;"
      case .socketID: "expected socket_id as two numbers with a point between"
      case .batch: "expected batch with 1 to \(PusherEvent.batchMax) events"
      }
    }
  }

  /// Parses the body of a request for one event.
  public init(body: [UInt8]) throws(Problem) {
    try self.init(Self.value(of: body))
  }

  /// Reads a body before its fields are searched, which takes as long for each of them.
  private static func value(of body: [UInt8]) throws(Problem) -> JSONValue {
    let result: Result<JSONValue, JSONError> = body.withUnsafeBufferPointer { bytes in
      do throws(JSONError) {
        return .success(try JSONValue(bytes, valuesMax: valuesMax))
      } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): return value
    case .failure(.tooManyValues): throw .values
    case .failure: throw .malformed
    }
  }

  /// Parses the body of a request for several events.
  public static func batch(_ body: [UInt8]) throws(Problem) -> [PusherEvent] {
    guard let values = try value(of: body).value(of: "batch")?.firstElements(batchMax + 1) else {
      throw .malformed
    }
    guard (1...batchMax).contains(values.count) else { throw .batch }
    var events: [PusherEvent] = []
    for value in values { events.append(try PusherEvent(value)) }
    return events
  }

  private init(_ value: JSONValue) throws(Problem) {
    guard let parts = value.values(of: "name", "data", "channel", "channels", "socket_id", "info"),
      let name = parts[0]?.string, let data = parts[1]?.string
    else { throw .malformed }
    guard (1...PusherMessage.eventBytesMax).contains(name.utf8.count), !Self.isOwn(name) else {
      throw .name
    }
    let names =
      parts[3].flatMap { $0.isNull ? nil : $0.firstElements(Self.channelsMax + 1) }?.map(\.string)
      ?? parts[2].map { [$0.string] } ?? []
    let channels = names.compactMap { $0.flatMap { PusherChannel($0) } }
    guard channels.count == names.count, (1...Self.channelsMax).contains(names.count) else {
      throw .channels
    }
    let socketID = parts[4].flatMap { $0.isNull ? nil : $0 }
    guard socketID.map({ Self.isSocketID($0.string ?? "") }) ?? true else { throw .socketID }
    self.name = name
    self.data = data
    self.channels = channels
    self.socketID = socketID?.string
    info = parts[5]?.string
  }

  /// Whether a name is reserved for events of the protocol.
  public static func isOwn(_ name: String) -> Bool {
    name.utf8.starts(with: "pusher:".utf8) || name.utf8.starts(with: "pusher_internal:".utf8)
  }

  private static func isSocketID(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 2 && text.utf8.count <= 64
      && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
  }
}
