/// The work that waits for one document, oldest first. Its owner bounds it by `GatewaySettings.waitingMax`.
struct WaitingQueue {
  /// The approximate bytes that wait in resting documents, over all of them.
  final class Sum {
    var bytes = 0
  }

  /// The work, oldest first.
  private(set) var all: [WaitingWork] = []
  /// The approximate bytes of it.
  private var byteCount = 0
  /// The sum in which these bytes count while the document rests.
  private var restingSum: Sum?

  /// Whether the work continues in another turn.
  var isResting: Bool { restingSum != nil }

  /// Whether changes or edits wait.
  var hasChanges: Bool { all.contains(where: \.isChange) }

  /// Adds work behind all other.
  mutating func append(_ work: WaitingWork) {
    let bytes = work.byteCount
    all.append(work)
    byteCount += bytes
    restingSum?.bytes += bytes
  }

  /// Removes and returns all of it.
  mutating func takeAll() -> [WaitingWork] {
    defer {
      restingSum?.bytes -= byteCount
      all = []
      byteCount = 0
    }
    return all
  }

  /// Replaces work by other work of as many bytes, where there is a replacement.
  ///
  /// - Complexity: O(*n*) waiting.
  mutating func replace(by replacement: (WaitingWork) -> WaitingWork?) {
    for (index, work) in all.enumerated() {
      if let other = replacement(work) { all[index] = other }
    }
  }

  /// Defers all of it, and all that follows, to another turn.
  ///
  /// - Precondition: the document does not rest.
  mutating func rest(countedIn sum: Sum) {
    precondition(!isResting, "a document rests once")
    sum.bytes += byteCount
    restingSum = sum
  }

  /// Ends the deferral.
  mutating func endRest() {
    restingSum?.bytes -= byteCount
    restingSum = nil
  }
}
