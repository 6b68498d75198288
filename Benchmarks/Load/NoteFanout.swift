import OTCore
import SocketMessages

/// A few authors and many followers of one note. Every change passes through the document and the
/// store before it is delivered. Each author has one change in flight at a time.
///
/// With several servers, the workload also measures the time from a change's acknowledgement to its
/// delivery to followers at other servers; a delivery before the acknowledgement counts as 0.
final class NoteFanout: Workload {
  private let document: String
  private let followers: Int
  private let textSize: Int
  private var authors: [Typist] = []
  private var joined = 0
  private var isMeasuring = false
  private var histogram = Histogram()
  private var acknowledgements = Histogram()
  private var elsewhere = Histogram()
  /// Recent edits by their time marks; recorded only with several servers.
  private var edits: [UInt64: Edit] = [:]
  private var marks: [UInt64] = []
  /// The marks of each author's change in flight, and of the edits that wait behind it.
  private var underWay: [(sent: [UInt64], waiting: [UInt64])] = []
  private var sent: [UInt64] = []
  /// Nanoseconds between two changes; 0 if there is no fixed rate.
  private var interval: UInt64 = 0

  /// An edit that is being delivered to followers at other servers than its author's.
  private struct Edit {
    let server: Int
    var acknowledgedAt: UInt64?
    /// The number of deliveries before the acknowledgement.
    var early = 0
  }

  private init(document: String, followers: Int, textSize: Int) {
    self.document = document
    self.followers = followers
    self.textSize = textSize
  }

  static func run(_ options: Options, _ client: Client, _ server: ServerProcess) {
    let workload = NoteFanout(
      document: Notes.create(port: options.numbers("port", 8080)[0]),
      followers: options.number("connections", 1_000), textSize: options.number("text", 60))
    let authors = options.number("window", 4)
    // Authors connect last, so that no client receives a change before it has joined.
    Opening.open(workload.followers + authors, client, workload) { _ in
      client.connect("/ws", subprotocol: Native.subprotocol)
    }
    workload.sent = Array(repeating: 0, count: authors)
    workload.underWay = Array(repeating: ([], []), count: authors)
    while workload.joined < workload.followers + authors { client.turn(milliseconds: 20, workload) }
    workload.turn(client, seconds: 0.3)
    let rate = options.number("rate", 0)
    workload.interval = rate > 0 ? UInt64(1_000_000_000 / rate) : 0
    if rate == 0 { for index in 0..<authors { workload.type(index, client) } }
    workload.turn(client, seconds: options.seconds("warm", 0.5))
    workload.isMeasuring = true
    let measurement = Measurement(server)
    workload.turn(client, seconds: options.seconds("seconds", 3))
    var report = Report("note")
    report.add("followers", workload.followers)
    report.add("authors", authors)
    measurement.add("deliveries", workload.histogram.count, to: &report)
    report.add("delivery", workload.histogram)
    report.add("acknowledgement", workload.acknowledgements)
    if options.numbers("port", 8080).count > 1 { report.add("elsewhere", workload.elsewhere) }
    report.print()
  }

  private func turn(_ client: Client, seconds: Double) {
    let end = nanoseconds() + UInt64(seconds * 1_000_000_000)
    guard interval > 0 else {
      while nanoseconds() < end { client.turn(milliseconds: 20, self) }
      return
    }
    var due = nanoseconds()
    var turn = 0
    while nanoseconds() < end {
      if nanoseconds() >= due {
        due += interval
        type(turn % authors.count, client)
        turn += 1
      }
      client.turn(milliseconds: 1, self)
    }
  }

  private func type(_ author: Int, _ client: Client) {
    let mark = nanoseconds()
    var text = TimeMark.text(mark)
    while text.utf8.count < textSize { text += "x" }
    let length = authors[author].length
    var operation = TextOperation()
    operation.insert(text)
    operation.retain(max(0, min(length, 4_000)))
    operation.delete(max(0, length - 4_000))
    remember(mark, author, client)
    if let change = authors[author].edit(operation) { send(change, author, client) }
  }

  private func remember(_ mark: UInt64, _ author: Int, _ client: Client) {
    guard client.serverCount > 1 else { return }
    edits[mark] = Edit(server: client.server(of: followers + author))
    underWay[author].waiting.append(mark)
    marks.append(mark)
    if marks.count > 8_192 {
      for old in marks.prefix(4_096) { edits[old] = nil }
      marks.removeFirst(4_096)
    }
  }

  /// Records the delivery of an edit to a follower.
  private func arrived(_ mark: UInt64, _ connection: Int, _ now: UInt64, _ client: Client) {
    guard let edit = edits[mark], edit.server != client.server(of: connection) else { return }
    if let time = edit.acknowledgedAt {
      elsewhere.add(now - time)
    } else {
      edits[mark]?.early += 1
    }
  }

  private func send(_ change: ClientSynchronizer.Change, _ author: Int, _ client: Client) {
    sent[author] = nanoseconds()
    underWay[author] = (underWay[author].waiting, [])
    client.send(authors[author].frame(change, of: document), on: followers + author)
  }

  func opened(_ connection: Int, _ client: Client) {
    client.send(Native.hello(name: "n\(connection)"), on: connection)
  }

  func received(_ connection: Int, _ bytes: UnsafeRawBufferPointer, _ client: Client) {
    if connection < followers, joined == followers + authors.count, !authors.isEmpty {
      guard isMeasuring else { return }
      let now = nanoseconds()
      TimeMark.forEach(in: bytes) {
        histogram.add(now - $0)
        if client.serverCount > 1 { arrived($0, connection, now, client) }
      }
      return
    }
    switch Native.decode(bytes) {
    case .welcome(let welcome):
      if connection >= followers {
        while authors.count <= connection - followers { authors.append(Typist()) }
        authors[connection - followers].id = welcome.clientID
      }
      client.send(Native.join(document), on: connection)
    case .joined(let state):
      joined += 1
      if connection >= followers { authors[connection - followers].join(state) }
    case .changes(let changes) where connection >= followers:
      let author = connection - followers
      for (offset, change) in changes.changes.enumerated() {
        let isOwn = change.clientID == authors[author].id
        let next = authors[author].take(change, revision: changes.revision + offset)
        if isOwn { acknowledged(author, next, client) }
      }
    case .acknowledged(let answer):
      let author = connection - followers
      let next = authors[author].acknowledge(answer.sequence, revision: answer.revision)
      acknowledged(author, next, client)
    case .refused(let refusal): fail("a change was refused: \(refusal.code.rawValue)")
    default: break
    }
  }

  private func acknowledged(
    _ author: Int, _ next: ClientSynchronizer.Change?, _ client: Client
  ) {
    let now = nanoseconds()
    if isMeasuring { acknowledgements.add(now - sent[author]) }
    for mark in underWay[author].sent {
      edits[mark]?.acknowledgedAt = now
      for _ in 0..<(edits[mark]?.early ?? 0) { elsewhere.add(0) }
    }
    if let next {
      send(next, author, client)
    } else if interval == 0 {
      type(author, client)
    }
  }
}
