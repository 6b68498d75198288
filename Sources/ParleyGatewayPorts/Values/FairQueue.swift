/// A round-robin queue: takes strangers in turn, and the oldest element of each.
///
/// An element occupies a slot from ``append(_:for:)`` to ``finish(for:)``. The strangers share the
/// slots (``FairShares``), and each has a maximum number of them. So a stranger with one element
/// waits for at most one element of each other stranger, however many they have queued.
package struct FairQueue<Key: Hashable & Sendable, Element: Sendable>: Sendable {
  /// A stranger, or, with a `nil` key, all holders that only the capacity limits.
  private struct Holder: Hashable, Sendable { let key: Key? }

  private let countMaxOfStranger: Int
  private var shares: FairShares<Key>
  private var waiting: [Holder: [Element]] = [:]
  /// The holders with waiting elements, in round-robin order.
  private var turns = LinkedQueue<Holder>()
  /// The number of waiting elements.
  package private(set) var count = 0

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - capacity: The number of slots for all strangers.
  ///   - countMaxOfStranger: The maximum number of slots of one stranger.
  package init(capacity: Int, countMaxOfStranger: Int) {
    shares = FairShares(capacity: capacity)
    self.countMaxOfStranger = countMaxOfStranger
  }

  /// Whether no element is waiting.
  package var isEmpty: Bool { count == 0 }

  /// Adds an element.
  ///
  /// - Parameter key: The stranger; `nil` for a holder that only the capacity limits.
  /// - Returns: The reason for rejecting the element; `nil` if it was added.
  /// - Complexity: O(1).
  package mutating func append(_ element: Element, for key: Key?) -> FairShares<Key>.Refusal? {
    if let key, shares.amount(of: key) >= countMaxOfStranger { return .overShare }
    if let refusal = shares.take(1, for: key) { return refusal }
    let holder = Holder(key: key)
    waiting[holder, default: []].append(element)
    if !turns.contains(holder) { turns.append(holder) }
    count += 1
    return nil
  }

  /// Removes and returns the next element. It continues to occupy its slot.
  ///
  /// - Complexity: O(*n*) elements of its stranger.
  package mutating func popFirst() -> Element? {
    guard let holder = turns.popFirst(), let element = waiting[holder]?.removeFirst() else {
      return nil
    }
    count -= 1
    if waiting[holder]?.isEmpty ?? true { waiting[holder] = nil } else { turns.append(holder) }
    return element
  }

  /// Releases the slot of an element that ``popFirst()`` has returned.
  ///
  /// - Parameter key: The key that was passed to ``append(_:for:)``.
  package mutating func finish(for key: Key?) { shares.give(1, for: key) }

  /// Removes a waiting element and releases its slot.
  ///
  /// - Returns: The element; `nil` if no element of the stranger matches.
  /// - Complexity: O(*n*) elements of the stranger.
  package mutating func remove(
    for key: Key?, where isMeant: (Element) -> Bool
  ) -> Element? {
    let holder = Holder(key: key)
    guard let index = waiting[holder]?.firstIndex(where: isMeant),
      let element = waiting[holder]?.remove(at: index)
    else { return nil }
    count -= 1
    shares.give(1, for: key)
    if waiting[holder]?.isEmpty ?? true {
      waiting[holder] = nil
      turns.remove(holder)
    }
    return element
  }
}
