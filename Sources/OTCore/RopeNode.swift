/// The header of a node's memory.
struct RopeHeader {
  /// The lengths of all text below the node.
  var total = TextMetrics.zero
  /// The number of levels below; 0 for a leaf.
  var height: Int32 = 0
  /// The number of children; 0 for a leaf.
  var count: Int32 = 0
  /// The start of a leaf's gap, in bytes.
  var gapStart: Int32 = 0
  /// The end of a leaf's gap, in bytes.
  var gapEnd: Int32 = 0
  /// The number of scalars before the gap.
  var gapScalars: Int32 = 0
  /// The capacities of all nodes of the rope.
  var sizes: RopeSizes

  init(height: Int = 0, gapEnd: Int = 0, sizes: RopeSizes) {
    self.height = Int32(height)
    self.gapEnd = Int32(gapEnd)
    self.sizes = sizes
  }
}

/// A node of the rope: a leaf with text around a gap, or an inner node with children and their
/// lengths.
///
/// Each node is one block of memory, in multiples of 8 bytes. ``NodeMemory`` defines the layout,
/// ``RopeSizes`` the capacities.
final class RopeNode: ManagedBuffer<RopeHeader, UInt64> {
  /// The node's memory, valid while the node is retained.
  @inline(__always)
  var memory: NodeMemory { NodeMemory(header: withUnsafeMutablePointerToHeader { $0 }) }

  @inline(__always)
  var total: TextMetrics { memory.header.pointee.total }
  @inline(__always)
  var height: Int { Int(memory.header.pointee.height) }
  /// The number of children.
  @inline(__always)
  var count: Int { Int(memory.header.pointee.count) }
  @inline(__always)
  var sizes: RopeSizes { memory.header.pointee.sizes }
  /// The lengths of an inner node's children.
  @inline(__always)
  var metrics: UnsafeMutablePointer<TextMetrics> { memory.metrics }
  /// The children of an inner node.
  @inline(__always)
  var children: UnsafeMutablePointer<RopeNode> { memory.children }

  // `RopeNode.create`, not `create`: without the type name, Swift asks the metatype for the
  // instance size, and in Embedded Swift no metatype knows it.
  static func emptyLeaf(_ sizes: RopeSizes) -> RopeNode {
    unsafeDowncast(
      RopeNode.create(minimumCapacity: sizes.leafCapacity / 8) { _ in
        RopeHeader(gapEnd: sizes.leafCapacity, sizes: sizes)
      }, to: RopeNode.self)
  }

  /// Returns the placeholder for a leaf that is out of the tree: an empty leaf without memory for
  /// text.
  static func placeholder(_ sizes: RopeSizes) -> RopeNode {
    unsafeDowncast(
      RopeNode.create(minimumCapacity: 0) { _ in
        RopeHeader(gapEnd: sizes.leafCapacity, sizes: sizes)
      }, to: RopeNode.self)
  }

  static func emptyInner(height: Int, _ sizes: RopeSizes) -> RopeNode {
    // Two units of 8 bytes for a child's lengths, one for the child.
    unsafeDowncast(
      RopeNode.create(minimumCapacity: RopeSizes.fanOutMax * 3) { _ in
        RopeHeader(height: height, sizes: sizes)
      }, to: RopeNode.self)
  }

  deinit {
    let count = count
    if count > 0 { children.deinitialize(count: count) }
  }

  /// Returns an unshared node with the same content.
  func copy() -> RopeNode {
    if height == 0 {
      let result = Self.emptyLeaf(sizes)
      result.memory.take(memory)
      return result
    }
    let result = Self.emptyInner(height: height, sizes)
    result.memory.header.pointee = memory.header.pointee
    result.metrics.update(from: metrics, count: count)
    result.children.initialize(from: children, count: count)
    return result
  }
}

extension RopeNode {
  /// Returns an unshared leaf with the same text. If it costs nothing, its gap is before the given
  /// scalar.
  @inline(never)
  func copy(gapAt scalar: Int) -> RopeNode {
    guard total.isASCII else { return copy() }
    let result = Self.emptyLeaf(sizes)
    result.memory.take(memory, gapAt: scalar)
    return result
  }
}

// MARK: - Inner nodes

extension RopeNode {
  /// Inserts a child, and adds its lengths to the total.
  func insertChild(_ child: RopeNode, at index: Int) {
    let count = count
    let moved = count - index
    (children + index + 1).moveInitialize(from: children + index, count: moved)
    (metrics + index + 1).update(from: metrics + index, count: moved)
    (children + index).initialize(to: child)
    metrics[index] = child.total
    memory.header.pointee.count += 1
    memory.header.pointee.total += child.total
  }

  /// Removes children, and subtracts their lengths from the total.
  func removeChildren(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    for index in range { memory.header.pointee.total -= metrics[index] }
    (children + range.lowerBound).deinitialize(count: range.count)
    let moved = count - range.upperBound
    (children + range.lowerBound).moveInitialize(
      from: children + range.upperBound, count: moved)
    (metrics + range.lowerBound).update(from: metrics + range.upperBound, count: moved)
    memory.header.pointee.count -= Int32(range.count)
  }

  /// Updates the totals after a change of a child.
  @inline(__always)
  func recount(_ index: Int) {
    let now = children[index].total
    memory.header.pointee.total -= metrics[index]
    memory.header.pointee.total += now
    metrics[index] = now
  }

  /// Returns a child that is not shared, so that it can be changed.
  @inline(__always)
  func ownChild(_ index: Int) -> RopeNode {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
    return children[index]
  }
}
