import ParleyGatewayPorts
import ParleyHashing

/// A copy of all rows of a store to a new store, which is usable only if every step succeeds.
///
///     check source ─▶ copy table by table ─▶ compare digests ─▶ check target ─▶ finish
///
/// Until it is finished, the target has the format number of an unfinished store
/// (``UnfinishedFormat``). Memory is limited to one batch of rows, regardless of the size of the
/// store.
public struct StoreMove {
  /// The result of a move.
  public struct Result: Sendable {
    /// The number of copied rows of each table.
    public var rows: [(table: String, count: Int)] = []
    /// The findings of the new store's check.
    public var findings = StoreFindings()
    /// The digest of all rows, equal in source and target, in hexadecimal digits.
    public var digest = ""
  }

  /// A step of the move, to report progress.
  public enum Step: Sendable, Equatable {
    case checkingSource
    case copying(table: String, rows: Int, of: Int)
    case comparing(table: String)
    case checkingTarget
  }

  private let source: any MovableStore
  private let target: any UnfinishedStore

  /// Creates a move that has not begun.
  public init(from source: any MovableStore, to target: any UnfinishedStore) {
    self.source = source
    self.target = target
  }

  /// Checks the source, copies and compares all tables, and checks and finishes the target.
  ///
  /// - Parameters:
  ///   - beforeFinish: Called when the target is complete, before it is marked as finished.
  ///   - progress: Called at each step, and after each batch.
  public func run(
    beforeFinish: () throws -> Void = {}, progress: (Step) -> Void
  ) throws -> Result {
    progress(.checkingSource)
    try refuse(try source.check(), "the source")
    var result = Result()
    var digests: [[UInt8]] = []
    for table in StoreTable.all {
      let total = try source.count(of: table)
      var digest = TableDigest(table)
      progress(.copying(table: table.name, rows: 0, of: total))
      try source.read(table) { rows throws(StoreError) in
        digest.add(rows)
        try target.write(rows, to: table)
        progress(.copying(table: table.name, rows: digest.rowCount, of: total))
      }
      result.rows.append((table.name, digest.rowCount))
      digests.append(digest.bytes)
    }
    for (table, digest) in zip(StoreTable.all, digests) {
      progress(.comparing(table: table.name))
      var copied = TableDigest(table)
      try target.read(table) { rows throws(StoreError) in copied.add(rows) }
      guard copied.bytes == digest else { throw StoreMoveError.different(table: table.name) }
    }
    progress(.checkingTarget)
    result.findings = try target.check()
    try refuse(result.findings, "the copy")
    try beforeFinish()
    try target.finish()
    result.digest = TableDigest.text(of: digests)
    return result
  }

  private func refuse(_ findings: StoreFindings, _ which: String) throws(StoreMoveError) {
    guard let first = findings.problems.first else { return }
    throw .unsound(which: which, count: findings.problems.count, first: first.description)
  }
}

/// The reason why a store was not moved. The source is unchanged.
public enum StoreMoveError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The source or the copy has problems.
  case unsound(which: String, count: Int, first: String)
  /// A table's rows differ between source and copy.
  case different(table: String)

  /// The problem, and for different rows also the remedy.
  public var description: String {
    switch self {
    case .unsound(let which, let count, let first):
      "\(which) has \(count) problems; first: \(first)"
    case .different(let table):
      "the copy of the table \(table) differs from the source; check that no other process writes to "
        + "either, then run parley migrate again"
    }
  }
}

/// A digest of a table's rows in order.
struct TableDigest {
  private(set) var rowCount = 0
  private(set) var bytes: [UInt8]
  private let hash = SharedHash()

  init(_ table: StoreTable) { bytes = hash.sha.hash(Array(table.name.utf8)).bytes }

  mutating func add(_ rows: [[StoreCell]]) {
    var all = bytes
    for row in rows {
      for cell in row {
        switch cell {
        case .none: all.append(0)
        case .integer(let value):
          all.append(1)
          withUnsafeBytes(of: value.bigEndian) { all.append(contentsOf: $0) }
        case .bytes(let value):
          all.append(2)
          withUnsafeBytes(of: Int64(value.count).bigEndian) { all.append(contentsOf: $0) }
          all.append(contentsOf: value)
        }
      }
      // Hash row by row, since source and target divide rows into batches differently.
      bytes = hash.sha.hash(all).bytes
      all.removeAll(keepingCapacity: true)
      all.append(contentsOf: bytes)
    }
    rowCount += rows.count
  }

  /// Returns the digest of all tables' digests.
  static func text(of digests: [[UInt8]]) -> String {
    SHA256().hash(digests.flatMap(\.self)).bytes.hexadecimal
  }

  private final class SharedHash {
    let sha = SHA256()
  }
}
