import ParleyJSON
import SocketMessages
import ParleyWebSocketFrames

/// A room with one publisher and many subscribers of one dialect, which measures the cost of a
/// delivery in each dialect.
///
/// The publisher is a native client in all dialects, so that runs differ only in the subscribers. In a
/// room of named values a publication changes one name, in turn, in a message of the same length.
final class RoomFanout: Workload {
  private static let room = "/companies/c/workspaces/w/channels?type=public"
  /// The same room as a Bayeux channel.
  private static let channel = "/companies/c/workspaces/w/channels!3Ftype!3Dpublic"

  private enum Dialect: String {
    case native
    case socketio
    /// Socket.IO with connection state recovery, whose events contain offsets.
    case recovery
    case bayeux
  }

  private let dialect: Dialect
  private let subscribers: Int
  private let size: Int
  private let window: Int
  /// The number of the room's values; 0 for publications with data.
  private let names: Int
  private var nextName = 0
  private var ready = 0
  private var isPublisherReady = false
  private var outstanding = 0
  private var isMeasuring = false
  private var histogram = Histogram()

  private init(dialect: Dialect, subscribers: Int, size: Int, window: Int, names: Int) {
    self.dialect = dialect
    self.subscribers = subscribers
    self.size = size
    self.window = window
    self.names = names
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let word = options.text("dialect", "native")
    guard let dialect = Dialect(rawValue: word) else {
      fail("--dialect takes native, socketio, recovery or bayeux, not \(word)")
    }
    let workload = RoomFanout(
      dialect: dialect, subscribers: options.number("connections", 1_000),
      size: options.number("size", 200), window: options.number("window", 4),
      names: options.number("names", 0))
    Values.fill(Self.room, names: workload.names, port: options.numbers("port", 8080)[0])
    workload.open(client)
    let rate = Double(options.number("rate", 0))
    workload.publish(client, for: options.seconds("warm", 0.5), rate: rate)
    workload.isMeasuring = true
    let measurement = Measurement(server)
    workload.publish(client, for: options.seconds("seconds", 3), rate: rate)
    var report = Report("room")
    report.add("subscribers", workload.subscribers)
    report.add("size", workload.size)
    report.add("window", rate > 0 ? 0 : workload.window)
    report.add("names", workload.names)
    measurement.add("deliveries", workload.histogram.count, to: &report)
    report.add("delivery", workload.histogram)
    report.print()
  }

  private func open(_ client: Client) {
    Opening.open(subscribers, client, self) { [dialect] _ in
      switch dialect {
      case .native: client.connect("/ws", subprotocol: Native.subprotocol)
      case .socketio, .recovery: client.connect("/socket/?EIO=4&transport=websocket")
      case .bayeux: client.connect("/faye")
      }
    }
    Opening.open(1, client, self) { _ in client.connect("/ws", subprotocol: Native.subprotocol) }
    while ready < subscribers || !isPublisherReady { client.turn(milliseconds: 20, self) }
  }

  // MARK: Publishing

  private func publish(_ client: Client, for seconds: Double, rate: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    let interval = rate > 0 ? UInt64(1_000_000_000 / rate) : 0
    var due = nanoseconds()
    while nanoseconds() < end {
      if interval == 0 {
        while outstanding <= (window - 1) * subscribers { publish(client) }
        client.turn(milliseconds: 20, self)
      } else {
        if nanoseconds() >= due {
          publish(client)
          due += interval
        }
        client.turn(milliseconds: 1, self)
      }
    }
  }

  private func publish(_ client: Client) {
    outstanding += subscribers
    client.send(Native.frame(.publish(names > 0 ? change() : publication())), on: subscribers)
  }

  private func publication() -> ClientMessage.Publish {
    ClientMessage.Publish(room: Self.room, data: JSONValue(text(size)))
  }

  /// Returns a change of the next value, in a message that is as long as a publication's.
  private func change() -> ClientMessage.Publish {
    let name = Values.name(nextName)
    nextName = (nextName + 1) % names
    let more = #""values":[{"set":"","to":}]"#.utf8.count - #""data":"#.utf8.count
    var change = ClientMessage.Publish(room: Self.room, data: .null)
    change.data = nil
    change.values = ValueOperationList([
      ValueOperation(ValueName(name), .set(JSONValue(text(size - more - name.utf8.count))))
    ])
    return change
  }

  private func text(_ size: Int) -> String {
    var text = TimeMark.text(nanoseconds())
    while text.utf8.count < size { text += "x" }
    return text
  }

  // MARK: Receiving

  func opened(_ connection: Int, _ client: Client) {
    if connection == subscribers || dialect == .native {
      client.send(Native.hello(name: "n\(connection)"), on: connection)
    } else if dialect == .bayeux {
      say(
        #"{"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["websocket"]}"#,
        connection, client)
    }
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if connection == subscribers { return receivedByPublisher(bytes) }
    if let sent = TimeMark.first(in: bytes) {
      outstanding -= 1
      if isMeasuring { histogram.add(nanoseconds() - sent) }
      return
    }
    switch dialect {
    case .native: subscribe(native: bytes, connection, client)
    case .socketio, .recovery: subscribe(socketIO: bytes, connection, client)
    case .bayeux: subscribe(bayeux: bytes, connection, client)
    }
  }

  private func receivedByPublisher(_ bytes: UnsafeRawBufferPointer) {
    switch Native.decode(bytes) {
    case .welcome: isPublisherReady = true
    case .error(let error): fail("a publication was refused: \(error.code.rawValue)")
    default: break
    }
  }

  // MARK: Subscribing

  private func subscribe(
    native bytes: UnsafeRawBufferPointer, _ connection: Int, _ client: Client
  ) {
    switch Native.decode(bytes) {
    case .welcome:
      client.send(Native.subscribe(Self.room, values: names > 0), on: connection)
    case .subscribed: ready += 1
    default: break
    }
  }

  private func subscribe(
    socketIO bytes: UnsafeRawBufferPointer, _ connection: Int, _ client: Client
  ) {
    let text = String(decoding: bytes, as: UTF8.self)
    if text.hasPrefix("0{") {
      say(dialect == .recovery ? #"40{"recovery":true}"# : "40", connection, client)
    } else if text.hasPrefix("40") {
      say(#"42["authenticate",{"token":"t"}]"#, connection, client)
      say(#"42["realtime:join",{"name":"\#(Self.room)"}]"#, connection, client)
    } else if text.hasPrefix(#"42["realtime:join:success""#) {
      ready += 1
    } else if text == "2" {
      say("3", connection, client)
    }
  }

  private func subscribe(
    bayeux bytes: UnsafeRawBufferPointer, _ connection: Int, _ client: Client
  ) {
    guard let reply = JSONValue(bytes)?.elements?.first?.fields,
      let id = reply["clientId"]?.string
    else { fail("the server's answer cannot be read") }
    let connect =
      #"{"channel":"/meta/connect","clientId":"\#(id)","connectionType":"websocket"}"#
    switch reply["channel"]?.string {
    case "/meta/handshake":
      say(connect, connection, client)
      say(
        #"{"channel":"/meta/subscribe","clientId":"\#(id)","subscription":"\#(Self.channel)"}"#,
        connection, client)
    case "/meta/subscribe":
      guard reply["successful"]?.boolean == true else { fail("a subscription was refused") }
      ready += 1
    default: say(connect, connection, client)
    }
  }

  private func say(_ text: String, _ connection: Int, _ client: Client) {
    client.send(Frame(maskKey: Client.maskKey, payload: text.utf8), on: connection)
  }
}
