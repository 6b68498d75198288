/// Elements of many holders, which lead to the oldest element of the holder with most of them.
///
/// Where something has to make room for a newcomer, that element is the fairest choice: a single holder displaces only
/// its own elements.
package struct HolderQueues<Holder: Hashable & Sendable, Element: Hashable & Sendable>: Sendable {
  /// The elements of each holder, oldest first.
  private var queues: [Holder: LinkedQueue<Element>] = [:]
  /// The holders by their number of elements; of equal ones, the one that reached it first comes first.
  private var holders: [Int: LinkedQueue<Holder>] = [:]

  /// The number of elements of the holder with most of them.
  package private(set) var largestCount = 0

  /// Creates queues without elements.
  package init() {}

  /// Returns the number of a holder's elements.
  package func count(of holder: Holder) -> Int { queues[holder]?.count ?? 0 }

  /// The oldest element of the holder with most of them.
  package var oldestOfLargest: (holder: Holder, element: Element)? {
    guard let holder = holders[largestCount]?.first, let element = queues[holder]?.first else {
      return nil
    }
    return (holder, element)
  }

  /// Adds an element behind the others of its holder.
  ///
  /// - Precondition: The element is not in the holder's queue yet.
  /// - Complexity: O(1).
  package mutating func append(_ element: Element, of holder: Holder) {
    queues[holder, default: LinkedQueue()].append(element)
    move(holder, from: count(of: holder) - 1)
  }

  /// Removes an element from a holder's queue, if it is there.
  ///
  /// - Complexity: O(1).
  package mutating func remove(_ element: Element, of holder: Holder) {
    guard queues[holder]?.remove(element) ?? false else { return }
    move(holder, from: count(of: holder) + 1)
  }

  /// Moves a holder, whose number of elements has changed by one, to the others with that number.
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
    // A holder that left the largest number has one less now.
    if holders[largestCount] == nil { largestCount -= 1 }
  }
}
