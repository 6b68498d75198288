/// Work that came all at once and is done over several turns of a loop, so that no turn takes long.
///
/// Two hundred texts of 4 MB that the store has read are two hundred answers to be encoded: between some of them the
/// loop looks at its sockets.
package struct SlicedWork<Item> {
  private var items: [Item] = []
  /// The number of items at the beginning that are done.
  private var doneCount = 0
  private let sliceMicroseconds: Int64
  /// The time at which the slice of this turn ends, in microseconds; `nil` if it has not begun.
  private var sliceEnd: Int64?

  /// Makes a queue without work.
  ///
  /// - Parameter sliceMicroseconds: The time after which no other item is begun in a turn.
  package init(sliceMicroseconds: Int64) { self.sliceMicroseconds = sliceMicroseconds }

  /// Whether all is done.
  package var isEmpty: Bool { items.isEmpty }

  /// Adds work behind what there is.
  package mutating func add(_ more: [Item]) {
    if items.isEmpty { items = more } else { items += more }
  }

  /// Returns the next item to be worked on in this turn, if there is time: in each turn there is for one.
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

  /// Ends the turn, with which the time of another one begins.
  package mutating func endTurn() {
    sliceEnd = nil
    guard doneCount > 0 else { return }
    items.removeFirst(doneCount)
    doneCount = 0
  }
}
