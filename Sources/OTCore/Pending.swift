/// An unconfirmed operation of a client, in the queue between the server's text and the local one.
///
/// The first entry's operation starts from the server's text, each other one from the text that the
/// entry before leaves.
struct Pending<Operation: SynchronizedOperation>: Sendable {
  /// Says what the server may know of the operation.
  enum State: Sendable {
    /// On its way, or answered already: first in the queue. Next: gone, when acknowledged; or
    /// `overtaken`, `refused`, `waiting`.
    case sent(Synchronizer<Operation>.Change)
    /// Sent, and the server's whole text came before an answer: the server refuses it. Next: gone,
    /// `refused`, `waiting`.
    case overtaken(Synchronizer<Operation>.Change)
    /// Refused for good, and visible to its author: first in the queue. Next: `waiting`.
    case refused
    /// Not sent by this synchroniser. One that was restored may have sent it before. Next: `sent`.
    case waiting
    /// Typed since the synchroniser was restored, so the server does not have the text. Next:
    /// `waiting`.
    case sinceRestored
  }

  var state: State
  /// Passes through everything that the server is heard to have stored.
  var operation: Operation
  /// The number of edits that it counts for.
  var edits = 1

  /// The change as it was sent, of one that was.
  var change: Synchronizer<Operation>.Change? {
    switch state {
    case .sent(let change), .overtaken(let change): change
    case .refused, .waiting, .sinceRestored: nil
    }
  }

  /// Whether it was sent, and is not known to be refused.
  var isSent: Bool {
    switch state {
    case .sent, .overtaken: true
    case .refused, .waiting, .sinceRestored: false
    }
  }

  /// Whether two neighbours may become one entry.
  fileprivate func joins(_ other: Pending) -> Bool {
    switch (state, other.state) {
    case (.waiting, .waiting), (.sinceRestored, .sinceRestored): true
    case (.sent, _), (.overtaken, _), (.refused, _), (.waiting, _), (.sinceRestored, _): false
    }
  }
}

extension Array {
  /// Puts an entry behind the others.
  ///
  /// Entries of one state are composed when they are about alike, like the digits of a counter: the
  /// queue has few of them, and composing a long run of edits costs little for each.
  ///
  /// - Complexity: O(*n* log *edits*) amortised, for *n* components and lines of text.
  mutating func push<Operation>(_ entry: Element) where Element == Pending<Operation> {
    var entry = entry
    while let before = last, before.joins(entry),
      before.operation.weight <= 2 * entry.operation.weight
    {
      removeLast()
      entry.operation = before.operation.followed(by: entry.operation)
      entry.edits += before.edits
    }
    append(entry)
  }

  /// All entries as one operation; `nil` when there are none.
  ///
  /// - Complexity: O(components of all), plus the text copied.
  func composed<Operation>() -> Operation? where Element == Pending<Operation> {
    // From the last, which is the least: the first is walked once.
    guard var all = last?.operation else { return nil }
    for entry in dropLast().reversed() { all = entry.operation.followed(by: all) }
    return all
  }
}

extension SynchronizedOperation {
  /// This operation, then another that is known to start where it ends.
  fileprivate func followed(by next: Self) -> Self {
    do throws(OperationError) {
      return try composed(with: next)
    } catch {
      preconditionFailure(
        "of two unconfirmed operations the first leaves \(targetLength) scalars, "
          + "and the second starts from \(next.baseLength)")
    }
  }
}
