/// The work that waits for one document, oldest first: `GatewaySettings.waitingMax` items at most.
struct WaitingQueue {
  /// The approximate bytes of waiting work, over all resting documents.
  final class Sum {
    var bytes = 0
  }

  /// The work, oldest first.
  private(set) var all: [WaitingWork] = []
  /// The approximate bytes of the work.
  private var byteCount = 0
  /// The sum that includes these bytes while the document rests.
  private var restingSum: Sum?

  /// Whether the work is deferred to another turn.
  var isResting: Bool { restingSum != nil }

  /// Whether changes or edits wait.
  var hasChanges: Bool { all.contains(where: \.isChange) }

  /// Appends work.
  mutating func append(_ work: WaitingWork) {
    let bytes = work.byteCount
    all.append(work)
    byteCount += bytes
    restingSum?.bytes += bytes
  }

  /// Removes and returns all work.
  mutating func takeAll() -> [WaitingWork] {
    defer {
      restingSum?.bytes -= byteCount
      all = []
      byteCount = 0
    }
    return all
  }

  /// Replaces work by work of equal `byteCount`; `nil` from `replacement` leaves it unchanged.
  ///
  /// - Complexity: O(*n*) waiting work items.
  mutating func replace(by replacement: (WaitingWork) -> WaitingWork?) {
    for (index, work) in all.enumerated() {
      if let other = replacement(work) { all[index] = other }
    }
  }

  /// Defers all work, and work appended later, to another turn.
  ///
  /// - Precondition: The document does not rest.
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
