import ParleyGatewayPorts

/// The maximum entries that one query reads for a page of history.
private let stride = 128
/// The approximate bytes of operations that are read at once.
private let strideBytes = 1 << 20

/// Pages of history and of editing sessions, with limited work per page.
struct HistoryRules<Store: LogTable> {
  let store: Store
  private var logs: LogRules<Store> { LogRules(store: store) }
  private var texts: TextRules<Store> { TextRules(store: store) }

  /// - Complexity: O(`limit`) entries and the bytes of their operations, for a log of any length.
  func history(
    _ id: DocumentID, after: Int, limit: Int, pause: Timestamp
  ) throws(StoreError) -> HistoryPage {
    let row = try store.existingRow(id)
    var builder = HistoryPage.Builder(limit: limit, pause: pause)
    var revision = max(after, 0)
    guard revision < row.revision else { return builder.page(head: row.revision) }
    guard revision >= row.base else { throw .compacted(oldestRevision: row.base + 1) }
    var chain = try logs.chain(at: revision, of: row)
    while revision < row.revision, !builder.isFull {
      // Read in strides: the number of entries that fill a page is known only after reading them.
      let through = min(revision + stride, row.revision)
      chain = try logs.walk(row, after: revision, through: through, chain: chain) {
        entry throws(StoreError) in
        builder.take(entry.logEntry())
      }
      revision = through
    }
    return builder.page(head: row.revision)
  }

  /// - Complexity: At most ``EditingSessionPage/changesMax`` entries with
  ///   ``EditingSessionPage/bytesMax`` of operations, regardless of the log's length.
  func editingSessions(
    _ id: DocumentID, before: Int, limit: Int, pause: Timestamp
  ) throws(StoreError) -> EditingSessionPage {
    let row = try store.existingRow(id)
    var builder = EditingSessionPage.Builder(limit: limit, pause: pause)
    var end = min(max(before, 1) - 1, row.revision)
    var bytes = 0
    while end > row.base, !builder.isFull, bytes < EditingSessionPage.bytesMax {
      let start = try start(of: row, through: end, &bytes)
      var changes: [ChangeAmount] = []
      try logs.walk(row, after: start, through: end, chain: try logs.chain(at: start, of: row)) {
        entry throws(StoreError) in
        changes.append(
          ChangeAmount(
            revision: entry.revision, author: entry.author, time: entry.time, entry.operation))
      }
      for change in changes.reversed() { builder.take(change) }
      end = start
    }
    let isAtStart = builder.isFull || end <= row.base
    return builder.page(
      head: row.revision, oldest: row.base,
      nextTime: isAtStart ? nil : try logs.time(at: end, of: row))
  }

  /// Returns the revision before a stride that ends at `end`, limited by entries and by bytes.
  ///
  /// - Parameter bytes: Is increased by the bytes of the stride's operations.
  private func start(
    of row: DocumentRow, through end: Int, _ bytes: inout Int
  ) throws(StoreError) -> Int {
    let sizes = try store.rows(
      """
      SELECT CAST(length(operation) AS bigint) FROM log
      WHERE document = $1 AND revision > $2 AND revision <= $3 ORDER BY revision DESC LIMIT $4
      """, row.number, row.base, end, stride
    ) { $0.integer(0) }
    var start = end
    var taken = 0
    for size in sizes where taken <= strideBytes {
      start -= 1
      taken += size
    }
    guard start < end else { throw logs.damaged(end, "is missing") }
    bytes += taken
    return start
  }

  /// Compares the texts of two revisions.
  func difference(
    _ id: DocumentID, from: Int, to: Int
  ) throws(StoreError) -> DifferenceReply {
    let row = try store.existingRow(id)
    guard to <= row.revision else { throw .notNext(headRevision: row.revision) }
    let old = try texts.fold(of: row, at: max(from, 0)).text
    let new = from == to ? old : try texts.fold(of: row, at: to).text
    return TextDifference(from: old, to: new).map { .difference($0) } ?? .tooLong
  }
}
