import ParleyGatewayPorts
import OTCore

/// The accepted changes of one document that are not durable yet, and the commit of the oldest.
///
/// Invariant: one change for each tentative entry of the document, in the same order.
struct UncommittedChanges {
  /// A commit that is under way.
  struct Commit {
    let ticket: StoreTicket
    /// The HTTP edits whose answers the commit stores, in the order of the answers.
    let kept: [RequestID]
  }

  /// An accepted change.
  struct Change {
    /// The arrival time, in microseconds.
    let arrival: Int64
    /// The approximate bytes that the change counts in the backlog.
    let weight: Int
  }

  /// The changes, oldest first.
  private var changes: [Change] = []
  private var commit: Commit?
  /// The pace of the commits.
  private(set) var pace = BroadcastPacer()
  /// HTTP edits by revision, each answered when its revision is durable.
  private(set) var edits: [Int: ServerEdit.Pending] = [:]

  /// Adds an accepted change, and counts it in the backlog.
  ///
  /// - Parameter arrival: The arrival time, in microseconds.
  mutating func add(
    _ submission: LiveDocument.Submission, at arrival: Int64, to backlog: inout StoreBacklog
  ) {
    let operation = submission.operation
    let weight =
      64 + operation.insertedBytes + 8 * operation.componentCount
      + (submission.format?.byteCount ?? 0)
    changes.append(Change(arrival: arrival, weight: weight))
    pace.wrote(submission.client)
    backlog.add(bytes: weight)
  }

  /// Registers an edit that is answered when its revision is durable.
  mutating func expect(_ edit: ServerEdit.Pending?, as revision: Int) { edits[revision] = edit }

  /// Removes and returns the edit that became a revision.
  mutating func takeEdit(_ revision: Int) -> ServerEdit.Pending? {
    edits.isEmpty ? nil : edits.removeValue(forKey: revision)
  }

  /// Records the start of a commit.
  mutating func begin(_ commit: Commit, at now: Int64) {
    self.commit = commit
    pace.begin(at: now)
  }

  /// Ends and returns the commit that a reply belongs to; `nil` if it is not under way.
  mutating func endCommit(_ ticket: StoreTicket) -> Commit? {
    guard let commit, commit.ticket == ticket else { return nil }
    self.commit = nil
    return commit
  }

  /// Removes and returns the oldest changes, which are durable.
  mutating func take(_ count: Int, from backlog: inout StoreBacklog) -> ArraySlice<Change> {
    defer { changes.removeFirst(count) }
    let taken = changes.prefix(count)
    backlog.remove(taken.count, bytes: taken.reduce(0) { $0 + $1.weight })
    return taken
  }

  /// Removes and returns all changes, which were withdrawn or have failed.
  @discardableResult
  mutating func takeAll(from backlog: inout StoreBacklog) -> ArraySlice<Change> {
    take(changes.count, from: &backlog)
  }

  /// Records the delivery of entries to followers.
  mutating func sent(_ entries: ArraySlice<LogEntry>) { pace.sent(entries) }
}
