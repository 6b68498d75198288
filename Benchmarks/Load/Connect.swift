/// Opens and closes connections as fast as the server accepts them.
final class Connect: Workload {
  private let path: String
  private let subprotocol: String?
  private var count = 0

  private init(path: String, subprotocol: String?) {
    self.path = path
    self.subprotocol = subprotocol
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let path = options.text("path", "/echo")
    let workload = Connect(
      path: path,
      subprotocol: path == "/ws" ? Native.subprotocol : options.word("subprotocol"))
    let atOnce = options.number("at-once", 64)
    client.resetsAtClose = true
    for _ in 0..<atOnce { client.connect(path, subprotocol: workload.subprotocol) }
    workload.turn(client, seconds: options.seconds("warm", 0.5))
    workload.count = 0
    let measurement = Measurement(server)
    workload.turn(client, seconds: options.seconds("seconds", 3))
    var report = Report("connect")
    report.add("at_once", atOnce)
    measurement.add("connects", workload.count, to: &report)
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end { client.turn(milliseconds: 20, self) }
  }

  func opened(_ connection: Int, _ client: Client) {
    count += 1
    client.close(connection)
    client.connect(again: connection, path, subprotocol: subprotocol)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {}
}
