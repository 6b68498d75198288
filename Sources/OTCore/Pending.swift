/// An unconfirmed operation, in the queue between the server's text and the local text.
///
/// The first entry's operation starts from the server's text, each other one from the text after
/// the previous entry.
struct Pending<Operation: SynchronizedOperation>: Sendable {
  /// The stages of an operation on its way to the server.
  enum State: Sendable {
    /// Sent, and not yet known to be stored; first in the queue. Next: removed, when acknowledged;
    /// or `overtaken`, `refused`, `waiting`.
    case sent(Synchronizer<Operation>.Change)
    /// Sent; then the server's whole text arrived instead of an answer. The server refuses the
    /// change. Next: removed, `refused`, `waiting`.
    case overtaken(Synchronizer<Operation>.Change)
    /// Refused finally, but visible to its author; first in the queue. Next: `waiting`.
    case refused
    /// The operation was not sent by this synchroniser, but possibly by the one whose state was
    /// restored. Next: `sent`.
    case waiting
    /// Typed since the restoration, so the server does not have the text. Next: `waiting`.
    case sinceRestored
  }

  var state: State
  /// The operation, transformed over all changes received from the server.
  var operation: Operation
  /// The number of edits that it contains.
  var edits = 1

  /// The change as it was sent; `nil` if it was not sent.
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

  /// Whether two adjacent entries may become one.
  fileprivate func joins(_ other: Pending) -> Bool {
    switch (state, other.state) {
    case (.waiting, .waiting), (.sinceRestored, .sinceRestored): true
    case (.sent, _), (.overtaken, _), (.refused, _), (.waiting, _), (.sinceRestored, _): false
    }
  }
}

extension Array {
  /// Appends an entry.
  ///
  /// Entries of one state are composed when they have similar sizes, like the digits of a counter:
  /// the queue then has few entries, and composing a long run of edits costs little for each.
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

  /// Returns all entries as one operation; `nil` if there are none.
  ///
  /// - Complexity: O(components of all entries), plus the text copied.
  func composed<Operation>() -> Operation? where Element == Pending<Operation> {
    // From the last, which is the smallest, so that the first is walked once.
    guard var all = last?.operation else { return nil }
    for entry in dropLast().reversed() { all = entry.operation.followed(by: all) }
    return all
  }
}

extension SynchronizedOperation {
  /// Returns this operation composed with the next, which must start where this one ends.
  fileprivate func followed(by next: Self) -> Self {
    do throws(OperationError) {
      return try composed(with: next)
    } catch {
      preconditionFailure(
        "unconfirmed operations do not match: one ends at \(targetLength) scalars, "
          + "the next starts from \(next.baseLength)")
    }
  }
}
