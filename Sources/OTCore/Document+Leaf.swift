/// The leaf that is out of the tree: taken when an edit comes near, put back when one comes elsewhere.
///
/// Only documents refer to it meanwhile, so one question, whether another copy does, is enough to write
/// it; and what it holds is counted in no node.
extension Document {
  /// So many levels fit into ``leafPath``. Ropes of the standard sizes never have more than 8.
  private static var levelsMax: Int { 12 }

  /// Which child of the node at a level leads to the leaf's place.
  @inline(__always)
  func leafIndex(_ level: Int) -> Int {
    Int(truncatingIfNeeded: leafPath &>> UInt64(truncatingIfNeeded: level &* 5)) & 0x1f
  }

  /// Takes the leaf that holds a position, its end included, out of the tree, where all are.
  ///
  /// - Complexity: O(log *n*).
  mutating func takeLeaf(at position: Int) {
    var node = root.memory
    let height = Int(node.header.pointee.height)
    precondition(
      height <= Self.levelsMax, "a rope has \(height) levels, at most \(Self.levelsMax) are known")
    var start = 0
    var path: UInt64 = 0
    for _ in 0..<height {
      let last = Int(node.header.pointee.count) &- 1
      var index = 0
      while index < last {
        let end = start &+ node.metrics[index].scalars
        if end >= position { break }
        start = end
        index &+= 1
      }
      path = path << 5 | UInt64(truncatingIfNeeded: index)
      node = node.child(index)
    }
    leafStart = start
    // The root's choice ends up highest, where the walk begins.
    leafPath = path
    var gone = TextMetrics.zero
    gone -= node.header.pointee.total
    exchangeLeaf(growth: gone)
  }

  /// Puts the leaf into the tree and counts it there. Only ``takeLeaf(at:)`` may follow, or what changes
  /// the tree and then takes a leaf.
  ///
  /// - Complexity: O(log *n*).
  mutating func putLeafBack() { exchangeLeaf(growth: leaf.total) }

  /// Exchanges the leaf with what lies in its place, which makes nodes above longer by `growth`.
  private mutating func exchangeLeaf(growth: TextMetrics) {
    guard root.height > 0 else {
      swap(&root, &leaf)
      return
    }
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    var node = root.memory
    var level = Int(node.header.pointee.height)
    while true {
      level &-= 1
      let index = leafIndex(level)
      node.header.pointee.total += growth
      node.metrics[index] += growth
      if level == 0 {
        swap(&node.children[index], &leaf)
        return
      }
      node = node.ownChild(index)
    }
  }
}
