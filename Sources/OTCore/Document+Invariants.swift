extension Document {
  /// Traps unless the rope is sound: counts are right, no leaf but a lone one is empty, all leaves
  /// lie equally deep, and gaps lie between scalars.
  package func checkInvariants() { root.check(isRoot: true) }
}

extension RopeNode {
  fileprivate func check(isRoot: Bool) {
    withUnsafeMutablePointerToElements {
      precondition(UnsafeRawPointer($0) == UnsafeRawPointer(memory.bytes), "a node's layout")
    }
    if height == 0 {
      let start = Int(memory.header.pointee.gapStart)
      let end = Int(memory.header.pointee.gapEnd)
      precondition(0 <= start && start <= end && end <= Self.leafCapacity, "gap")
      var counted = TextMetrics(memory.front)
      precondition(
        counted.scalars == Int(memory.header.pointee.gapScalars), "scalars before the gap")
      counted += TextMetrics(memory.back)
      precondition(counted == total, "a leaf's counts")
      precondition(isRoot || total.scalars > 0, "an empty leaf")
      precondition(
        UTF8Check.firstInvalid(memory.front) == nil && UTF8Check.firstInvalid(memory.back) == nil,
        "UTF-8")
      return
    }
    precondition(count >= (isRoot ? 2 : 1) && count <= Self.fanOut, "children")
    var counted = TextMetrics.zero
    for index in 0..<count {
      precondition(children[index].height == height - 1, "depth")
      precondition(metrics[index] == children[index].total, "a child's counts")
      counted += metrics[index]
      children[index].check(isRoot: false)
    }
    precondition(counted == total, "an inner node's counts")
  }
}
