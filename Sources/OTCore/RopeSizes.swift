/// The capacities of a rope's nodes.
///
/// Tests take small sizes, so that nodes split and join often. An inner node has memory for
/// ``fanOutMax`` children at every size, a leaf for just its capacity.
package struct RopeSizes: Sendable, Hashable {
  /// Sizes of all documents outside tests.
  static let standard = RopeSizes(leafCapacity: 2048, fanOut: 32)
  /// The most children that an inner node can have at any size.
  static let fanOutMax = 32

  // Four bytes, so that they lie in a node's header.
  private let capacity: UInt16
  private let children: UInt16

  /// Makes sizes.
  ///
  /// - Precondition: `leafCapacity` is a multiple of 8 from 32 to 65,528, and `fanOut` 6 to 32: below,
  ///   halves of a full node would be too small.
  package init(leafCapacity: Int, fanOut: Int) {
    precondition(
      leafCapacity % 8 == 0 && 32...65_528 ~= leafCapacity,
      "a leaf's capacity is a multiple of 8 from 32 to 65528 bytes, not \(leafCapacity)")
    precondition(
      6...Self.fanOutMax ~= fanOut, "a node has 6 to \(Self.fanOutMax) children, not \(fanOut)")
    capacity = UInt16(leafCapacity)
    children = UInt16(fanOut)
  }

  /// Bytes of text that a leaf can hold.
  @inline(__always)
  var leafCapacity: Int { Int(capacity) }
  /// Bytes that leaves are filled with when a text is laid out at once: there is room for typing,
  /// and for the scalar that a cut would go through.
  @inline(__always)
  var leafFill: Int { leafCapacity / 8 * 7 }
  /// The fewest bytes of a leaf that has neighbours.
  @inline(__always)
  var leafMin: Int { leafCapacity / 4 }
  /// Children that an inner node can have.
  @inline(__always)
  var fanOut: Int { Int(children) }
  /// The fewest children of an inner node that has neighbours.
  @inline(__always)
  var fanOutMin: Int { max(2, fanOut / 4) }
}
