/// The capacities of a rope's nodes.
///
/// Tests use small sizes, so that nodes are split and joined often. An inner node has memory for
/// ``fanOutMax`` children with any sizes; a leaf's memory depends on its capacity.
package struct RopeSizes: Sendable, Hashable {
  /// The sizes of all documents outside tests.
  static let standard = RopeSizes(leafCapacity: 2048, fanOut: 32)
  /// Maximum children of an inner node with any sizes.
  static let fanOutMax = 32

  // Four bytes in total, for the node's header.
  private let capacity: UInt16
  private let children: UInt16

  /// Creates sizes.
  ///
  /// - Precondition: `leafCapacity` is a multiple of 8 from 32 to 65,528, and `fanOut` is 6 to 32.
  ///   With less, the halves of a full node would be too small.
  package init(leafCapacity: Int, fanOut: Int) {
    precondition(
      leafCapacity % 8 == 0 && 32...65_528 ~= leafCapacity,
      "a leaf's capacity is a multiple of 8 from 32 to 65528 bytes, not \(leafCapacity)")
    precondition(
      6...Self.fanOutMax ~= fanOut, "a node has 6 to \(Self.fanOutMax) children, not \(fanOut)")
    capacity = UInt16(leafCapacity)
    children = UInt16(fanOut)
  }

  /// Maximum bytes of a leaf's text.
  @inline(__always)
  var leafCapacity: Int { Int(capacity) }
  /// The bytes in each leaf of a newly created text. The rest is room for typing, and for a scalar
  /// that would otherwise be split.
  @inline(__always)
  var leafFill: Int { leafCapacity / 8 * 7 }
  /// Minimum bytes of a leaf that has neighbours.
  @inline(__always)
  var leafMin: Int { leafCapacity / 4 }
  /// Maximum children of an inner node.
  @inline(__always)
  var fanOut: Int { Int(children) }
  /// Minimum children of an inner node that has neighbours.
  @inline(__always)
  var fanOutMin: Int { max(2, fanOut / 4) }
}
