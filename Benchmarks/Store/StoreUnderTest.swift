import Gateway
import ParleyGatewayPorts
import Glibc
import ParleyLocks
import OTCore
import ParleyServer
import ParleyStoreSQLite

/// The store's threads over a file: in a temporary folder that is deleted with it, or a permanent
/// file.
final class StoreUnderTest {
  static let epoch: Epoch = "bench"

  let thread: StoreThread
  /// The temporary folder; `nil` for a permanent file.
  private let folder: String?
  private let woken = Monitor(false)
  private var nextTicket: UInt64 = 1

  convenience init() throws {
    var template = Array("/tmp/parley-store-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FileError("no folder can be made below /tmp: \(String(cString: strerror(errno)))")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try self.init(path: folder + "/notes.parley", in: folder)
  }

  /// Opens the store over a permanent file.
  convenience init(path: String) throws { try self.init(path: path, in: nil) }

  private init(path: String, in folder: String?) throws {
    self.folder = folder
    let store = Handover<any ServerStore>(try SQLiteStore(path: path))
    thread = StoreThread(
      store: store, readingStore: Handover(try SQLiteStore(reading: path)), log: NoLog(),
      wake: { [woken] in
        woken.withLock { $0 = true }
        woken.signal()
      })
  }

  deinit {
    thread.stop()
    guard let folder else { return }
    for ending in ["", "-wal", "-shm", "-lock"] { unlink(folder + "/notes.parley" + ending) }
    rmdir(folder)
  }

  @discardableResult
  func submit(_ requests: [StoreRequest]) -> [StoreTicket] {
    let work = requests.map { request in
      defer { nextTicket += 1 }
      return (ticket: StoreTicket?.some(StoreTicket(rawValue: nextTicket)), request: request)
    }
    thread.submit(work)
    return work.compactMap(\.ticket)
  }

  /// Waits for completions, or until the time limit, and removes and returns them.
  func completions(atMostMilliseconds limit: Int = 60_000) -> [StoreThread.Completion] {
    woken.wait(atMostMilliseconds: limit) { $0 }
    woken.withLock { $0 = false }
    return thread.takeCompletions()
  }

  /// Performs requests and waits for all of them.
  func finish(_ requests: [StoreRequest]) {
    var open = Set(submit(requests))
    while !open.isEmpty {
      for completion in completions() {
        if case .failed(let error) = completion.reply {
          preconditionFailure("the store failed: \(error)")
        }
        open.remove(completion.ticket)
      }
    }
  }

  /// Returns the size of a file; 0 if it does not exist.
  static func bytes(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  func create(_ id: DocumentID) {
    finish([.create(id: id, epoch: Self.epoch, title: id.text, time: 1)])
  }

  /// Returns an entry that inserts a letter at a position.
  static func letter(
    _ revision: Int, at place: Int, of length: Int, author: Int
  ) -> LogEntry {
    var operation = TextOperation()
    operation.retain(place)
    operation.insert("x")
    operation.retain(length - place)
    return LogEntry(
      revision: revision, client: "client \(author)", sequence: revision, digest: 1,
      operation: operation, author: "author \(author)", time: Timestamp(revision))
  }
}

/// Returns the microseconds of the monotonic clock.
func microseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1_000
}

/// Returns the value that `share` thousandths of the values do not exceed.
func permille(_ share: Int, of values: [Int]) -> Int {
  let sorted = values.sorted()
  return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * share / 1_000)]
}

struct NoLog: LogSink {
  let level = LogLevel.error

  func write(
    _ level: LogLevel, _ message: String, _ data: [(key: String, value: String)]
  ) {}
}
