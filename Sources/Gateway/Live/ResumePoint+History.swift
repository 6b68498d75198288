import ParleyGatewayPorts
import SocketMessages

extension ResumePoint {
  /// The revision after which entries are needed. If the client names its last change, the entry at
  /// the resume point is included: it shows whether the client has the same history.
  var firstNeeded: Int { revision - (change == nil || revision == 0 ? 0 : 1) }

  /// Whether entries are needed that precede those in memory.
  func needsHistory(of live: LiveDocument?) -> Bool {
    guard let live, Epoch(epoch) == live.epoch, revision <= live.durableRevision else {
      return false
    }
    return firstNeeded >= 0 && firstNeeded < live.oldestBase
  }
}

extension LiveDocument {
  /// Returns the entries that a resuming client has missed; `nil` if it needs the text instead.
  func entries(missedSince resume: ResumePoint?) -> ArraySlice<LogEntry>? {
    // The entry to compare with the client's last change is no longer in memory.
    if let resume, resume.firstNeeded < oldestBase { return nil }
    guard let resume, Epoch(resume.epoch) == epoch,
      (oldestBase...durableRevision).contains(resume.revision)
    else { return nil }
    if let known = resume.change, let entry = durableEntry(at: resume.revision),
      known != entry.name(withTime: known.time != nil)
    {
      // Another change has this revision: the log has lost the client's tail. Or it was committed
      // again after a resend, perhaps in another history.
      return nil
    }
    return durableEntries(after: resume.revision)
  }
}
