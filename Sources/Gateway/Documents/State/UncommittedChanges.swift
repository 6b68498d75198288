import ParleyGatewayPorts

/// The changes of one document that were taken and are not durable yet, and the commit of the first of them.
///
/// There is one for each tentative entry of the document, in the same order.
struct UncommittedChanges {
  /// A commit that is under way.
  struct Commit {
    let ticket: StoreTicket
    /// The edits over HTTP whose answers are kept in it, in their order there.
    let kept: [RequestID]
  }

  /// A change that was taken.
  struct Change {
    /// The time of its arrival, in microseconds.
    let arrival: Int64
    /// The approximate bytes that it counts for.
    let weight: Int
  }

  /// The changes, oldest first.
  private var changes: [Change] = []
  private var commit: Commit?
  /// The pace of the commits.
  private(set) var pace = BroadcastPacer()
  /// Edits over HTTP that are answered when they are durable, by their revisions.
  private(set) var edits: [Int: ServerEdit.Pending] = [:]

  /// A change was taken.
  mutating func add(_ change: Change, of author: String) {
    changes.append(change)
    pace.wrote(author)
  }

  /// An edit is answered when its revision is durable.
  mutating func expect(_ edit: ServerEdit.Pending?, as revision: Int) { edits[revision] = edit }

  /// Removes and returns the edit that became a revision.
  mutating func takeEdit(_ revision: Int) -> ServerEdit.Pending? {
    edits.isEmpty ? nil : edits.removeValue(forKey: revision)
  }

  /// A commit begins.
  mutating func begin(_ commit: Commit, at now: Int64) {
    self.commit = commit
    pace.begin(at: now)
  }

  /// Ends the commit that a reply belongs to, and returns it; `nil` if it was given up.
  mutating func endCommit(_ ticket: StoreTicket) -> Commit? {
    guard let commit, commit.ticket == ticket else { return nil }
    self.commit = nil
    return commit
  }

  /// Removes and returns the oldest changes, which are durable.
  mutating func take(_ count: Int) -> ArraySlice<Change> {
    defer { changes.removeFirst(count) }
    return changes.prefix(count)
  }

  /// Removes and returns all changes, which were taken back.
  mutating func takeAll() -> [Change] {
    defer { changes = [] }
    return changes
  }

  /// Followers received entries.
  mutating func sent(_ entries: ArraySlice<LogEntry>) { pace.sent(entries) }
}
