/// The leaf that is out of the tree: taken out by an edit in it, put back when an edit is
/// elsewhere.
///
/// While it is out, only documents refer to it, so a single reference check is enough before it is
/// changed, and no node's total includes its content.
extension Document {
  /// Maximum levels that fit into ``leafPath``. Ropes of the standard sizes have at most 8.
  private static var levelsMax: Int { 12 }

  /// Returns the index of the child, of the node at a level, that leads to the leaf's slot.
  @inline(__always)
  func leafIndex(_ level: Int) -> Int {
    Int(truncatingIfNeeded: leafPath &>> UInt64(truncatingIfNeeded: level &* 5)) & 0x1f
  }

  /// Takes the leaf at a position, its end included, out of the tree. All leaves must be in the
  /// tree.
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
    // The root's index is in the highest bits; walks begin with it.
    leafPath = path
    var gone = TextMetrics.zero
    gone -= node.header.pointee.total
    exchangeLeaf(growth: gone)
  }

  /// Puts the leaf into the tree and counts it. The next call that uses the leaf must be
  /// ``takeLeaf(at:)``; the tree may be changed before it.
  ///
  /// - Complexity: O(log *n*).
  mutating func restoreLeaf() { exchangeLeaf(growth: leaf.total) }

  /// Exchanges the leaf for a later one below the same node, if that contains a position, its end
  /// included: the edits of one operation proceed from leaf to leaf.
  ///
  /// - Returns: `false` if there is no such leaf. Nothing changes then.
  /// - Complexity: O(log *n*).
  mutating func moveLeaf(forwardTo position: Int) -> Bool {
    let height = root.height
    var start = leafStart &+ leaf.total.scalars
    guard height > 0, position > start else { return false }
    var node = root.memory
    var level = height &- 1
    while level > 0 {
      node = node.child(leafIndex(level))
      level &-= 1
    }
    let count = Int(node.header.pointee.count)
    let left = leafIndex(0)
    var right = left &+ 1
    while right < count {
      let end = start &+ node.metrics[right].scalars
      if end >= position { break }
      start = end
      right &+= 1
    }
    guard right < count else { return false }
    let back = leaf.total
    var growth = back
    growth -= node.metrics[right]
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    node = root.memory
    level = height &- 1
    while level > 0 {
      let index = leafIndex(level)
      node.header.pointee.total += growth
      node.metrics[index] += growth
      node = node.ownChild(index)
      level &-= 1
    }
    node.header.pointee.total += growth
    node.metrics[left] = back
    node.metrics[right] = .zero
    swap(&node.children[left], &leaf)
    swap(&node.children[right], &leaf)
    leafStart = start
    leafPath = leafPath &+ UInt64(truncatingIfNeeded: right &- left)
    return true
  }

  /// Exchanges the leaf with the content of its slot. The nodes above become longer by `growth`.
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
