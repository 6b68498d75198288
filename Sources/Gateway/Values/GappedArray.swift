package import ParleyGatewayPorts

/// A type with a value that marks the gap of a removed element.
package protocol GapMarked {
  /// The type of the elements.
  associatedtype Element

  /// The value of a gap.
  static var gap: Self { get }

  /// The element; `nil` for the gap.
  var element: Element? { get }
}

/// Elements in the order of insertion. Each can be removed in constant time.
///
/// A removal leaves a gap. Gaps are closed once they outnumber the elements, so that iteration
/// passes no more gaps than elements. The owner stores each element's index, which closing changes:
///
///     append(c) ─▶ 2            a  b  c
///     remove(at: 0) ─▶ false    ·  b  c
///     remove(at: 1) ─▶ true     c             its index is now 0, as in `slots`
///
/// An iteration visits the elements that were present when it began.
package struct GappedArray<Slot: GapMarked>: Sequence {
  /// Elements and gaps.
  package private(set) var slots: [Slot] = []
  private var gapCount = 0

  /// An array without elements.
  package init() {}

  /// The number of elements.
  package var count: Int { slots.count - gapCount }

  /// Whether there are no elements.
  package var isEmpty: Bool { count == 0 }

  package var underestimatedCount: Int { count }

  /// Appends an element and returns its index.
  package mutating func append(_ element: Slot) -> Int {
    slots.append(element)
    return slots.count - 1
  }

  /// Removes the element at an index.
  ///
  /// - Returns: Whether the indexes of other elements have changed.
  /// - Complexity: Amortised O(1).
  package mutating func remove(at place: Int) -> Bool {
    slots[place] = .gap
    gapCount += 1
    return gapCount * 2 > slots.count && closeGaps()
  }

  /// Closes all gaps.
  ///
  /// - Returns: Whether indexes of elements have changed.
  /// - Complexity: O(*n*); O(1) where there are no gaps.
  package mutating func closeGaps() -> Bool {
    guard gapCount > 0 else { return false }
    slots.removeAll { $0.element == nil }
    gapCount = 0
    return true
  }

  /// An iterator over the elements.
  package struct Iterator: IteratorProtocol {
    fileprivate var slots: IndexingIterator<[Slot]>

    package mutating func next() -> Slot.Element? {
      while let slot = slots.next() {
        if let element = slot.element { return element }
      }
      return nil
    }
  }

  package func makeIterator() -> Iterator { Iterator(slots: slots.makeIterator()) }
}

extension Optional: GapMarked where Wrapped: AnyObject {
  package static var gap: Self { nil }
  package var element: Wrapped? { self }
}

extension ConnectionID: GapMarked {
  /// An id that no connection has: ids count from one.
  package static var gap: ConnectionID { ConnectionID(0) }
  package var element: ConnectionID? { self == .gap ? nil : self }
}
