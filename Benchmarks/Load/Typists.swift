import JSON
import OTCore
import SocketMessages

/// People typing on notes together: how long an edit takes until everybody on its note has it, and
/// until its author knows that it is on disk.
///
/// An edit counts from the moment it is typed: while a change is under way, what is typed on waits,
/// and that waiting is in the figure.
final class Typists: Workload {
  /// A change on its way to everybody else.
  private struct Journey {
    /// When each of the edits in it was typed.
    let typed: [UInt64]
    var missing: Int
  }

  private let documents: [String]
  private let interval: UInt64
  /// Scalars around which a text stays; without one it grows as long as anybody types.
  private let size: Int?
  private var typists: [Typist]
  private var numbers: [String: Int] = [:]
  /// Edits that have not been sent.
  private var waiting: [[UInt64]]
  private var due: [UInt64]
  private var sent: [UInt64]
  private var journeys: [UInt64: Journey] = [:]
  private var joined = 0
  private var isMeasuring = false
  private var measuredFrom = UInt64.max
  private var edits = 0
  private var everyone = Histogram()
  private var acknowledgements = Histogram()
  private var random = RandomNumbers(seed: 1)
  private var recent = RecentMessages()

  private init(typists: Int, documents: [String], interval: UInt64, size: Int?) {
    self.documents = documents
    self.interval = interval
    self.size = size
    self.typists = Array(repeating: Typist(), count: typists)
    waiting = Array(repeating: [], count: typists)
    due = Array(repeating: .max, count: typists)
    sent = Array(repeating: 0, count: typists)
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let notes = options.number("notes", 1)
    let before = server.residentBytes()
    let whole = Measurement(server)
    let count = options.number("typists", 20)
    let workload = Typists(
      typists: count,
      documents: (0..<notes).map { _ in
        Notes.create(
          port: options.numbers("port", 8080)[0],
          text: String(repeating: "x", count: options.number("text", 0)))
      },
      interval: UInt64(options.number("interval", 200)) * 1_000_000,
      size: options.number("size", 0) == 0 ? nil : options.number("size", 0))
    Opening.open(count, client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    while workload.joined < count { client.turn(milliseconds: 20, workload) }
    let opening = whole.serverSeconds * 1_000_000 / Double(count)
    let now = nanoseconds()
    for index in 0..<count { workload.due[index] = now + workload.random.below(workload.interval) }
    workload.type(client, seconds: options.seconds("warm", 1))
    workload.isMeasuring = true
    workload.measuredFrom = nanoseconds()
    let measurement = Measurement(server)
    workload.type(client, seconds: options.seconds("seconds", 5))
    var report = Report("typists")
    report.add("typists", count)
    report.add("notes", notes)
    report.add("interval_ms", options.number("interval", 200))
    report.add("opening_microseconds_each", opening)
    report.add("server_bytes", server.residentBytes() - before)
    measurement.add("edits", workload.edits, to: &report)
    workload.settle(client, seconds: options.seconds("patience", 30))
    report.add("everyone", workload.everyone)
    report.add("acknowledgement", workload.acknowledgements)
    report.add("undelivered", workload.journeys.count)
    report.add("unacknowledged", workload.typists.reduce(0) { $0 + $1.unconfirmedCount })
    report.print()
  }

  private func type(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    var next: UInt64 = 0
    while true {
      let now = nanoseconds()
      if now >= end { return }
      if now >= next {
        next = .max
        for index in typists.indices {
          if due[index] <= now {
            type(index, now, client)
            due[index] += interval / 2 + random.below(interval)
          }
          next = min(next, due[index])
        }
      }
      client.turn(milliseconds: next > now + 2_000_000 ? 1 : 0, self)
    }
  }

  /// Waits until everything that was typed has reached everybody, and its author knows.
  private func settle(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end {
      if journeys.isEmpty, typists.allSatisfy({ $0.unconfirmedCount == 0 }) { return }
      client.turn(milliseconds: 20, self)
    }
  }

  /// A letter somewhere, now and then a letter less; mostly less where the text is long enough.
  private func type(_ index: Int, _ now: UInt64, _ client: Client) {
    let length = typists[index].length
    let place = Int(random.below(UInt64(length + 1)))
    var operation = TextOperation()
    operation.retain(place)
    let deletions: UInt64 = length > size ?? .max ? 3 : 1
    if place < length, random.below(4) < deletions {
      operation.delete(1)
      operation.retain(length - place - 1)
    } else {
      operation.insert("e")
      operation.retain(length - place)
    }
    waiting[index].append(now)
    if isMeasuring { edits += 1 }
    if let change = typists[index].edit(operation) { send(change, index, client) }
  }

  private func send(_ change: ClientSynchronizer.Change, _ index: Int, _ client: Client) {
    sent[index] = nanoseconds()
    let others = (typists.count - 1 - index % documents.count) / documents.count
    if others > 0 {
      journeys[Self.key(index, change.sequence)] = Journey(typed: waiting[index], missing: others)
    }
    waiting[index].removeAll(keepingCapacity: true)
    client.send(typists[index].frame(change, of: documents[index % documents.count]), on: index)
  }

  private static func key(_ index: Int, _ sequence: Int) -> UInt64 {
    UInt64(index) << 40 | UInt64(sequence)
  }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "t\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    switch recent.decode(bytes) {
    case .welcome(let welcome):
      typists[connection].id = welcome.clientID
      numbers[welcome.clientID] = connection
      client.send(Native.join(documents[connection % documents.count]), on: connection)
    case .joined(let state):
      typists[connection].join(state)
      joined += 1
    case .changes(let changes):
      for (offset, change) in changes.changes.enumerated() {
        let next = typists[connection].take(change, revision: changes.revision + offset)
        guard let author = numbers[change.clientID] else { fail("a stranger has typed") }
        if author == connection {
          acknowledged(connection, next, client)
        } else {
          arrived(Self.key(author, change.sequence))
        }
      }
    case .acknowledged(let answer):
      let next = typists[connection].acknowledge(answer.sequence, revision: answer.revision)
      acknowledged(connection, next, client)
    case .refused(let refusal): fail("a change was refused: \(refusal.code.rawValue)")
    default: break
    }
  }

  private func arrived(_ key: UInt64) {
    guard let index = journeys.index(forKey: key) else { fail("a change has come once too often") }
    journeys.values[index].missing -= 1
    guard journeys.values[index].missing == 0 else { return }
    let now = nanoseconds()
    for typed in journeys.values[index].typed where typed >= measuredFrom {
      everyone.add(now - typed)
    }
    journeys.remove(at: index)
  }

  private func acknowledged(
    _ index: Int, _ next: ClientSynchronizer.Change?, _ client: Client
  ) {
    if isMeasuring { acknowledgements.add(nanoseconds() - sent[index]) }
    if let next { send(next, index, client) }
  }
}

/// Everybody gets the same bytes: they are decoded once.
struct RecentMessages {
  private var entries: [(bytes: [UInt8], message: ServerMessage)] = []
  private var next = 0

  mutating func decode(_ bytes: UnsafeRawBufferPointer) -> ServerMessage {
    for entry in entries where bytes.holds(entry.bytes) {
      return entry.message
    }
    let message = Native.decode(bytes)
    if entries.count < 8 {
      entries.append((Array(bytes), message))
    } else {
      entries[next] = (Array(bytes), message)
      next = (next + 1) % 8
    }
    return message
  }
}

/// Numbers from a seed.
struct RandomNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A number from 0 up to, not including, a bound; 0 for 0.
  mutating func below(_ bound: UInt64) -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return bound == 0 ? 0 : (mixed ^ mixed >> 31) % bound
  }
}
