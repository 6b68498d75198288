import ParleyJSON
import OTCore
import SocketMessages

/// People typing on notes together: the time until all readers of a note have an edit, and until
/// its author knows that the edit is on disk.
///
/// Time counts from the moment of typing: edits that wait behind a change in flight include this
/// wait.
final class Typists: Workload {
  /// A person, with the state of a client that does not show the text. Waiting edits get random
  /// positions when they are sent, in the text of that moment.
  private struct Typist {
    var revision = 0
    var sequence = 0
    var underWay: ChangeUnderWay?
    /// The times at which the unsent edits were typed.
    var waiting: [UInt64] = []
    /// The time at which the next letter is due.
    var due = UInt64.max

    var unconfirmedCount: Int { waiting.count + (underWay?.typed.count ?? 0) }
  }

  private var notes: [NoteLog]
  private let interval: UInt64
  /// The size in scalars around which a text stays; `nil` if the text grows without limit.
  private let size: Int?
  private var typists: [Typist]
  private var numbers: [String: Int] = [:]
  private var joined = 0
  private var isMeasuring = false
  private var measuredFrom = UInt64.max
  private var edits = 0
  private var everyone = Histogram()
  private var acknowledgements = Histogram()
  private var random = RandomNumbers(seed: 1)
  private var pages = RecentPages()
  /// Whether changes may contain numbers instead of ids, as this server's clients accept.
  private let takesNumbers: Bool
  /// The token of all typists; `nil` for a server without tokens.
  private let token: String?

  private init(
    typists: Int, documents: [String], interval: UInt64, size: Int?, takesNumbers: Bool,
    token: String?
  ) {
    notes = documents.map(NoteLog.init)
    self.takesNumbers = takesNumbers
    self.token = token
    self.interval = interval
    self.size = size
    self.typists = Array(repeating: Typist(), count: typists)
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let notes = options.number("notes", 1)
    let before = server.residentBytes()
    let whole = Measurement(server)
    let count = options.number("typists", 20)
    let token = options.word("token")
    let workload = Typists(
      typists: count,
      documents: (0..<notes).map { _ in
        Notes.create(
          port: options.numbers("port", 8080)[0],
          text: String(repeating: "x", count: options.number("text", 0)), token: token)
      },
      interval: UInt64(options.number("interval", 200)) * 1_000_000,
      size: options.number("size", 0) == 0 ? nil : options.number("size", 0),
      takesNumbers: options.number("numbers", 1) > 0, token: token)
    Opening.open(count, client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    while workload.joined < count { client.turn(milliseconds: 20, workload) }
    let opening = whole.serverSeconds * 1_000_000 / Double(count)
    let now = nanoseconds()
    for index in 0..<count {
      workload.typists[index].due = now + workload.random.below(workload.interval)
    }
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
    report.add("undelivered", workload.undelivered)
    report.add("unacknowledged", workload.unconfirmed)
    report.print()
  }

  // MARK: Typing

  private func type(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    var next: UInt64 = 0
    while true {
      let now = nanoseconds()
      if now >= end { return }
      if now >= next {
        next = .max
        for index in typists.indices {
          if typists[index].due <= now {
            typists[index].waiting.append(now)
            if isMeasuring { edits += 1 }
            send(index, client)
            typists[index].due += interval / 2 + random.below(interval)
          }
          next = min(next, typists[index].due)
        }
      }
      client.turn(milliseconds: next > now + 2_000_000 ? 1 : 0, self)
    }
  }

  /// Waits until all edits have reached all readers and are confirmed to their authors.
  private func settle(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    while nanoseconds() < end, undelivered > 0 || unconfirmed > 0 {
      client.turn(milliseconds: 20, self)
    }
  }

  private var undelivered: Int { notes.reduce(0) { $0 + $1.undelivered } }

  private var unconfirmed: Int { typists.reduce(0) { $0 + $1.unconfirmedCount } }

  /// Sends a person's waiting edits as one change, unless another change is in flight.
  private func send(_ index: Int, _ client: Client) {
    guard typists[index].underWay == nil, !typists[index].waiting.isEmpty else { return }
    let note = notes[index % notes.count]
    let typed = typists[index].waiting
    let revision = typists[index].revision
    let operation = edits(typed.count, on: note.length(at: revision))
    typists[index].waiting.removeAll(keepingCapacity: true)
    typists[index].sequence += 1
    typists[index].underWay = ChangeUnderWay(
      typed: typed, sent: nanoseconds(), base: revision, operation: operation,
      deletes: operation.targetLength - operation.baseLength < typed.count)
    client.send(
      Native.frame(
        .change(
          .init(
            documentID: note.document, epoch: note.epoch, revision: revision,
            sequence: typists[index].sequence, operation: operation))), on: index)
  }

  /// Returns random insertions and some deletions, which outnumber them in a text that is too long.
  private func edits(_ count: Int, on length: Int) -> TextOperation {
    var operation = TextOperation()
    var place = 0
    let deletions: UInt64 = length > size ?? .max ? 3 : 1
    for next in (0..<count).map({ _ in Int(random.below(UInt64(length + 1))) }).sorted() {
      operation.retain(max(0, next - place))
      place = max(place, next)
      if place < length, random.below(4) < deletions {
        operation.delete(1)
        place += 1
      } else {
        operation.insert("e")
      }
    }
    operation.retain(length - place)
    return operation
  }

  // MARK: Reading

  func opened(_ connection: Int, _ client: Client) {
    client.send(
      Native.hello(
        name: "t\(connection)", token: token,
        numbersMax: takesNumbers ? ServerMessage.Author.numbersMax : 0),
      on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if let page = pages.page(bytes) {
      if !page.isEmpty { read(page, connection, client) }
      return
    }
    switch Native.decode(bytes) {
    case .welcome(let welcome):
      numbers[welcome.clientID] = connection
      client.send(Native.join(notes[connection % notes.count].document), on: connection)
    case .joined(let state):
      typists[connection].revision = notes[connection % notes.count].join(state)
      joined += 1
    case .numberedChanges(let numbered):
      read(
        notes[connection % notes.count].changes(numbered), in: bytes, connection, client)
    case .changes(let changes): read(changes, in: bytes, connection, client)
    case .acknowledged(let answer):
      guard typists[connection].sequence == answer.sequence else { fail("another is under way") }
      learn(answer.revision, of: connection)
      read(answer.revision..<answer.revision + 1, connection, client)
    case .refused(let refusal): fail("a change was refused: \(refusal.code.rawValue)")
    // Presence, which all clients receive in the same way.
    default: pages.add(0..<0, bytes)
    }
  }

  private func read(
    _ changes: ServerMessage.Changes, in bytes: UnsafeRawBufferPointer, _ connection: Int,
    _ client: Client
  ) {
    learn(changes)
    let page = changes.revision..<changes.revision + changes.changes.count
    pages.add(page, bytes)
    read(page, connection, client)
  }

  private func learn(_ changes: ServerMessage.Changes) {
    for (offset, change) in changes.changes.enumerated() {
      guard let author = numbers[change.clientID] else { fail("a stranger has typed") }
      let revision = changes.revision + offset
      guard revision > notes[author % notes.count].last else {
        notes[author % notes.count].learn(change.operation, at: revision)
        continue
      }
      guard change.sequence == typists[author].sequence else {
        fail("a change has come that is not under way")
      }
      learn(revision, of: author, as: change.operation)
    }
  }

  /// Records the revision of a change in flight, which the first message about it reports.
  private func learn(_ revision: Int, of author: Int, as operation: TextOperation? = nil) {
    let last = notes[author % notes.count].last
    guard var change = typists[author].underWay else { fail("a change was made twice") }
    if revision <= last, change.revision == revision { return }
    guard revision == last + 1, change.revision == nil else {
      fail("client and server have diverged")
    }
    notes[author % notes.count].append(change, as: operation)
    change.revision = revision
    typists[author].underWay = change
  }

  /// Records that a reader has received changes. An own change among them is acknowledged.
  private func read(_ page: Range<Int>, _ reader: Int, _ client: Client) {
    let old = typists[reader].revision
    guard page.lowerBound == old + 1 else { fail("a change is missing, or came once too often") }
    let new = page.upperBound - 1
    typists[reader].revision = new
    notes[reader % notes.count].move(from: old, to: new) { typed in
      if typed >= measuredFrom { everyone.add(nanoseconds() - typed) }
    }
    guard let change = typists[reader].underWay, let revision = change.revision,
      page.contains(revision)
    else { return }
    typists[reader].underWay = nil
    if isMeasuring { acknowledgements.add(nanoseconds() - change.sent) }
    send(reader, client)
  }
}

/// The changes in recent messages, as revisions; empty for other messages. All readers get the same
/// bytes, which are decoded once.
struct RecentPages {
  private var entries: [(bytes: [UInt8], page: Range<Int>)] = []
  private var next = 0

  func page(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    for entry in entries where bytes.holds(entry.bytes) { return entry.page }
    return nil
  }

  mutating func add(_ page: Range<Int>, _ bytes: UnsafeRawBufferPointer) {
    if entries.count < 16 {
      entries.append((Array(bytes), page))
    } else {
      entries[next] = (Array(bytes), page)
      next = (next + 1) % 16
    }
  }
}

/// Pseudo-random numbers from a seed.
struct RandomNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Returns a number from 0 up to, but not including, a bound; 0 if the bound is 0.
  mutating func below(_ bound: UInt64) -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return bound == 0 ? 0 : (mixed ^ mixed >> 31) % bound
  }
}
