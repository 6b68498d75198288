/// Queues of many holders, with access to the oldest element of the holder that has the most.
///
/// Evicting that element when a new one needs space is fair: a holder that alone fills the space
/// displaces only its own elements.
package struct HolderQueues<Holder: Hashable & Sendable, Element: Hashable & Sendable>: Sendable {
  /// The elements of each holder, oldest first.
  private var queues: [Holder: LinkedQueue<Element>] = [:]
  /// The holders by number of elements; among equals, in the order of reaching the number.
  private var holders: [Int: LinkedQueue<Holder>] = [:]

  /// The maximum number of elements of any holder.
  package private(set) var largestCount = 0

  /// Creates empty queues.
  package init() {}

  /// Returns the number of elements of a holder.
  package func count(of holder: Holder) -> Int { queues[holder]?.count ?? 0 }

  /// The oldest element of the holder with the most elements.
  package var oldestOfLargest: (holder: Holder, element: Element)? {
    guard let holder = holders[largestCount]?.first, let element = queues[holder]?.first else {
      return nil
    }
    return (holder, element)
  }

  /// Appends an element to its holder's queue.
  ///
  /// - Precondition: The element is not in the holder's queue yet.
  /// - Complexity: O(1).
  package mutating func append(_ element: Element, of holder: Holder) {
    queues[holder, default: LinkedQueue()].append(element)
    move(holder, from: count(of: holder) - 1)
  }

  /// Removes an element from a holder's queue, if the queue contains it.
  ///
  /// - Complexity: O(1).
  package mutating func remove(_ element: Element, of holder: Holder) {
    guard queues[holder]?.remove(element) ?? false else { return }
    move(holder, from: count(of: holder) + 1)
  }

  /// Moves a holder to the bucket of its number of elements, which has changed by one.
  private mutating func move(_ holder: Holder, from former: Int) {
    let count = count(of: holder)
    if former > 0 {
      holders[former]?.remove(holder)
      if holders[former]?.isEmpty ?? true { holders[former] = nil }
    }
    if count > 0 {
      holders[count, default: LinkedQueue()].append(holder)
    } else {
      queues[holder] = nil
    }
    largestCount = max(largestCount, count)
    // If the largest bucket is empty, its last holder has moved to the bucket below.
    if holders[largestCount] == nil { largestCount -= 1 }
  }
}
