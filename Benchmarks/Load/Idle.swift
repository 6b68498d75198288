import SocketMessages

/// Idle connections, to measure the memory of each.
///
/// On `/ws` each sends hello and subscribes to the room `notes`; on other paths it only connects.
final class Idle: Workload {
  private let isNative: Bool
  private let token: String?
  private var ready = 0

  private init(isNative: Bool, token: String?) {
    self.isNative = isNative
    self.token = token
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let count = options.number("connections", 8_000)
    let path = options.text("path", "/echo")
    let isNative = path == "/ws"
    let workload = Idle(isNative: isNative, token: options.word("token"))
    func open(_ count: Int) {
      Opening.open(count, client, workload) { _ in
        client.connect(path, subprotocol: isNative ? Native.subprotocol : nil)
      }
    }
    // The first connections pay for shared memory.
    open(100)
    workload.turn(client, seconds: 1)
    let before = server.residentBytes()
    let began = nanoseconds()
    let opening = Measurement(server)
    open(count)
    let opened = Double(nanoseconds() - began) / 1_000_000_000
    let served = opening.serverSeconds
    workload.turn(client, seconds: options.seconds("settle", 2))
    guard !isNative || workload.ready == count + 100 else { fail("not all could subscribe") }
    let measurement = Measurement(server)
    workload.turn(client, seconds: options.seconds("seconds", 2))
    var report = Report("idle")
    report.add("connections", count)
    report.add("opened_in_seconds", opened)
    report.add("opening_microseconds_each", served * 1_000_000 / Double(count))
    report.add("bytes_per_connection", (server.residentBytes() - before) / count)
    measurement.add("nothing", 0, to: &report)
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end { client.turn(milliseconds: 20, self) }
  }

  func opened(_ connection: Int, _ client: Client) {
    if isNative { client.send(Native.hello(name: "Idle", token: token), on: connection) }
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    guard isNative else { return }
    switch Native.decode(bytes) {
    case .welcome: client.send(Native.subscribe("notes"), on: connection)
    case .subscribed: ready += 1
    default: break
    }
  }
}
