import WebSocketFrames

/// One publisher, many subscribers, over plain paths: whatever is sent to one path comes out of
/// the other. Each message carries the time at which it was sent.
final class Fanout: Workload {
  private let subscribers: Int
  private let size: Int
  private let window: Int
  private var outstanding = 0
  private var isMeasuring = false
  private var histogram = Histogram()

  private init(subscribers: Int, size: Int, window: Int) {
    self.subscribers = subscribers
    self.size = size
    self.window = window
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let workload = Fanout(
      subscribers: options.number("connections", 1_000), size: options.number("size", 200),
      window: options.number("window", 4))
    let path = options.text("subscribe-path", "/sub")
    Opening.open(workload.subscribers, client, workload) { _ in client.connect(path) }
    Opening.open(1, client, workload) { _ in
      client.connect(options.text("publish-path", "/pub"))
    }
    let rate = Double(options.number("rate", 0))
    workload.turn(client, seconds: 0.3)
    let warmEnd = nanoseconds() + UInt64(options.seconds("warm", 0.5) * 1_000_000_000)
    workload.publish(client, until: warmEnd, rate: rate)
    workload.isMeasuring = true
    let measurement = Measurement(server)
    let end = nanoseconds() + UInt64(options.seconds("seconds", 3) * 1_000_000_000)
    workload.publish(client, until: end, rate: rate)
    var report = Report("fanout")
    report.add("subscribers", workload.subscribers)
    report.add("size", workload.size)
    report.add("window", rate > 0 ? 0 : workload.window)
    measurement.add("deliveries", workload.histogram.count, to: &report)
    report.add("delivery", workload.histogram)
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end { client.turn(milliseconds: 20, self) }
  }

  private func publish(_ client: Client, until end: UInt64, rate: Double) {
    let interval = rate > 0 ? UInt64(1_000_000_000 / rate) : 0
    var due = nanoseconds()
    while nanoseconds() < end {
      if interval > 0 {
        if nanoseconds() >= due {
          publish(client)
          due += interval
        }
        client.turn(milliseconds: 1, self)
      } else {
        while outstanding <= (window - 1) * subscribers { publish(client) }
        client.turn(milliseconds: 20, self)
      }
    }
  }

  private func publish(_ client: Client) {
    var payload = Array("{\"room\":\"r-1\",\"data\":{\"note\":\"".utf8)
    TimeMark.append(nanoseconds(), to: &payload)
    while payload.count < size - 3 { payload.append(UInt8(ascii: "x")) }
    payload += Array("\"}}".utf8)
    outstanding += subscribers
    client.send(Frame(maskKey: Client.maskKey, payload: payload), on: subscribers)
  }

  func opened(_ connection: Int, _ client: Client) {}

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    guard bytes.count == size, let sent = TimeMark.first(in: bytes) else {
      fail("what was delivered is not what was published")
    }
    outstanding -= 1
    if isMeasuring { histogram.add(nanoseconds() - sent) }
  }
}
