import ParleyWebSocketFrames

/// The protocol in which a server relays messages: plain frames over separate paths, or a protocol
/// within WebSocket.
///
/// A message contains the time at which it was sent (`TimeMark`), which is readable in each
/// protocol.
enum Relay: String {
  /// A relay that sends each message from one path to the other, unchanged.
  case plain
  /// NATS over WebSocket.
  case nats
  /// MQTT 3.1.1 over WebSocket, with at-most-once delivery.
  case mqtt
  /// Yjs: updates of one document, in the protocol of y-websocket.
  case yjs
  /// The same; each update changes an entry of a map.
  case yjsMap = "yjs-map"

  var isYjs: Bool { self == .yjs || self == .yjsMap }

  /// The path of subscribers.
  func path(_ options: Options) -> String {
    switch self {
    case .plain: options.text("subscribe-path", "/sub")
    case .nats, .mqtt: "/"
    case .yjs, .yjsMap: "/bench"
    }
  }

  /// The path of the publisher.
  func publisherPath(_ options: Options) -> String {
    self == .plain ? options.text("publish-path", "/pub") : path(options)
  }

  var subprotocol: String? { self == .mqtt ? "mqtt" : nil }

  /// The first frames of a client, which subscribe to a topic.
  func greeting(topic: String, number: Int) -> [Frame] {
    switch self {
    case .plain: []
    case .nats:
      [binary(Array("CONNECT {\"verbose\":false}\r\nSUB \(topic) 1\r\nPING\r\n".utf8))]
    case .mqtt:
      [
        binary(
          Self.packet(0x10, Self.text("MQTT") + [4, 2, 0, 0] + Self.text("parley-load-\(number)"))),
        binary(Self.packet(0x82, [0, 1] + Self.text(topic) + [0])),
      ]
    // The server begins the synchronisation.
    case .yjs, .yjsMap: []
    }
  }

  /// Whether a message confirms the greeting.
  func isReady(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .plain: true
    case .nats: bytes.count >= 4 && String(decoding: bytes, as: UTF8.self).contains("PONG")
    case .mqtt: bytes.contains(0x90)
    // The server's first synchronisation step: from now on the connection receives updates.
    case .yjs, .yjsMap: bytes.starts(with: [0, 0])
    }
  }

  /// Returns a message of some size that begins with the current time.
  func content(size: Int) -> [UInt8] {
    var text: [UInt8] = []
    TimeMark.append(nanoseconds(), to: &text)
    while text.count < size { text.append(UInt8(ascii: "x")) }
    return text
  }

  /// Returns a frame that publishes a message to a topic.
  func publication(_ content: [UInt8], topic: String) -> Frame {
    switch self {
    case .plain: Frame(maskKey: Client.maskKey, payload: content)
    case .nats: binary(Array("PUB \(topic) \(content.count)\r\n".utf8) + content + [13, 10])
    case .mqtt: binary(Self.packet(0x30, Self.text(topic) + content))
    case .yjs, .yjsMap: preconditionFailure("an edit needs a place: see YjsAuthor")
    }
  }

  private func binary(_ bytes: [UInt8]) -> Frame {
    Frame(.binary, maskKey: Client.maskKey, payload: bytes)
  }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
  }

  private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
    [first] + Self.variable(body.count) + body
  }

  /// Returns a number in groups of seven bits, lowest first, as MQTT and Yjs encode it.
  fileprivate static func variable(_ number: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = number
    repeat {
      bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }
}

/// An author of a Yjs text who always types at the end of their own text, or of a map with one writer.
struct YjsAuthor {
  private let client: Int
  private var clock = 0
  /// The clock of the newest item of each entry of the map.
  private var entries: [String: Int] = [:]

  init(client: Int) { self.client = client }

  /// Returns a frame with the update that inserts ASCII text.
  mutating func insert(_ text: [UInt8]) -> Frame {
    let variable = Relay.variable
    // One client with one item, whose clock is given.
    var update = variable(1) + variable(1) + variable(client) + variable(clock)
    if clock == 0 {
      // The first item names its parent, as it has no left neighbour.
      update += [4] + variable(1) + variable(4) + Array("text".utf8)
    } else {
      update += [0x84] + variable(client) + variable(clock - 1)
    }
    update += variable(text.count) + text
    // The set of deletions is empty.
    update += variable(0)
    clock += text.count
    return frame(update)
  }

  /// Returns a frame with the update that sets an entry of the map to ASCII text.
  mutating func set(_ key: String, to text: [UInt8]) -> Frame {
    let variable = Relay.variable
    var update = variable(1) + variable(1) + variable(client) + variable(clock)
    // An item of any content that belongs to a key. It replaces the one to its left, or names its parent.
    if let former = entries[key] {
      update += [0xa8] + variable(client) + variable(former)
    } else {
      update += [0x28] + variable(1) + variable(3) + Array("map".utf8)
      update += variable(key.utf8.count) + Array(key.utf8)
    }
    // One value, which is a string.
    update += variable(1) + [119] + variable(text.count) + text
    update += variable(0)
    entries[key] = clock
    clock += 1
    return frame(update)
  }

  private func frame(_ update: [UInt8]) -> Frame {
    Frame(
      .binary, maskKey: Client.maskKey, payload: [0, 2] + Relay.variable(update.count) + update)
  }
}
