import ParleyGatewayPorts

/// The search for revisions by time, even if the clock was set back.
///
/// Between two clock set-backs the times ascend, so a binary search finds a revision.
///
/// ```
/// revision    1      2      3      4      5      6
/// time      10:00  10:01  17:30  17:31  10:02  10:03
///                                       └ set back before 5
/// ```
package struct LogTimes<Store: LogTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }

  package init(store: Store) { self.store = store }

  /// Returns the revision to compact a log to; `nil` if no entry can be removed.
  func base(
    of row: DocumentRow, keeping retention: Retention, now: Timestamp
  ) throws(StoreError) -> Int? {
    try retention.base(of: row, now: now) { time throws(StoreError) in
      try lastRevision(at: time, of: row)
    }
  }

  /// Returns the last revision that was accepted at `time` or before; the base if no revision is that old.
  ///
  /// - Complexity: O(*s* log *n*) for *s* times at which the clock was set back by more than
  ///   ``TimeOrder/adjustmentMax``.
  func lastRevision(at time: Timestamp, of row: DocumentRow) throws(StoreError) -> Int {
    guard row.revision > row.base else { return row.base }
    let starts =
      [row.base + 1]
      + (try store.setBacks(of: row)).filter { $0 > row.base + 1 && $0 <= row.revision }
    var end = row.revision
    for start in starts.reversed() {
      if try logs.time(at: start, of: row) <= time {
        return try lastRevision(at: time, of: row, in: start...end)
      }
      end = start - 1
    }
    return row.base
  }

  /// Returns the last revision of a range that was accepted at `time` or before. The first one was.
  private func lastRevision(
    at time: Timestamp, of row: DocumentRow, in range: ClosedRange<Int>
  ) throws(StoreError) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high + 1) / 2
      if try logs.time(at: middle, of: row) <= time { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
