import ParleyGatewayPorts

/// Reads of one document's shared log, and the work that waits for them.
///
///     ask ─▶ takeAsking ─▶ begin (sessions) ─▶ begin (entries) ─▶ end ─▶ the work continues
///     hear, unsettle ─▶ isWanted ─▶ …                               └──▶ requeue: more is to be read
///
/// At most one read is in progress. During a read, no commit is sent to the store, so that the
/// entries that are read follow the known entries.
struct LogReading {
  /// A read that is under way.
  struct Read {
    let ticket: StoreTicket
    /// Work that continues with the read's reply.
    let asking: [WaitingWork]
    /// Sessions that began before the read, by client.
    let sessions: [String: Int]
  }

  /// The maximum failed reads in a row; then changes of unknown outcome are refused.
  private static let failedReadsMax = 3

  /// Work that needs the newest entries, from a read that begins later.
  private var asking: [WaitingWork] = []
  /// The read that is under way.
  private(set) var read: Read?
  /// The newest revision that hints have reported since the last read; 0 without a hint, `Int.max`
  /// to read the log whatever its revision.
  private var heardRevision = 0
  /// Failed reads since the outcome of a commit became unknown; `nil` while it is known.
  private var failedReads: Int?

  /// Whether the outcome of the last commit is unknown.
  var isUnsettled: Bool { failedReads != nil }

  /// Whether no read is under way and no work waits for one.
  var isIdle: Bool { read == nil && asking.isEmpty }

  /// All work that waits for a read.
  var allAsking: [WaitingWork] { (read?.asking ?? []) + asking }

  /// The number of work items that wait for a read.
  var askingCount: Int { asking.count + (read?.asking.count ?? 0) }

  /// Whether a read should begin now.
  func isWanted(by live: LiveDocument) -> Bool {
    guard read == nil else { return false }
    let isHeardOf = heardRevision > live.durableRevision && live.isSettled
    return isHeardOf || isUnsettled || !asking.isEmpty
  }

  // MARK: Reasons

  /// Queues work for a read that begins after this call.
  mutating func ask(_ work: WaitingWork) { asking.append(work) }

  /// Queues work for another read, before all other work.
  mutating func requeue(_ works: [WaitingWork]) { asking = works + asking }

  /// Records a revision that a hint reports.
  mutating func hear(of revision: Int) { heardRevision = max(heardRevision, revision) }

  /// Requests a read, whatever the log's revision.
  mutating func requestRead() { heardRevision = .max }

  /// Discards the hints: they were wrong, or the read about to begin supersedes them.
  mutating func forgetHints() { heardRevision = 0 }

  /// Records that the outcome of a commit is unknown.
  mutating func unsettle() { failedReads = 0 }

  // MARK: Reading

  /// Removes and returns the work for the next read.
  mutating func takeAsking() -> [WaitingWork] {
    precondition(read == nil, "one read of a log is under way at a time")
    defer { asking = [] }
    return asking
  }

  /// Records the start of a read: of the sessions, or of the entries.
  mutating func begin(
    _ ticket: StoreTicket, for asking: [WaitingWork], sessions: [String: Int] = [:]
  ) {
    read = Read(ticket: ticket, asking: asking, sessions: sessions)
  }

  /// Returns the read that a reply belongs to; `nil` if that read has ended.
  func read(_ ticket: StoreTicket) -> Read? { read?.ticket == ticket ? read : nil }

  /// Ends the read.
  mutating func end() { read = nil }

  /// Records that the outcomes of all commits are known.
  mutating func settle() { failedReads = nil }

  /// Counts a failed read; ignored while the outcomes of all commits are known.
  ///
  /// - Returns: Whether this was the last attempt; then the changes are refused.
  mutating func giveUp() -> Bool {
    guard let failed = failedReads, failed + 1 >= Self.failedReadsMax else {
      failedReads? += 1
      return false
    }
    failedReads = nil
    // The log may contain the changes nevertheless: read it before a client is answered.
    requestRead()
    return true
  }

  /// Removes and returns all work that waits for a read. The reply of a read under way is dropped.
  mutating func takeAll() -> [WaitingWork] {
    defer {
      asking = []
      read = nil
    }
    return allAsking
  }
}
