import Gateway
import ParleyGatewayPorts
import Glibc
import ParleyLocks
import OTCore
import ParleyServer
import ParleyStoreSQLite

/// A folder that is removed after the test.
final class TestFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/parley-server-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let template = buffer.baseAddress, let made = mkdtemp(template) else {
        preconditionFailure("no folder for a test could be made")
      }
      return String(cString: made)
    }
  }

  deinit {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
      }
      if name != ".", name != ".." { unlink(path + "/" + name) }
    }
    closedir(folder)
    rmdir(path)
  }

  var storePath: String { path + "/notes.parley" }

  /// Returns the size of a file in bytes; 0 if the file does not exist.
  func size(of name: String) -> Int {
    var status = stat()
    return stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// A gate that blocks threads until it is opened, and reports that a thread is waiting.
final class Gate: Sendable {
  private let state = Monitor((visitors: 0, isOpen: false))

  func pass() {
    state.withLock { $0.visitors += 1 }
    state.signal()
    state.wait(until: { $0.isOpen }, then: { _ in })
  }

  func awaitVisitor() { state.wait(until: { $0.visitors > 0 }, then: { _ in }) }

  func open() {
    state.withLock { $0.isOpen = true }
    state.signal()
  }
}

/// A store that blocks until its gate is open, and contains no document.
final class BlockedStore: DocumentStore {
  private let gate: Gate

  init(_ gate: Gate) { self.gate = gate }

  func perform(_ batch: [StoreRequest]) -> [StoreReply] {
    gate.pass()
    return batch.map { _ in .failed(.unknownDocument) }
  }
}

/// The store's threads on a file, with one request at a time.
final class StoreThreadRig {
  static let epoch: Epoch = "epoch"

  let thread: StoreThread
  private let woken: Monitor<Int>
  private var nextTicket: UInt64 = 1
  private var replies: [StoreTicket: StoreReply] = [:]

  convenience init(_ folder: TestFolder) throws {
    let store = Handover<any ServerStore>(try SQLiteStore(path: folder.storePath))
    self.init(store, Handover(try SQLiteStore(reading: folder.storePath)))
  }

  convenience init(
    _ folder: TestFolder, readingStore: sending any DocumentStore
  ) throws {
    self.init(Handover(try SQLiteStore(path: folder.storePath)), Handover(readingStore))
  }

  init(
    _ store: Handover<any ServerStore>, _ readingStore: Handover<any DocumentStore>,
    retry: ChoreRetry = ChoreRetry()
  ) {
    let woken = Monitor(0)
    self.woken = woken
    thread = StoreThread(
      store: store, readingStore: readingStore, log: SilentLog(), retry: retry
    ) {
      woken.withLock { $0 += 1 }
      woken.signal()
    }
  }

  func submit(_ request: StoreRequest) -> StoreTicket { submit([request])[0] }

  /// Submits requests at once.
  func submit(_ requests: [StoreRequest]) -> [StoreTicket] {
    let tickets = requests.indices.map { StoreTicket(rawValue: nextTicket + UInt64($0)) }
    nextTicket += UInt64(requests.count)
    thread.submit(zip(tickets, requests).map { ($0, $1) })
    return tickets
  }

  func hasReply(for ticket: StoreTicket) -> Bool {
    for completion in thread.takeCompletions() { replies[completion.ticket] = completion.reply }
    return replies[ticket] != nil
  }

  /// Waits until a condition holds. It is checked after each wake-up by the threads.
  func wait(until holds: () -> Bool) {
    while true {
      let seen = woken.withLock { $0 }
      if holds() { return }
      woken.wait(until: { $0 > seen }, then: { _ in })
    }
  }

  /// Waits for a reply.
  func reply(to ticket: StoreTicket) -> StoreReply {
    while true {
      let seen = woken.withLock { $0 }
      if hasReply(for: ticket), let reply = replies[ticket] { return reply }
      woken.wait(until: { $0 > seen }, then: { _ in })
    }
  }

  func create(_ id: DocumentID) {
    _ = reply(to: submit(.create(id: id, epoch: Self.epoch, title: "", time: 1)))
  }

  /// Appends the entry of a revision to the note `n`, and waits until it is durable.
  func append(_ revision: Int) { append(from: revision, through: revision) }

  func append(from first: Int, through last: Int) {
    let entries = (first...last).map(Self.entry)
    guard
      case .done = reply(to: submit(.append(id: "n", epoch: Self.epoch, entries: entries)))
    else { preconditionFailure("the entries from revision \(first) on were not taken") }
  }

  /// Returns an entry that appends a letter.
  static func entry(_ revision: Int) -> LogEntry {
    var operation = TextOperation()
    operation.retain(revision - 1)
    operation.insert("x")
    return LogEntry(
      revision: revision, client: "c", sequence: revision, digest: 1, operation: operation,
      author: "Ann", time: Timestamp(revision))
  }
}

/// A log that discards everything.
struct SilentLog: LogSink {
  let level = LogLevel.error

  func write(
    _ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]
  ) {}
}
