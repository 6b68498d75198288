import GatewayPorts
import StoreRecords

/// Finding revisions by their time, though the clock may have been set back.
///
/// Between two places where it was, times rise, and a search by halves finds a revision. The places
/// are kept beside the log, for there are few and often none.
///
/// ```
/// revision    1      2      3      4      5      6
/// time      10:00  10:01  17:30  17:31  10:02  10:03
///                                       └ set back before 5
/// ```
extension SQLiteStore {
  /// Places kept for one document; beyond, the oldest are forgotten.
  private static let setBacksMax = 1_000

  /// The revision to compact a log to, `nil` if there is too little to gain.
  func base(
    of row: DocumentRow, keeping retention: Retention, now: Timestamp
  ) throws(StoreError) -> Int? {
    try retention.base(of: row, now: now) { time throws(StoreError) in
      try lastRevision(at: time, of: row)
    }
  }

  /// The last revision accepted not later than a time, or the base.
  ///
  /// - Complexity: O(*s* log *n*) for *s* times at which the clock was set back by more than
  ///   ``TimeOrder/pullMax``.
  func lastRevision(at time: Timestamp, of row: DocumentRow) throws(StoreError) -> Int {
    guard row.revision > row.base else { return row.base }
    let starts =
      [row.base + 1]
      + (try setBacks(of: row)).filter { $0 > row.base + 1 && $0 <= row.revision }
    var end = row.revision
    for start in starts.reversed() {
      if try self.time(at: start, of: row) <= time {
        return try lastRevision(at: time, of: row, in: start...end)
      }
      end = start - 1
    }
    return row.base
  }

  /// The last revision of a range not later than a time, whose first one is not later.
  private func lastRevision(
    at time: Timestamp, of row: DocumentRow, in range: ClosedRange<Int>
  ) throws(StoreError) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high + 1) / 2
      if try self.time(at: middle, of: row) <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }

  private func time(at revision: Int, of row: DocumentRow) throws(StoreError) -> Timestamp {
    var time: Timestamp = 0
    try walk(
      row, after: revision - 1, through: revision, chain: try chain(at: revision - 1, of: row)
    ) { entry throws(StoreError) in
      time = entry.time
    }
    return time
  }

  // MARK: Where the clock was set back

  private static func name(of document: Int) -> String { "clock:\(document)" }

  /// The revisions before which the clock was set back, ascending.
  private func setBacks(of row: DocumentRow) throws(StoreError) -> [Int] {
    Self.setBacks(try meta(Self.name(of: row.number)) ?? [])
  }

  /// Revisions as they are kept among the small values.
  static func setBacks(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  /// Takes a time into a document's record, and notes where the clock was set back.
  ///
  /// - Parameter revision: The first one that may have the new time.
  func note(
    _ time: Timestamp, before revision: Int, in row: inout DocumentRow
  ) throws(StoreError) {
    if TimeOrder.isSetBack(from: row.updatedAt, to: time) {
      var revisions = try setBacks(of: row)
      if revisions.last != revision { revisions.append(revision) }
      let (name, bytes) = Self.setBacks(revisions, ofDocument: row.number)
      try keepMeta(name, value: bytes)
    }
    row.updatedAt = TimeOrder.following(row.updatedAt, time)
  }

  /// The newest revisions as they are kept among the small values, and the name for them.
  static func setBacks(
    _ revisions: [Int], ofDocument number: Int
  ) -> (name: String, value: [UInt8]) {
    let bytes = revisions.suffix(setBacksMax).flatMap { revision in
      (0..<8).map { UInt8(truncatingIfNeeded: revision >> (8 * $0)) }
    }
    return (name(of: number), bytes)
  }

  /// Forgets what is noted of a document that is gone.
  func forgetSetBacks(ofDocument number: Int) throws(StoreError) {
    try sql("DELETE FROM meta WHERE name = ?").run(Self.name(of: number))
  }
}
