import ParleyGatewayPorts
import OTCore

extension DocumentRoom {
  /// Milliseconds after which an unused encoded text is discarded.
  private static let sharedTextMilliseconds: Int64 = 5_000

  /// Returns the bytes to encode in order to send the text to a joining client: 0 if only missed
  /// changes are sent, or if the text is already encoded.
  func textWork(of joining: DocumentJoining, by dialect: Dialect) -> Int {
    guard let live, live.entries(missedSince: joining.resume) == nil else { return 0 }
    let isFormatted = joining.formats && live.durableContent.document.hasAttributes
    let text = sharedTexts[isFormatted: isFormatted]
    let isThere = dialect.traits.sharesTexts && text?.revision == live.durableRevision
    guard !isThere else { return 0 }
    return isFormatted ? live.durableContent.work : live.durableDocument.utf8Count
  }

  /// Discards encoded texts of an older revision, and those that have not been used recently.
  func forgetSharedText(now: Int64) {
    for isFormatted in [false, true] {
      guard let kept = sharedTexts[isFormatted: isFormatted] else { continue }
      if kept.revision != live?.durableRevision
        || now - kept.usedAt >= Self.sharedTextMilliseconds
      {
        sharedTexts[isFormatted: isFormatted] = nil
      }
    }
  }
}
