import CParleySQLite
import CParleySQLiteFaults
import Synchronization

/// A layer between SQLite and the disk that records all calls and fails on request.
final class FaultyDisk {
  /// An access of SQLite to a file, or a mark of the test.
  enum Event {
    case write(file: String, offset: Int, bytes: [UInt8])
    case truncate(file: String, size: Int)
    case sync(file: String)
    case mark(Int)
  }

  /// The kinds of calls that a fault affects.
  struct Calls: OptionSet {
    let rawValue: Int32
    static let writes = Calls(rawValue: Int32(FAULTS_WRITE.rawValue))
    static let truncations = Calls(rawValue: Int32(FAULTS_TRUNCATE.rawValue))
    static let syncs = Calls(rawValue: Int32(FAULTS_SYNC.rawValue))
  }

  /// The VFS name of the layer in SQLite.
  let name: String
  private let layer: OpaquePointer

  private static let count = Atomic(0)

  init() throws {
    // SQLite has one list of VFS layers per process, and tests run concurrently.
    let number = Self.count.add(1, ordering: .relaxed).newValue
    name = "faults-\(number)"
    guard let layer = faults_create(name) else { throw SQLProblem(message: "no layer") }
    self.layer = layer
  }

  deinit { faults_destroy(layer) }

  /// Records a number among the events.
  func mark(_ number: Int) { faults_mark(layer, Int64(number)) }

  /// Lets the next `after` calls succeed, then fails `count` calls.
  func fail(
    _ calls: Calls, after: Int = 0, count: Int = .max, code: Int32 = SQLITE_IOERR,
    tornBytes: Int = 0
  ) {
    faults_fail(layer, calls.rawValue, Int64(after), Int64(count), code, tornBytes)
  }

  /// Ends all faults.
  func heal() { fail([], count: 0) }

  /// The number of calls that have failed because of `fail`.
  var failedCount: Int { Int(faults_failed_count(layer)) }

  /// All events so far.
  var events: [Event] {
    (0..<faults_event_count(layer)).map { index in
      let event = faults_event_at(layer, index)
      let file = String(cString: event.file)
      switch event.kind {
      case FAULTS_WRITE:
        return .write(
          file: file, offset: Int(event.offset),
          bytes: Array(UnsafeBufferPointer(start: event.data, count: event.count)))
      case FAULTS_TRUNCATE: return .truncate(file: file, size: Int(event.offset))
      case FAULTS_SYNC: return .sync(file: file)
      default: return .mark(Int(event.offset))
      }
    }
  }
}

/// The files after a power cut: synced writes are present, unsynced ones may be lost or torn.
struct DiskImage {
  private var durable: [String: [UInt8]] = [:]
  private var pending: [String: [FaultyDisk.Event]] = [:]

  /// Records one event.
  mutating func follow(_ event: FaultyDisk.Event) {
    switch event {
    case .write(let file, _, _), .truncate(let file, _): pending[file, default: []].append(event)
    case .sync(let file):
      for event in pending.removeValue(forKey: file) ?? [] { Self.apply(event, to: &durable) }
    case .mark: break
    }
  }

  /// Whether all writes to the file have been synced.
  func isSynced(_ file: String) -> Bool { pending[file, default: []].isEmpty }

  /// Returns the files after a power cut. Each unsynced write is lost, torn or retained at random.
  func afterPowerCut(using random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var files = durable
    for (_, events) in pending.sorted(by: { $0.key < $1.key }) {
      let luck = Int.random(in: 0...4, using: &random)
      for event in events {
        switch luck == 0 ? 0 : luck == 1 ? 3 : Int.random(in: 0...3, using: &random) {
        case 0: continue
        case 1: Self.apply(Self.torn(event, using: &random), to: &files)
        default: Self.apply(event, to: &files)
        }
      }
    }
    return files
  }

  /// Returns the files after a kill of the process: the system still has every write.
  func afterKill() -> [String: [UInt8]] {
    var files = durable
    for event in pending.values.joined() { Self.apply(event, to: &files) }
    return files
  }

  private static func torn(
    _ event: FaultyDisk.Event, using random: inout some RandomNumberGenerator
  ) -> FaultyDisk.Event {
    guard case .write(let file, let offset, let bytes) = event else { return event }
    let sectors = Int.random(in: 0...bytes.count / 512, using: &random)
    return .write(file: file, offset: offset, bytes: Array(bytes.prefix(sectors * 512)))
  }

  private static func apply(_ event: FaultyDisk.Event, to files: inout [String: [UInt8]]) {
    switch event {
    case .write(let file, let offset, let bytes):
      let missing = offset + bytes.count - files[file, default: []].count
      if missing > 0 {
        // Not `repeatElement`, which takes seconds in code that is not optimised.
        files[file, default: []] += [UInt8](repeating: 0, count: missing)
      }
      files[file, default: []].replaceSubrange(offset..<offset + bytes.count, with: bytes)
    case .truncate(let file, let size):
      let count = files[file, default: []].count
      if size < count { files[file, default: []].removeLast(count - size) }
    case .sync, .mark: break
    }
  }
}
