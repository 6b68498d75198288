/// A queue of work that is spread over several turns of a loop, so that no turn takes long.
///
/// For example, the store may have read two hundred texts of 4 MB at once. The loop encodes a few
/// of the responses in each turn, and handles its sockets in between.
package struct SlicedWork<Item> {
  private var items: [Item] = []
  /// The number of items at the beginning that are done.
  private var doneCount = 0
  private let sliceMicroseconds: Int64
  /// The end of this turn's slice, in microseconds; `nil` before the turn's first item.
  private var sliceEnd: Int64?

  /// Creates an empty queue.
  ///
  /// - Parameter sliceMicroseconds: The time after which a turn begins no further item.
  package init(sliceMicroseconds: Int64) { self.sliceMicroseconds = sliceMicroseconds }

  /// Whether the queue is empty.
  package var isEmpty: Bool { items.isEmpty }

  /// Appends work to the queue.
  package mutating func add(_ more: [Item]) {
    if items.isEmpty { items = more } else { items += more }
  }

  /// Returns the next item for this turn; `nil` if none is left or the slice is over. The slice
  /// begins with the turn's first item, so every turn has at least one.
  ///
  /// - Complexity: O(1) amortised.
  package mutating func next(at now: Int64) -> Item? {
    guard now < sliceEnd ?? .max, doneCount < items.count else {
      if doneCount == items.count { (items, doneCount) = ([], 0) }
      return nil
    }
    if sliceEnd == nil { sliceEnd = now + sliceMicroseconds }
    defer { doneCount += 1 }
    return items[doneCount]
  }

  /// Ends the turn and its slice.
  package mutating func endTurn() {
    sliceEnd = nil
    guard doneCount > 0 else { return }
    items.removeFirst(doneCount)
    doneCount = 0
  }
}
