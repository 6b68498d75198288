package import ParleyGatewayPorts

/// A type with a value that takes the place of an element that has left.
package protocol GapMarked {
  /// The type of the elements.
  associatedtype Element

  /// The value of a gap.
  static var gap: Self { get }

  /// The element; `nil` for the gap.
  var element: Element? { get }
}

/// Elements in the order in which they came; any of them can be removed in constant time.
///
/// A removed element leaves a gap. Gaps are closed once there are more of them than elements, so that a
/// walk passes over no more gaps than elements. The owner keeps each element's place, which a removal may
/// change:
///
///     append(c) ─▶ 2            a  b  c
///     remove(at: 0) ─▶ false    ·  b  c
///     remove(at: 1) ─▶ true     c             its place is 0 now, as `slots` shows
///
/// A walk sees the elements that were there when it began.
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

  /// Adds an element behind all others, and returns its place.
  package mutating func append(_ element: Slot) -> Int {
    slots.append(element)
    return slots.count - 1
  }

  /// Removes the element at a place.
  ///
  /// - Returns: Whether other elements have another place now.
  /// - Complexity: O(1) over many calls.
  package mutating func remove(at place: Int) -> Bool {
    slots[place] = .gap
    gapCount += 1
    return gapCount * 2 > slots.count && closeGaps()
  }

  /// Closes all gaps.
  ///
  /// - Returns: Whether elements have another place now.
  /// - Complexity: O(*n*); O(1) where there are no gaps.
  package mutating func closeGaps() -> Bool {
    guard gapCount > 0 else { return false }
    slots.removeAll { $0.element == nil }
    gapCount = 0
    return true
  }

  /// A walk over the elements.
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
  /// The id of no connection: they count from one.
  package static var gap: ConnectionID { ConnectionID(0) }
  package var element: ConnectionID? { self == .gap ? nil : self }
}
