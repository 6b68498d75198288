import ParleyJSON
import SocketMessages

/// Many rooms with a few subscribers each. Every connection is in some of the rooms, and
/// publications visit the rooms in turn at a fixed rate.
final class ManyRooms: Workload {
  private let rooms: Int
  private let roomsEach: Int
  private let connections: Int
  private let size: Int
  private var ready = 0
  private var isPublisherReady = false
  private var next = 0
  private var isMeasuring = false
  private var histogram = Histogram()

  private init(rooms: Int, members: Int, roomsEach: Int, size: Int) {
    self.rooms = rooms
    self.roomsEach = roomsEach
    connections = rooms * members / roomsEach
    self.size = size
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let members = options.number("members", 20)
    let workload = ManyRooms(
      rooms: options.number("rooms", 1_000), members: members,
      roomsEach: options.number("rooms-each", 2), size: options.number("size", 200))
    let before = server.residentBytes()
    Opening.open(workload.connections + 1, client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    while workload.ready < workload.connections * workload.roomsEach || !workload.isPublisherReady {
      client.turn(milliseconds: 20, workload)
    }
    let rate = Double(options.number("rate", 500))
    workload.publish(client, for: options.seconds("warm", 0.5), rate: rate)
    workload.isMeasuring = true
    let measurement = Measurement(server)
    workload.publish(client, for: options.seconds("seconds", 3), rate: rate)
    var report = Report("rooms")
    report.add("rooms", workload.rooms)
    report.add("members", members)
    report.add("server_bytes", server.residentBytes() - before)
    measurement.add("deliveries", workload.histogram.count, to: &report)
    report.add("delivery", workload.histogram)
    report.print()
  }

  private func publish(_ client: Client, for seconds: Double, rate: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    let interval = UInt64(1_000_000_000 / rate)
    var due = nanoseconds()
    while nanoseconds() < end {
      while nanoseconds() >= due {
        publish(client)
        due += interval
      }
      client.turn(milliseconds: 1, self)
    }
  }

  private func publish(_ client: Client) {
    var text = TimeMark.text(nanoseconds())
    while text.utf8.count < size { text += "x" }
    let publication = ClientMessage.Publish(room: Self.name(next), data: JSONValue(text))
    next = (next + 1) % rooms
    client.send(Native.frame(.publish(publication)), on: connections)
  }

  private static func name(_ room: Int) -> String { "room-\(room)" }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "n\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if connection < connections, let sent = TimeMark.first(in: bytes) {
      if isMeasuring { histogram.add(nanoseconds() - sent) }
      return
    }
    switch Native.decode(bytes) {
    case .welcome where connection == connections: isPublisherReady = true
    case .welcome:
      for place in 0..<roomsEach {
        let room = (connection * roomsEach + place) % rooms
        client.send(Native.subscribe(Self.name(room)), on: connection)
      }
    case .subscribed: ready += 1
    case .error(let error): fail("a message was refused: \(error.code.rawValue)")
    default: break
    }
  }
}
