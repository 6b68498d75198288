/// Work of many strangers that waits its turn: each of them in turn, and of each the oldest first.
///
/// An element holds a slot from its arrival until ``finish(for:)``. The strangers share the slots (``FairShares``), and one
/// stranger has a bounded number of them. So a stranger with one element waits for at most one element of each other
/// stranger, however many they have sent.
package struct FairQueue<Key: Hashable & Sendable, Element: Sendable>: Sendable {
  /// A stranger, or all holders that only the capacity limits.
  private struct Holder: Hashable, Sendable { let key: Key? }

  private let countMaxOfStranger: Int
  private var shares: FairShares<Key>
  private var waiting: [Holder: [Element]] = [:]
  /// The holders with waiting elements, in the order of their turns.
  private var turns = LinkedQueue<Holder>()
  /// The number of elements that wait.
  package private(set) var count = 0

  /// Creates an empty queue.
  ///
  /// - Parameters:
  ///   - capacity: The slots of all strangers.
  ///   - countMaxOfStranger: The slots that one stranger can have at most.
  package init(capacity: Int, countMaxOfStranger: Int) {
    shares = FairShares(capacity: capacity)
    self.countMaxOfStranger = countMaxOfStranger
  }

  /// Whether no element waits.
  package var isEmpty: Bool { count == 0 }

  /// Adds an element.
  ///
  /// - Parameter key: The stranger; `nil` for one that only the capacity limits.
  /// - Returns: Why it was not added; `nil` if it waits now.
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

  /// Removes and returns the element whose turn it is. It keeps its slot.
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

  /// Frees the slot of an element that has been removed by ``popFirst()``.
  ///
  /// - Parameter key: As given to ``append(_:for:)``.
  package mutating func finish(for key: Key?) { shares.give(1, for: key) }

  /// Removes an element that waits, and frees its slot.
  ///
  /// - Returns: The element; `nil` if none of the stranger's matches.
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
