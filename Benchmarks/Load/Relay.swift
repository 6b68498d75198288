import ParleyWebSocketFrames

/// The words in which a server is asked to relay messages: plain frames over paths of their own, or a
/// protocol within WebSocket.
///
/// A message carries the time at which it was sent (`TimeMark`), which every protocol here leaves readable.
enum Relay: String {
  /// A relay that sends what comes at one path to the other, as it is.
  case plain
  /// NATS over WebSocket.
  case nats
  /// MQTT 3.1.1 over WebSocket, at most once.
  case mqtt
  /// Yjs: updates of one document, under the protocol of y-websocket.
  case yjs

  /// The path of subscribers.
  func path(_ options: Options) -> String {
    switch self {
    case .plain: options.text("subscribe-path", "/sub")
    case .nats, .mqtt: "/"
    case .yjs: "/bench"
    }
  }

  /// The path of the publisher.
  func publisherPath(_ options: Options) -> String {
    self == .plain ? options.text("publish-path", "/pub") : path(options)
  }

  var subprotocol: String? { self == .mqtt ? "mqtt" : nil }

  /// The first words of a client, by which it hears of a topic.
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
    // The server takes its part of the synchronisation up by itself.
    case .yjs: []
    }
  }

  /// Whether a message says that the greeting has been heard.
  func isReady(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .plain: true
    case .nats: bytes.count >= 4 && String(decoding: bytes, as: UTF8.self).contains("PONG")
    case .mqtt: bytes.contains(0x90)
    // Its first step of synchronisation: from here on the connection hears of updates.
    case .yjs: bytes.starts(with: [0, 0])
    }
  }

  /// The bytes of a message of some size, around the time now.
  func content(size: Int) -> [UInt8] {
    var text: [UInt8] = []
    TimeMark.append(nanoseconds(), to: &text)
    while text.count < size { text.append(UInt8(ascii: "x")) }
    return text
  }

  /// A message to a topic.
  func publication(_ content: [UInt8], topic: String) -> Frame {
    switch self {
    case .plain: Frame(maskKey: Client.maskKey, payload: content)
    case .nats: binary(Array("PUB \(topic) \(content.count)\r\n".utf8) + content + [13, 10])
    case .mqtt: binary(Self.packet(0x30, Self.text(topic) + content))
    case .yjs: preconditionFailure("an edit needs a place: see YjsAuthor")
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

  /// A number in groups of seven bits, the lowest first, as MQTT and Yjs both write it.
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

/// An author of a Yjs text who types at its own end of it: one insertion behind the other.
struct YjsAuthor {
  private let client: Int
  private var clock = 0

  init(client: Int) { self.client = client }

  /// The update that inserts a text of ASCII, as a frame.
  mutating func insert(_ text: [UInt8]) -> Frame {
    let variable = Relay.variable
    // One client with one item, which begins at the clock.
    var update = variable(1) + variable(1) + variable(client) + variable(clock)
    if clock == 0 {
      // Its parent by name, for it has nothing on its left.
      update += [4] + variable(1) + variable(4) + Array("text".utf8)
    } else {
      update += [0x84] + variable(client) + variable(clock - 1)
    }
    update += variable(text.count) + text
    // Nothing is deleted.
    update += variable(0)
    clock += text.count
    return Frame(
      .binary, maskKey: Client.maskKey, payload: [0, 2] + variable(update.count) + update)
  }
}
