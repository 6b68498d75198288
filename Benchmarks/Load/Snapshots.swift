import SocketMessages

/// Clients that subscribe to the values of a room, or join a note, again and again: the cost of a
/// complete first reply.
final class Snapshots: Workload {
  private static let room = "board"

  /// The note that clients join; `nil` for values.
  private let document: String?
  private var ready = 0
  private var count = 0
  private var bytes = 0

  private init(document: String?) { self.document = document }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let port = options.numbers("port", 8080)[0]
    let length = options.number("text", 0)
    let names = options.number("names", 1_000)
    if length == 0 { Values.fill(room, names: names, port: port) }
    let text = String(repeating: "Soup of the day. ", count: length / 17 + 1).prefix(length)
    let workload = Snapshots(
      document: length > 0 ? Notes.create(port: port, text: String(text)) : nil)
    Opening.open(options.number("connections", 20), client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    workload.turn(client, seconds: options.seconds("warm", 0.5))
    workload.count = 0
    workload.bytes = 0
    let measurement = Measurement(server)
    workload.turn(client, seconds: options.seconds("seconds", 3))
    var report = Report("snapshots")
    report.add("names", length > 0 ? 0 : names)
    report.add("bytes_each", workload.count > 0 ? workload.bytes / workload.count : 0)
    measurement.add("replies", workload.count, to: &report)
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end { client.turn(milliseconds: 20, self) }
  }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "n\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    // A long message is the reply, which need not be read.
    if bytes.count > 4_096 {
      count += 1
      self.bytes += bytes.count
      let end: ClientMessage =
        if let document { .leave(.init(documentID: document)) } else {
          .unsubscribe(.init(room: Self.room))
        }
      return client.send(Native.frame(end), on: connection)
    }
    switch Native.decode(bytes) {
    case .welcome, .left, .unsubscribed:
      client.send(
        document.map(Native.join) ?? Native.subscribe(Self.room, values: true), on: connection)
    case .error(let error): fail("a message was refused: \(error.code.rawValue)")
    default: break
    }
  }
}
