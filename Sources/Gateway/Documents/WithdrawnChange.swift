import ParleyGatewayPorts

/// A change that was to be committed and was taken back, and the receiver of its answer.
struct WithdrawnChange {
  let submission: LiveDocument.Submission
  /// The time of its arrival, in microseconds.
  let arrival: Int64
  var follower: (subscription: Subscription, messageID: String)?
  var edit: ServerEdit.Pending?
}

/// A log's entries of clients whose changes have no numbers.
///
/// Only this node knows these clients' ids, and an append is done as a whole: so if the log has some of a
/// client's withdrawn changes, they are the first, in order.
struct EntriesWithoutNumbers {
  /// Entries by client, the newest first.
  private var entries: ExactDictionary<[LogEntry]> = [:]

  /// - Parameters:
  ///   - adopted: Entries of the log.
  ///   - withdrawn: Changes that were taken back; the log may have some of them.
  init(_ adopted: ArraySlice<LogEntry>, of withdrawn: [WithdrawnChange]) {
    for change in withdrawn where !change.submission.isResendable {
      entries[change.submission.client] = []
    }
    guard !entries.isEmpty else { return }
    for entry in adopted.reversed() where entries[entry.client] != nil {
      entries[entry.client]?.append(entry)
    }
  }

  /// The revision of a change without a number that the log has already. An earlier entry may be a change
  /// that was refused while its outcome was unknown.
  mutating func take(_ change: WithdrawnChange) -> Int? {
    guard !change.submission.isResendable else { return nil }
    let digest = LiveDocument.digest(of: change.submission)
    while let entry = entries[change.submission.client]?.popLast() {
      if entry.digest == digest { return entry.revision }
    }
    return nil
  }
}
