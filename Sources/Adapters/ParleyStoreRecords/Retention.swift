public import ParleyGatewayPorts

/// The part of a log that compaction keeps.
///
/// An entry is forgotten when it is neither among the newest nor young. Texts of named versions,
/// the marks of all clients, and the text itself stay in any case: a client that resumes from
/// before the base gets a snapshot, and what it re-sends is known by its sequence.
public struct Retention: Sendable, Equatable {
  /// The number of newest entries that are kept, whatever their age.
  public var entriesMin: Int
  /// Entries younger than this many milliseconds are kept.
  public var ageMin: Timestamp

  /// Makes a rule.
  public init(entriesMin: Int, ageMin: Timestamp) {
    self.entriesMin = entriesMin
    self.ageMin = ageMin
  }

  /// Whether a log is so much longer than what is kept that it is worth a look.
  package func isOverlong(_ row: borrowing DocumentRow) -> Bool {
    isOverlong(revision: row.revision, base: row.base)
  }

  /// Whether a log with this head and this base is so much longer.
  package func isOverlong(revision: Int, base: Int) -> Bool {
    revision - base >= entriesMin + max(entriesMin / 2, 1_000)
  }

  /// The revision to compact a log to, `nil` if there is too little to gain.
  ///
  /// - Parameter lastRevision: The last revision accepted not later than a time.
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
