extension Document {
  /// Traps unless the rope is valid: counts are right, all leaves are at the same depth, gaps are
  /// between scalars, and all nodes except the root have their minimum size.
  ///
  /// This is checked on a copy, after its leaf was put back into the tree. Before that, the leaf's
  /// slot in the tree must be empty and begin at `leafStart`.
  package func checkInvariants() {
    var whole = self
    whole.restoreLeaf()
    precondition(
      whole.leaf.total == .zero && whole.leaf.height == 0,
      "the leaf's slot is not empty: it contains a node of \(whole.leaf.total.inWords)")
    whole.root.check(isRoot: true)
    var node = whole.root
    var start = 0
    while node.height > 0 {
      let index = leafIndex(node.height - 1)
      for before in 0..<index { start += node.metrics[before].scalars }
      node = node.children[index]
    }
    precondition(
      node === leaf && start == leafStart,
      "the leaf begins behind \(start) scalars, not \(leafStart)")
  }
}

extension RopeNode {
  fileprivate func check(isRoot: Bool) {
    withUnsafeMutablePointerToElements {
      precondition(
        UnsafeRawPointer($0) == UnsafeRawPointer(memory.bytes),
        "a node's content lies \(UnsafeRawPointer($0) - UnsafeRawPointer(memory.bytes)) bytes too low"
      )
    }
    if height == 0 { checkLeaf(isRoot: isRoot) } else { checkInner(isRoot: isRoot) }
  }

  private func checkLeaf(isRoot: Bool) {
    let start = Int(memory.header.pointee.gapStart)
    let end = Int(memory.header.pointee.gapEnd)
    precondition(
      0 <= start && start <= end && end <= sizes.leafCapacity,
      "a leaf's gap reaches from \(start) to \(end) in \(sizes.leafCapacity) bytes")
    let front = TextMetrics(memory.front)
    precondition(
      front.scalars == Int(memory.header.pointee.gapScalars),
      "\(front.scalars) scalars lie before a gap, not \(memory.header.pointee.gapScalars)")
    var counted = front
    counted += TextMetrics(memory.back)
    precondition(
      counted == total, "a leaf's totals are \(total.inWords), but its text has \(counted.inWords)")
    precondition(
      isRoot || total.utf8 >= sizes.leafMin,
      "a leaf has \(total.utf8) bytes, at least \(sizes.leafMin) were expected")
    for part in [memory.front, memory.back] {
      if let offset = UTF8Check.firstInvalid(part) {
        preconditionFailure("byte \(offset) of \(part.count) in a leaf is not UTF-8")
      }
    }
  }

  private func checkInner(isRoot: Bool) {
    let least = isRoot ? 2 : sizes.fanOutMin
    precondition(
      count >= least && count <= sizes.fanOut,
      "a node has \(count) children, \(least) to \(sizes.fanOut) were expected")
    var counted = TextMetrics.zero
    for index in 0..<count {
      let child = children[index]
      precondition(
        child.height == height - 1, "a child of height \(child.height) lies below height \(height)")
      precondition(
        child.sizes == sizes,
        "a child of leaves of \(child.sizes.leafCapacity) bytes lies below \(sizes.leafCapacity)")
      precondition(
        metrics[index] == child.total,
        "a node counts \(metrics[index].inWords) for a child of \(child.total.inWords)")
      counted += metrics[index]
      child.check(isRoot: false)
    }
    precondition(counted == total, "a node counts \(total.inWords), and has \(counted.inWords)")
  }
}

extension TextMetrics {
  fileprivate var inWords: String {
    "\(scalars) scalars, \(utf16) UTF-16 units, \(utf8) bytes, \(newlines) newlines"
  }
}
