/// What stands in front of a node's memory.
struct RopeHeader {
  /// The lengths of all text below.
  var total = TextMetrics.zero
  /// Levels below; 0 for a leaf.
  var height: Int32 = 0
  /// How many children; 0 for a leaf.
  var count: Int32 = 0
  /// Where a leaf's gap begins, in bytes.
  var gapStart: Int32 = 0
  /// Where a leaf's gap ends.
  var gapEnd: Int32 = 0
  /// Scalars before the gap.
  var gapScalars: Int32 = 0
  /// So that what lies behind the header lies where pointers may.
  private var unused: Int32 = 0

  init(height: Int = 0, gapEnd: Int = 0) {
    self.height = Int32(height)
    self.gapEnd = Int32(gapEnd)
  }
}

/// A node of the rope: a leaf with text around a gap, or up to 32 children with their lengths.
///
/// One block of memory each, in steps of 8 bytes; ``NodeMemory`` knows
/// what lies where.
final class RopeNode: ManagedBuffer<RopeHeader, UInt64> {
  /// Bytes of text that a leaf can hold.
  static let leafCapacity = 2048
  /// Bytes that leaves are filled with when a text is laid out at once.
  static let leafFill = 1792
  /// Below so many bytes a leaf looks for a neighbour to join.
  static let leafMin = 512
  /// Children that an inner node can have.
  static let fanOut = 32
  /// Below so many children an inner node looks for a neighbour to join.
  static let fanOutMin = 8

  /// The node's memory; good while the node is held.
  @inline(__always)
  var memory: NodeMemory { NodeMemory(header: withUnsafeMutablePointerToHeader { $0 }) }

  @inline(__always)
  var total: TextMetrics { memory.header.pointee.total }
  @inline(__always)
  var height: Int { Int(memory.header.pointee.height) }
  @inline(__always)
  var count: Int { Int(memory.header.pointee.count) }
  /// An inner node's children's lengths.
  @inline(__always)
  var metrics: UnsafeMutablePointer<TextMetrics> { memory.metrics }
  /// An inner node's children.
  @inline(__always)
  var children: UnsafeMutablePointer<RopeNode> { memory.children }

  // `RopeNode.create`, not `create`: without the name, Embedded Swift asks the metatype for the
  // size of an instance, and there no metatype knows it.
  static func emptyLeaf() -> RopeNode {
    let node = unsafeDowncast(
      RopeNode.create(minimumCapacity: leafCapacity / 8) { _ in
        RopeHeader(gapEnd: leafCapacity)
      }, to: RopeNode.self)
    return node
  }

  static func emptyInner(height: Int) -> RopeNode {
    unsafeDowncast(
      RopeNode.create(minimumCapacity: fanOut * 3) { _ in RopeHeader(height: height)
      },
      to: RopeNode.self)
  }

  deinit {
    let count = count
    if count > 0 { children.deinitialize(count: count) }
  }

  /// A node of its own with the same content.
  func copy() -> RopeNode {
    if height == 0 {
      let result = Self.emptyLeaf()
      result.memory.take(memory)
      return result
    }
    let result = Self.emptyInner(height: height)
    result.memory.header.pointee = memory.header.pointee
    result.metrics.update(from: metrics, count: count)
    result.children.initialize(from: children, count: count)
    return result
  }
}

// MARK: - Inner nodes

extension RopeNode {
  /// Puts a child in and counts it.
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

  /// Takes children out and counts them off.
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

  /// Counts a child anew after it has changed.
  @inline(__always)
  func recount(_ index: Int) {
    let now = children[index].total
    memory.header.pointee.total -= metrics[index]
    memory.header.pointee.total += now
    metrics[index] = now
  }

  /// A child that nobody else holds, to be written.
  @inline(__always)
  func ownChild(_ index: Int) -> RopeNode {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
    return children[index]
  }
}
