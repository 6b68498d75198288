/// Changes that exceed one leaf: leaves are split, joined and removed.
extension RopeNode {
  /// Replaces scalars by a text. The node must not be shared.
  ///
  /// - Returns: The nodes of the same height that follow this one, if it could not hold everything.
  ///   Afterwards this node may be too small, and so may a lone child, or a lone child of that
  ///   child. All other nodes below have at least their minimum size. See ``level(_:)``.
  func rewrite(
    _ low: Int, _ high: Int, with text: UnsafeBufferPointer<UInt8>
  ) -> [RopeNode] {
    height == 0 ? rewriteLeaf(low, high, with: text) : rewriteInner(low, high, with: text)
  }

  private func rewriteLeaf(
    _ low: Int, _ high: Int, with text: UnsafeBufferPointer<UInt8>
  ) -> [RopeNode] {
    let leaf = memory
    leaf.moveGap(toScalar: low)
    leaf.removeBehindGap(leaf.metricsBehindGap(scalars: high - low))
    if text.count <= leaf.room {
      leaf.insertAtGap(text, TextMetrics(text))
      return []
    }
    // Distribute front, text and back evenly over new leaves.
    var all: [UInt8] = []
    all.reserveCapacity(leaf.front.count + text.count + leaf.back.count)
    all.append(contentsOf: leaf.front)
    all.append(contentsOf: text)
    all.append(contentsOf: leaf.back)
    return all.withUnsafeBufferPointer { all in
      var leaves = Self.leaves(all, sizes)
      let first = leaves.removeFirst()
      leaf.take(first.memory)
      return leaves
    }
  }

  /// Returns a text as leaves of similar size, at least one.
  static func leaves(_ text: UnsafeBufferPointer<UInt8>, _ sizes: RopeSizes) -> [RopeNode] {
    let count = max(1, (text.count + sizes.leafFill - 1) / sizes.leafFill)
    var result: [RopeNode] = []
    result.reserveCapacity(count)
    var start = 0
    for index in 0..<count {
      var end = end(ofPart: index, of: count, in: text.count)
      while end < text.count, text[end] & 0xc0 == 0x80 { end += 1 }
      let leaf = emptyLeaf(sizes)
      let part = UnsafeBufferPointer(rebasing: text[start..<end])
      precondition(
        part.count <= sizes.leafCapacity,
        "\(part.count) bytes do not fit into a leaf of \(sizes.leafCapacity)")
      leaf.memory.insertAtGap(part, TextMetrics(part))
      result.append(leaf)
      start = end
    }
    return result
  }

  /// Returns the end of a part of a whole that is divided into parts whose sizes differ by at most
  /// one.
  ///
  /// The remainder of the division must not accumulate in the last part, and the product of two
  /// lengths does not fit into WebAssembly's `Int`.
  private static func end(ofPart index: Int, of parts: Int, in whole: Int) -> Int {
    (index + 1) * (whole / parts) + min(index + 1, whole % parts)
  }

  /// Returns the fewest possible parents for nodes of one height.
  static func parents(of nodes: [RopeNode]) -> [RopeNode] {
    let sizes = nodes[0].sizes
    let count = (nodes.count + sizes.fanOut - 1) / sizes.fanOut
    var result: [RopeNode] = []
    var start = 0
    for index in 0..<count {
      let end = end(ofPart: index, of: count, in: nodes.count)
      let parent = emptyInner(height: nodes[0].height + 1, sizes)
      for node in nodes[start..<end] { parent.insertChild(node, at: parent.count) }
      result.append(parent)
      start = end
    }
    return result
  }

  private func rewriteInner(
    _ low: Int, _ high: Int, with text: UnsafeBufferPointer<UInt8>
  ) -> [RopeNode] {
    // At a border, the left child is used: typing continues at its end.
    var first = 0
    var start = 0
    while first < count - 1, start + metrics[first].scalars < low {
      start += metrics[first].scalars
      first += 1
    }
    var last = first
    var lastStart = start
    while last < count - 1, lastStart + metrics[last].scalars < high {
      lastStart += metrics[last].scalars
      last += 1
    }
    let firstEnd = min(high, start + metrics[first].scalars)
    var more = ownChild(first).rewrite(low - start, firstEnd - start, with: text)
    recount(first)
    if last > first {
      _ = ownChild(last).rewrite(
        0, high - lastStart, with: UnsafeBufferPointer(start: nil, count: 0))
      recount(last)
      removeChildren((first + 1)..<last)
    }
    if count + more.count <= sizes.fanOut {
      for (offset, node) in more.enumerated() { insertChild(node, at: first + 1 + offset) }
      if last > first { level(first + 1 + more.count) }
      // Rebalancing may have joined this child into the previous one.
      if first < count { level(first) }
      return []
    }
    var all: [RopeNode] = []
    all.reserveCapacity(count + more.count)
    for index in 0...first { all.append(children[index]) }
    all.append(contentsOf: more)
    for index in (first + 1)..<max(first + 1, count) { all.append(children[index]) }
    removeChildren(0..<count)
    more = Self.parents(of: all)
    for node in more { node.rebalanceAll() }
    let own = more.removeFirst()
    for index in 0..<own.count { insertChild(own.children[index], at: index) }
    return more
  }
}
