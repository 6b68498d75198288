import OTCore

extension DocumentRoom {
  /// Milliseconds for which an encoded text is kept that is not asked for.
  private static let sharedTextMilliseconds: Int64 = 5_000

  /// The work of sending a newcomer the text, in bytes that are encoded: none if only missed changes are
  /// sent, or if the text has been encoded for others.
  func textWork(of joining: DocumentJoining, by dialect: Dialect) -> Int {
    guard let live, live.entries(missedSince: joining.resume) == nil else { return 0 }
    let isThere = dialect.traits.sharesTexts && sharedText?.revision == live.durableRevision
    return isThere ? 0 : live.durableDocument.utf8Count
  }

  /// Forgets an encoded text that is of an older revision, or that was not asked for lately.
  func forgetSharedText(now: Int64) {
    guard let kept = sharedText else { return }
    if kept.revision != live?.durableRevision || now - kept.usedAt >= Self.sharedTextMilliseconds {
      sharedText = nil
    }
  }
}
