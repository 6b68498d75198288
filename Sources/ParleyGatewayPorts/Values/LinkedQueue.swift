/// A FIFO queue from which any element can be removed in constant time.
package struct LinkedQueue<Element: Hashable & Sendable>: Sendable {
  private struct Neighbours {
    var previous: Element?
    var next: Element?
  }

  private var neighbours: [Element: Neighbours] = [:]
  /// The oldest element.
  package private(set) var first: Element?
  private var last: Element?

  /// Creates an empty queue.
  package init() {}

  /// The number of elements.
  package var count: Int { neighbours.count }

  /// Whether the queue has no elements.
  package var isEmpty: Bool { neighbours.isEmpty }

  /// Returns whether the queue contains an element.
  package func contains(_ element: Element) -> Bool { neighbours[element] != nil }

  /// Appends an element.
  ///
  /// - Precondition: The queue does not contain it yet.
  /// - Complexity: O(1).
  package mutating func append(_ element: Element) {
    precondition(neighbours[element] == nil, "the queue has this element already")
    neighbours[element] = Neighbours(previous: last, next: nil)
    if let last { neighbours[last]?.next = element } else { first = element }
    last = element
  }

  /// Removes an element.
  ///
  /// - Returns: Whether the queue contained it.
  /// - Complexity: O(1).
  @discardableResult
  package mutating func remove(_ element: Element) -> Bool {
    guard let removed = neighbours.removeValue(forKey: element) else { return false }
    if let previous = removed.previous {
      neighbours[previous]?.next = removed.next
    } else {
      first = removed.next
    }
    if let next = removed.next {
      neighbours[next]?.previous = removed.previous
    } else {
      last = removed.previous
    }
    return true
  }

  /// Removes and returns the oldest element.
  ///
  /// - Complexity: O(1).
  package mutating func popFirst() -> Element? {
    guard let first else { return nil }
    remove(first)
    return first
  }
}
