import SocketMessages

extension ResumePoint {
  /// The revision after which entries are needed. The entry at the point itself tells whether the client
  /// means the same history.
  var firstNeeded: Int { revision - (change == nil || revision == 0 ? 0 : 1) }

  /// Whether entries are needed that a document in memory does not have.
  func needsHistory(of live: LiveDocument?) -> Bool {
    guard let live, epoch == live.epoch, revision <= live.durableRevision else { return false }
    return firstNeeded >= 0 && firstNeeded < live.oldestBase
  }
}
