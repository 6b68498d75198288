public import ParleyGatewayPorts

/// The rule for the entries that compaction retains.
///
/// An entry is removed if it is neither recent by count nor by age. The text, texts of named
/// versions and the marks of all clients are always retained: a client that resumes from before the
/// base receives a snapshot, and its repeated changes are recognised by their sequence.
public struct Retention: Sendable, Equatable {
  /// The minimum number of newest entries that are retained, regardless of age.
  public var entriesMin: Int
  /// The minimum age of removed entries, in milliseconds.
  public var ageMin: Timestamp

  /// Creates a rule.
  public init(entriesMin: Int, ageMin: Timestamp) {
    self.entriesMin = entriesMin
    self.ageMin = ageMin
  }

  /// Whether a log exceeds the retained entries by enough to be worth compacting.
  package func isOverlong(_ row: borrowing DocumentRow) -> Bool {
    isOverlong(revision: row.revision, base: row.base)
  }

  /// Whether a log with this head and base is overlong.
  package func isOverlong(revision: Int, base: Int) -> Bool {
    revision - base >= entriesMin + max(entriesMin / 2, 1_000)
  }

  /// Returns the revision to compact a log to; `nil` if no entry can be removed.
  ///
  /// - Parameter lastRevision: Returns the last revision that was accepted at a time or before.
  package func base(
    of row: DocumentRow, now: Timestamp,
    lastRevision: (Timestamp) throws(StoreError) -> Int
  ) throws(StoreError) -> Int? {
    let byCount = row.revision - max(entriesMin, 0)
    guard byCount > row.base else { return nil }
    let base = min(byCount, try lastRevision(now - ageMin))
    return base > row.base ? base : nil
  }
}
