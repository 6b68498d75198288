/// A publisher and many subscribers, over any `Relay`. Each message contains the time at which it
/// was sent.
final class Fanout: Workload {
  private static let topic = "bench"

  private let relay: Relay
  private let subscribers: Int
  private let size: Int
  private let window: Int
  /// The number of a map's entries.
  private let names: Int
  private var sent = 0
  private var author = YjsAuthor(client: 1)
  private var ready = 0
  private var outstanding = 0
  private var isMeasuring = false
  private var histogram = Histogram()

  private init(relay: Relay, subscribers: Int, size: Int, window: Int, names: Int) {
    self.relay = relay
    self.subscribers = subscribers
    self.size = size
    self.window = window
    self.names = names
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let relay = options.relay
    let workload = Fanout(
      relay: relay, subscribers: options.number("connections", 1_000),
      size: options.number("size", 200), window: options.number("window", 4),
      names: options.number("names", 10))
    Opening.open(workload.subscribers, client, workload) { _ in
      client.connect(relay.path(options), subprotocol: relay.subprotocol)
    }
    Opening.open(1, client, workload) { _ in
      client.connect(relay.publisherPath(options), subprotocol: relay.subprotocol)
    }
    let rate = Double(options.number("rate", 0))
    workload.turn(client, seconds: 0.3)
    while relay != .plain, workload.ready <= workload.subscribers {
      client.turn(milliseconds: 20, workload)
    }
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
    outstanding += subscribers
    let content = relay.content(size: size)
    let frame =
      switch relay {
      case .yjs: author.insert(content)
      case .yjsMap: author.set(nextName(), to: content)
      default: relay.publication(content, topic: Self.topic)
      }
    client.send(frame, on: subscribers)
  }

  /// The entries of a map are changed in turn.
  private func nextName() -> String {
    defer { sent += 1 }
    return Values.name(sent % names)
  }

  func opened(_ connection: Int, _ client: Client) {
    // The publisher subscribes to a topic of its own, so that it receives no publication.
    let topic = connection == subscribers ? "\(Self.topic)-publisher" : Self.topic
    for frame in relay.greeting(topic: topic, number: connection) {
      client.send(frame, on: connection)
    }
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if relay == .plain {
      guard bytes.count == size, let sent = TimeMark.first(in: bytes) else {
        fail("what was delivered is not what was published")
      }
      return delivered(sent, nanoseconds())
    }
    if ready <= subscribers, relay.isReady(bytes) { ready += 1 }
    guard connection < subscribers else { return }
    let now = nanoseconds()
    TimeMark.forEach(in: bytes) { delivered($0, now) }
  }

  private func delivered(_ sent: UInt64, _ now: UInt64) {
    outstanding -= 1
    if isMeasuring { histogram.add(now - sent) }
  }
}

extension Options {
  /// The protocol that `--speaks` names.
  var relay: Relay {
    let word = text("speaks", Relay.plain.rawValue)
    guard let relay = Relay(rawValue: word) else {
      fail("--speaks takes plain, nats, mqtt, yjs or yjs-map, not \(word)")
    }
    return relay
  }
}
