import ParleyGatewayPorts
import SocketMessages

extension ResumePoint {
  /// The revision after which entries are needed. The entry at the point itself shows whether the client
  /// has the same history.
  var firstNeeded: Int { revision - (change == nil || revision == 0 ? 0 : 1) }

  /// Whether entries are needed that a document in memory does not hold.
  func needsHistory(of live: LiveDocument?) -> Bool {
    guard let live, epoch == live.epoch, revision <= live.durableRevision else { return false }
    return firstNeeded >= 0 && firstNeeded < live.oldestBase
  }
}

extension LiveDocument {
  /// The entries that a resuming client has missed; `nil` when it needs the text instead.
  func entries(missedSince resume: ResumePoint?) -> ArraySlice<LogEntry>? {
    // Its own entry, which would be compared, is no longer in memory: it may be another one by now.
    if let resume, resume.firstNeeded < oldestBase { return nil }
    guard let resume, resume.epoch == epoch,
      (oldestBase...durableRevision).contains(resume.revision)
    else { return nil }
    if let known = resume.change, let entry = durableEntry(at: resume.revision),
      known != entry.name(withTime: known.time != nil)
    {
      // The same number, another change: the client's tail was lost here and written over. Or the same
      // change, sent and written again after that, on a history that may be another.
      return nil
    }
    return durableEntries(after: resume.revision)
  }
}
