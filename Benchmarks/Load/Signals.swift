import ParleyJSON
import SocketMessages

/// People in one room who move their pointers: each sends at a fixed rate to all others, as signals
/// or as the data of presence.
final class Signals: Workload {
  private static let room = "board"

  private let people: Int
  private let isPresence: Bool
  private var ready = 0
  private var isMeasuring = false
  private var sent = 0
  private var histogram = Histogram()

  private init(people: Int, isPresence: Bool) {
    self.people = people
    self.isPresence = isPresence
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let word = options.text("sends", "signal")
    guard ["signal", "presence"].contains(word) else {
      fail("--sends takes signal or presence, not \(word)")
    }
    let workload = Signals(people: options.number("people", 20), isPresence: word == "presence")
    Opening.open(workload.people, client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    while workload.ready < workload.people { client.turn(milliseconds: 20, workload) }
    let rate = Double(options.number("rate", 30) * workload.people)
    workload.send(client, for: options.seconds("warm", 0.5), rate: rate)
    workload.isMeasuring = true
    workload.sent = 0
    let measurement = Measurement(server)
    workload.send(client, for: options.seconds("seconds", 3), rate: rate)
    var report = Report("signals")
    report.add("people", workload.people)
    report.add("sent", workload.sent)
    measurement.add("deliveries", workload.histogram.count, to: &report)
    report.add("delivery", workload.histogram)
    report.print()
  }

  private func send(_ client: Client, for seconds: Double, rate: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    let interval = UInt64(1_000_000_000 / rate)
    var due = nanoseconds()
    while nanoseconds() < end {
      while nanoseconds() >= due {
        send(client)
        due += interval
      }
      client.turn(milliseconds: 1, self)
    }
  }

  private func send(_ client: Client) {
    let data = JSONValue("\(TimeMark.text(nanoseconds())) 0.482,0.913")
    let message: ClientMessage =
      isPresence
      ? .roomPresence(.init(room: Self.room, data: data))
      : .signal(.init(room: Self.room, name: "pointer", data: data))
    client.send(Native.frame(message), on: sent % people)
    sent += 1
  }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "n\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if ready == people {
      let now = nanoseconds()
      if isMeasuring { TimeMark.forEach(in: bytes) { histogram.add(now - $0) } }
      return
    }
    switch Native.decode(bytes) {
    case .welcome:
      client.send(
        Native.frame(.subscribe(.init(room: Self.room, isPresent: isPresence))), on: connection)
    case .subscribed: ready += 1
    case .error(let error): fail("a message was refused: \(error.code.rawValue)")
    default: break
    }
  }
}
