import ParleyGatewayPorts

/// The reads of one document's log that several nodes share, and the work that waits for them.
///
///     ask ─▶ takeAsking ─▶ begin (sessions) ─▶ begin (entries) ─▶ end ─▶ the work continues
///     hear, unsettle ─▶ isWanted ─▶ …                               └──▶ askAgain: more is to be read
///
/// One read is under way at a time. Nothing is handed to the store meanwhile, so that the entries that are read
/// follow those known.
struct LogReading {
  /// A read that is under way.
  struct Read {
    let ticket: StoreTicket
    /// Work that continues with its reply.
    let asking: [WaitingWork]
    /// The sessions that began before it.
    let sessions: [String: Int]
  }

  /// Reads that fail in a row before the changes whose outcome is unknown are refused.
  private static let failedReadsMax = 3

  /// Work that needs to know the newest entries: it waits for a read that begins later.
  private var asking: [WaitingWork] = []
  /// The read that is under way.
  private(set) var read: Read?
  /// The newest revision by hints; 0 without a hint since the last read, `Int.max` if whatever the log has is to
  /// be read.
  private var heardRevision = 0
  /// The reads that have failed since the outcome of a commit became unknown; `nil` while it is known.
  private var failedReads: Int?

  /// Whether the outcome of the last commit is unknown.
  var isUnsettled: Bool { failedReads != nil }

  /// Whether a read is under way or work waits for one.
  var isIdle: Bool { read == nil && asking.isEmpty }

  /// All work that waits for a read.
  var allAsking: [WaitingWork] { (read?.asking ?? []) + asking }

  /// The amount of it.
  var askingCount: Int { asking.count + (read?.asking.count ?? 0) }

  /// Whether a read should begin now.
  func isWanted(by live: LiveDocument) -> Bool {
    guard read == nil else { return false }
    let isHeardOf = heardRevision > live.durableRevision && live.isSettled
    return isHeardOf || isUnsettled || !asking.isEmpty
  }

  // MARK: Reasons

  /// Work needs a read that begins from now on.
  mutating func ask(_ work: WaitingWork) { asking.append(work) }

  /// Work needs another read, before all other work.
  mutating func askAgain(_ works: [WaitingWork]) { asking = works + asking }

  /// The log has a revision, by a hint.
  mutating func hear(of revision: Int) { heardRevision = max(heardRevision, revision) }

  /// Whatever the log has is to be read.
  mutating func hearOfAny() { heardRevision = .max }

  /// Forgets the hints: they were wrong, or a read that is about to begin replaces them.
  mutating func forgetHints() { heardRevision = 0 }

  /// The outcome of a commit is unknown.
  mutating func unsettle() { failedReads = 0 }

  // MARK: Reading

  /// Removes and returns the work for the next read.
  mutating func takeAsking() -> [WaitingWork] {
    precondition(read == nil, "one read of a log is under way at a time")
    defer { asking = [] }
    return asking
  }

  /// A read has begun: of the sessions, or of the entries.
  mutating func begin(
    _ ticket: StoreTicket, for asking: [WaitingWork], sessions: [String: Int] = [:]
  ) {
    read = Read(ticket: ticket, asking: asking, sessions: sessions)
  }

  /// The read that a reply belongs to; `nil` if that has ended.
  func read(_ ticket: StoreTicket) -> Read? { read?.ticket == ticket ? read : nil }

  /// The read is over.
  mutating func end() { read = nil }

  /// The outcome of all commits is known.
  mutating func settle() { failedReads = nil }

  /// The log could not be read while the outcome of a commit is unknown.
  ///
  /// - Returns: Whether this was the last try: the changes are to be refused.
  mutating func giveUp() -> Bool {
    guard let failed = failedReads, failed + 1 >= Self.failedReadsMax else {
      failedReads? += 1
      return false
    }
    failedReads = nil
    // They may be in the log all the same: it is read before a client is answered.
    hearOfAny()
    return true
  }

  /// Removes and returns all work that waits for a read, also for the one under way, whose reply is dropped.
  mutating func takeAll() -> [WaitingWork] {
    defer {
      asking = []
      read = nil
    }
    return allAsking
  }
}
