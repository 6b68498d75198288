/// Rebalancing, which restores the nodes' minimum sizes.
extension RopeNode {
  /// Removes an empty child; joins a small child with a neighbour, or balances both.
  ///
  /// The neighbours and everything below the child must have their minimum size, except lone
  /// children, which get neighbours here and are rebalanced with them. Without a neighbour nothing
  /// changes: the node above rebalances, or this is the root.
  func level(_ index: Int) {
    if children[index].total.scalars == 0 {
      removeChildren(index..<(index + 1))
      return
    }
    var index = index
    while count > 1, children[index].isSmall {
      index = min(index, count - 2)
      if children[index].joins(children[index + 1]) {
        joinChild(index)
      } else {
        balanceChildren(index)
      }
    }
  }

  /// Rebalances all children.
  func rebalanceAll() {
    // From the last, so that the other indexes remain valid.
    for index in (0..<count).reversed() where index < count { level(index) }
  }

  /// Joins two children into one.
  private func joinChild(_ index: Int) {
    let other = children[index + 1]
    ownChild(index).append(other)
    removeChildren((index + 1)..<(index + 2))
    recount(index)
  }

  /// Balances two children that do not fit into one.
  private func balanceChildren(_ index: Int) {
    let left = children[index]
    let right = children[index + 1]
    let halves: [RopeNode]
    if left.height == 0 {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(left.total.utf8 + right.total.utf8)
      for node in [left, right] { node.memory.forEachPart { bytes.append(contentsOf: $0) } }
      halves = bytes.withUnsafeBufferPointer { Self.leaves($0, sizes) }
    } else {
      var all: [RopeNode] = []
      for node in [left, right] {
        for child in 0..<node.count { all.append(node.children[child]) }
      }
      halves = Self.parents(of: all)
      for half in halves { half.rebalanceAll() }
    }
    precondition(halves.count == 2, "two nodes became \(halves.count)")
    for (offset, half) in halves.enumerated() {
      children[index + offset] = half
      recount(index + offset)
    }
  }

  var isSmall: Bool { height == 0 ? total.utf8 < sizes.leafMin : count < sizes.fanOutMin }

  private func joins(_ other: RopeNode) -> Bool {
    height == 0
      ? total.utf8 + other.total.utf8 <= sizes.leafFill : count + other.count <= sizes.fanOut
  }

  /// Appends a neighbour's content.
  private func append(_ other: RopeNode) {
    if height > 0 {
      for index in 0..<other.count { insertChild(other.children[index], at: count) }
      rebalanceAll()
      return
    }
    memory.moveGap(toScalar: total.scalars)
    for part in [other.memory.front, other.memory.back] {
      memory.insertAtGap(part, TextMetrics(part))
    }
  }
}
