import ParleyWebSocketFrames

/// Each connection has a fixed number of messages in flight to the server and back. If a server has
/// no echo, each connection subscribes to its own topic.
final class Echo: Workload {
  private let relay: Relay
  private let payload: [UInt8]
  private let frame: Frame
  private let depth: Int
  private var sent: [[UInt64]]
  private var isMeasuring = false
  private var histogram = Histogram()
  private let total: Int

  private var ready = 0

  private init(relay: Relay, connections: Int, idle: Int, size: Int, depth: Int) {
    self.relay = relay
    payload = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    frame = Frame(maskKey: Client.maskKey, payload: payload)
    self.depth = depth
    sent = Array(repeating: [], count: connections)
    total = connections + idle
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let connections = options.number("connections", 100)
    let idle = options.number("idle", 0)
    let relay = options.relay
    let echo = Echo(
      relay: relay, connections: connections, idle: idle, size: options.number("size", 64),
      depth: options.number("depth", 1))
    let path = relay == .plain ? options.text("path", "/echo") : relay.path(options)
    Opening.open(echo.total, client, echo) { _ in
      client.connect(path, subprotocol: relay.subprotocol)
    }
    while relay != .plain, echo.ready < echo.total { client.turn(milliseconds: 20, echo) }
    for index in 0..<connections { for _ in 0..<echo.depth { echo.send(index, client) } }
    echo.turn(client, seconds: options.seconds("warm", 0.5))
    echo.isMeasuring = true
    let measurement = Measurement(server)
    echo.turn(client, seconds: options.seconds("seconds", 3))
    var report = Report("echo")
    report.add("connections", connections)
    report.add("idle", idle)
    report.add("size", echo.payload.count)
    report.add("depth", echo.depth)
    measurement.add("echoes", echo.histogram.count, to: &report)
    report.add("echo", echo.histogram)
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end { client.turn(milliseconds: 20, self) }
  }

  private func send(_ index: Int, _ client: Client) {
    sent[index].append(nanoseconds())
    client.send(
      relay == .plain
        ? frame
        : relay.publication(relay.content(size: payload.count), topic: "echo-\(index)"),
      on: index)
  }

  func opened(_ connection: Int, _ client: Client) {
    for frame in relay.greeting(topic: "echo-\(connection)", number: connection) {
      client.send(frame, on: connection)
    }
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    guard relay == .plain else {
      if ready < total, relay.isReady(bytes) { ready += 1 }
      return TimeMark.forEach(in: bytes) { _ in returned(connection, client) }
    }
    guard bytes.holds(payload) else { fail("the echo is not what was sent") }
    returned(connection, client)
  }

  private func returned(_ connection: Int, _ client: Client) {
    let began = sent[connection].removeFirst()
    if isMeasuring { histogram.add(nanoseconds() - began) }
    send(connection, client)
  }
}

/// Opens many connections, at most `atOnce` at a time.
enum Opening {
  static func open(
    _ count: Int, _ client: Client, _ workload: some Workload, atOnce: Int = 64,
    connect: (Int) -> Void
  ) {
    let before = client.handshakes
    let end = nanoseconds() + 120_000_000_000
    var begun = 0
    while client.handshakes - before < count {
      while begun < count, begun - (client.handshakes - before) < atOnce {
        connect(begun)
        begun += 1
      }
      client.turn(milliseconds: 100, workload)
      guard nanoseconds() < end else { fail("\(count) connections did not open in two minutes") }
    }
  }
}
