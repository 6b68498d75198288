import OTCore

extension DocumentRoom {
  /// Milliseconds after which an unused encoded text is discarded.
  private static let sharedTextMilliseconds: Int64 = 5_000

  /// Returns the bytes to encode in order to send the text to a joining client: 0 if only missed
  /// changes are sent, or if the text is already encoded.
  func textWork(of joining: DocumentJoining, by dialect: Dialect) -> Int {
    guard let live, live.entries(missedSince: joining.resume) == nil else { return 0 }
    let isThere = dialect.traits.sharesTexts && sharedText?.revision == live.durableRevision
    return isThere ? 0 : live.durableDocument.utf8Count
  }

  /// Discards an encoded text of an older revision, and one that has not been used recently.
  func forgetSharedText(now: Int64) {
    guard let kept = sharedText else { return }
    if kept.revision != live?.durableRevision || now - kept.usedAt >= Self.sharedTextMilliseconds {
      sharedText = nil
    }
  }
}
