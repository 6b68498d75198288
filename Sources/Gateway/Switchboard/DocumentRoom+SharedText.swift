import OTCore

extension DocumentRoom {
  /// Milliseconds for which an encoded text is kept that nobody asks for.
  private static let sharedTextMilliseconds: Int64 = 5_000

  /// Forgets an encoded text that is of an older revision, or that nobody has asked for lately.
  func forgetSharedText(now: Int64) {
    guard let kept = sharedText else { return }
    if kept.revision != live?.durableRevision || now - kept.usedAt >= Self.sharedTextMilliseconds {
      sharedText = nil
    }
  }
}
