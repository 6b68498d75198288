import ParleyGatewayPorts

/// A change that was withdrawn before its commit, and the receiver of its answer.
struct WithdrawnChange {
  let submission: LiveDocument.Submission
  /// The arrival time, in microseconds.
  let arrival: Int64
  var follower: (subscription: Subscription, messageID: String)?
  var edit: ServerEdit.Pending?
}

/// Log entries of clients whose changes have no sequence numbers.
///
/// Only this node knows these clients' ids, and an append is atomic. So if the log contains some of
/// a client's withdrawn changes, they are the first ones, in order.
struct EntriesWithoutNumbers {
  /// Entries by client, newest first.
  private var entries: ExactDictionary<[LogEntry]> = [:]

  /// - Parameters:
  ///   - adopted: Entries of the log.
  ///   - withdrawn: Withdrawn changes; the log may contain some of them.
  init(_ adopted: ArraySlice<LogEntry>, of withdrawn: [WithdrawnChange]) {
    for change in withdrawn where !change.submission.isResendable {
      entries[change.submission.client] = []
    }
    guard !entries.isEmpty else { return }
    for entry in adopted.reversed() where entries[entry.client] != nil {
      entries[entry.client]?.append(entry)
    }
  }

  /// Returns the revision of a change without a number that the log already contains. Entries
  /// before it are skipped: they may be changes that were refused while their outcome was unknown.
  mutating func take(_ change: WithdrawnChange) -> Int? {
    guard !change.submission.isResendable else { return nil }
    let digest = LiveDocument.digest(of: change.submission)
    while let entry = entries[change.submission.client]?.popLast() {
      if entry.digest == digest { return entry.revision }
    }
    return nil
  }
}
