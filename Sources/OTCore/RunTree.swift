/// The runs of a text in a B-tree. Each node stores its length, so that a position is found in
/// O(log *n*).
///
/// ```
///             [ children's lengths: 412 | 377 | … ]
///              ╱            │
///   [12 | 7 | 3 …]   [1 | 1 | 5 …]     leaves: runs, each with the number of its value
/// ```
///
/// Adjacent runs in different leaves may have the same value; `forEach` joins them.
package struct RunTree: Sendable {
  private var root = Node()

  package init() {}

  /// - Complexity: O(*n*) runs.
  package init(_ runs: [RunWord]) {
    var nodes = stride(from: 0, to: runs.count, by: Node.leafMax / 2).map { start in
      Node(leaf: Array(runs[start..<min(start + Node.leafMax / 2, runs.count)]))
    }
    while nodes.count > 1 {
      nodes = stride(from: 0, to: nodes.count, by: Node.branchMax / 2).map { start in
        Node(branch: Array(nodes[start..<min(start + Node.branchMax / 2, nodes.count)]))
      }
    }
    root = nodes.first ?? Node()
  }

  /// The number of Unicode scalars of all runs.
  package var length: Int { root.length }

  /// The number of levels; 1 for a single leaf.
  package var depth: Int { root.depth }

  /// An upper bound of the number of runs, which counts a run that is in two leaves twice.
  var countMax: Int { root.countMax }

  /// The value of the only run; `nil` unless the tree is one run.
  var onlyValue: UInt32? { root.onlyValue }

  /// Calls `body` with each run, in order; adjacent runs have different values.
  package func forEach(_ body: (RunWord) -> Void) {
    var last: RunWord?
    root.forEach { run in
      if let previous = last {
        if previous.value == run.value {
          last?.count += run.count
          return
        }
        body(previous)
      }
      last = run
    }
    if let last { body(last) }
  }

  /// Calls `body` with the runs of a range, cut at its ends; adjacent runs may have the same value.
  ///
  /// - Complexity: O(log *n* + runs of the range).
  func forEach(in range: Range<Int>, _ body: (RunWord) -> Void) {
    if !range.isEmpty { root.forEach(in: range, body) }
  }

  /// Inserts scalars of one value.
  ///
  /// - Parameter position: A position beyond the length means the end.
  /// - Complexity: O(log *n*)
  package mutating func insert(_ count: Int, of value: UInt32, at position: Int) {
    guard count > 0 else { return }
    let run = RunWord(value, count: count)
    if let right = root.insert(run, at: min(position, root.length)) {
      root = Node(branch: [root, right])
    }
  }

  /// Removes scalars. The part of the range beyond the end is ignored.
  ///
  /// - Complexity: O(log *n* + removed runs).
  package mutating func remove(_ count: Int, at position: Int) {
    let end = min(position + count, root.length)
    guard position < end else { return }
    root.remove(position..<end)
    while let only = root.onlyChild { root = only }
  }

  /// Changes the values of a range.
  ///
  /// - Parameter range: A range within the length.
  /// - Complexity: O(log *n* + runs of the range).
  mutating func update(_ range: Range<Int>, _ change: (UInt32) -> UInt32) {
    if range.isEmpty { return }
    if let right = root.update(range, change) { root = Node(branch: [root, right]) }
    while let only = root.onlyChild { root = only }
  }
}

/// A leaf with runs, or a branch with nodes; all leaves are at the same depth.
private struct Node: Sendable {
  /// Maximum runs of a leaf.
  static let leafMax = 64
  /// Maximum nodes of a branch.
  static let branchMax = 32

  /// The number of Unicode scalars of all runs below.
  private(set) var length = 0
  private var runs: [RunWord] = []
  /// The children of a branch; empty in a leaf.
  private var nodes: [Node] = []

  init() {}

  init(leaf runs: [RunWord]) {
    self.runs = runs
    length = runs.reduce(0) { $0 + $1.count }
  }

  init(branch nodes: [Node]) {
    self.nodes = nodes
    length = nodes.reduce(0) { $0 + $1.length }
  }

  private var isLeaf: Bool { nodes.isEmpty }

  private var isEmpty: Bool { runs.isEmpty && nodes.isEmpty }

  var depth: Int { 1 + (nodes.first?.depth ?? 0) }

  /// The child of a branch with one child.
  var onlyChild: Node? { nodes.count == 1 ? nodes[0] : nil }

  var countMax: Int { isLeaf ? runs.count : nodes.reduce(0) { $0 + $1.countMax } }

  var onlyValue: UInt32? { isLeaf && runs.count == 1 ? runs[0].value : nil }

  func forEach(_ body: (RunWord) -> Void) {
    for run in runs { body(run) }
    for node in nodes { node.forEach(body) }
  }

  /// - Parameter range: Not empty, and within the node.
  func forEach(in range: Range<Int>, _ body: (RunWord) -> Void) {
    var start = 0
    for run in runs {
      let count = min(start + run.count, range.upperBound) - max(start, range.lowerBound)
      if count > 0 { body(RunWord(run.value, count: count)) }
      start += run.count
      if start >= range.upperBound { return }
    }
    for node in nodes {
      let from = max(range.lowerBound - start, 0)
      let to = min(range.upperBound - start, node.length)
      if from < to { node.forEach(in: from..<to, body) }
      start += node.length
      if start >= range.upperBound { return }
    }
  }

  // MARK: Inserting

  /// Inserts a run. Returns the right half if the node was split.
  mutating func insert(_ run: RunWord, at position: Int) -> Node? {
    length += run.count
    if isLeaf {
      insertIntoLeaf(run, at: position)
      return runs.count > Self.leafMax ? split() : nil
    }
    // At a border, insert at the end of the left node: typing usually continues the text before it.
    var index = 0
    var position = position
    while index < nodes.count - 1, position > nodes[index].length {
      position -= nodes[index].length
      index += 1
    }
    guard let right = nodes[index].insert(run, at: position) else { return nil }
    nodes.insert(right, at: index + 1)
    return nodes.count > Self.branchMax ? split() : nil
  }

  private mutating func insertIntoLeaf(_ run: RunWord, at position: Int) {
    var index = 0
    var offset = position
    while index < runs.count, offset >= runs[index].count {
      offset -= runs[index].count
      index += 1
    }
    if index < runs.count, runs[index].value == run.value {
      runs[index].count += run.count
    } else if offset == 0, index > 0, runs[index - 1].value == run.value {
      runs[index - 1].count += run.count
    } else if offset == 0 {
      runs.insert(run, at: index)
    } else {
      let rest = RunWord(runs[index].value, count: runs[index].count - offset)
      runs[index].count = offset
      runs.insert(contentsOf: [run, rest], at: index + 1)
    }
  }

  private mutating func split() -> Node {
    let right: Node
    if isLeaf {
      right = Node(leaf: Array(runs[(runs.count / 2)...]))
      runs.removeLast(runs.count - runs.count / 2)
    } else {
      right = Node(branch: Array(nodes[(nodes.count / 2)...]))
      nodes.removeLast(nodes.count - nodes.count / 2)
    }
    length -= right.length
    return right
  }

  // MARK: Changing

  /// Changes the values of a range. Returns the right half if the node was split.
  ///
  /// - Parameter range: Not empty, and within the node.
  mutating func update(_ range: Range<Int>, _ change: (UInt32) -> UInt32) -> Node? {
    if isLeaf {
      updateLeaf(range, change)
      return runs.count > Self.leafMax ? split() : nil
    }
    var start = 0
    var index = 0
    var first: Int?
    while index < nodes.count, start < range.upperBound {
      let end = start + nodes[index].length
      let from = max(range.lowerBound, start)
      let to = min(range.upperBound, end)
      if from < to {
        first = first ?? index
        if let right = nodes[index].update(from - start..<to - start, change) {
          nodes.insert(right, at: index + 1)
          index += 1
        }
      }
      start = end
      index += 1
    }
    if let first { join(from: first, through: index) }
    return nodes.count > Self.branchMax ? split() : nil
  }

  private mutating func updateLeaf(_ range: Range<Int>, _ change: (UInt32) -> UInt32) {
    var start = 0
    var first = 0
    while start + runs[first].count <= range.lowerBound {
      start += runs[first].count
      first += 1
    }
    var index = first
    var changed: [RunWord] = []
    // Include the runs before and after the range: they may have the same value as a changed run.
    if first > 0, start == range.lowerBound {
      first -= 1
      changed.append(runs[first])
    }
    while index < runs.count, start < range.upperBound {
      let run = runs[index]
      let end = start + run.count
      let from = max(start, range.lowerBound)
      let to = min(end, range.upperBound)
      changed.put(run.value, count: from - start)
      changed.put(change(run.value), count: to - from)
      changed.put(run.value, count: end - to)
      start = end
      index += 1
    }
    if index < runs.count, start == range.upperBound {
      changed.put(runs[index].value, count: runs[index].count)
      index += 1
    }
    runs.replaceSubrange(first..<index, with: changed)
  }

  // MARK: Removing

  /// - Parameter range: Not empty, and within the node.
  mutating func remove(_ range: Range<Int>) {
    length -= range.count
    if isLeaf {
      removeFromLeaf(range)
      return
    }
    var start = 0
    var first = 0
    while start + nodes[first].length <= range.lowerBound {
      start += nodes[first].length
      first += 1
    }
    // A node within the range is removed without a visit to its runs; releasing it takes time for
    // each.
    var index = first
    var gone = 0
    while index < nodes.count, start < range.upperBound {
      let end = start + nodes[index].length
      if range.lowerBound <= start, end <= range.upperBound {
        gone += 1
      } else {
        nodes[index].remove(
          (max(range.lowerBound, start) - start)..<(min(range.upperBound, end) - start))
        // The first and the last node may keep a part; the nodes between are removed completely.
        if gone > 0 {
          nodes.removeSubrange((index - gone)..<index)
          index -= gone
          gone = 0
        }
      }
      start = end
      index += 1
    }
    if gone > 0 { nodes.removeSubrange((index - gone)..<index) }
    join(around: first)
  }

  private mutating func removeFromLeaf(_ range: Range<Int>) {
    var start = 0
    var first = 0
    while start + runs[first].count <= range.lowerBound {
      start += runs[first].count
      first += 1
    }
    var left = range.count
    if start < range.lowerBound {
      let taken = min(left, start + runs[first].count - range.lowerBound)
      runs[first].count -= taken
      left -= taken
      first += 1
    }
    var end = first
    while end < runs.count, left > 0, runs[end].count <= left {
      left -= runs[end].count
      end += 1
    }
    if left > 0 { runs[end].count -= left }
    runs.removeSubrange(first..<end)
    guard first > 0, first < runs.count, runs[first - 1].value == runs[first].value else {
      return
    }
    runs[first - 1].count += runs[first].count
    runs.remove(at: first)
  }

  /// Joins neighbours that are at most half full together, so that the tree remains shallow.
  private mutating func join(around index: Int) { join(from: index, through: index + 1) }

  private mutating func join(from index: Int, through last: Int) {
    var left = max(0, min(index, nodes.count) - 1)
    for _ in index..<max(index, last) + 2 where left + 1 < nodes.count {
      if nodes[left].canJoin(nodes[left + 1]) {
        let right = nodes.remove(at: left + 1)
        nodes[left].append(right)
      } else {
        left += 1
      }
    }
  }

  private func canJoin(_ other: Node) -> Bool {
    isLeaf
      ? runs.count + other.runs.count <= Self.leafMax / 2
      : nodes.count + other.nodes.count <= Self.branchMax / 2
  }

  private mutating func append(_ other: Node) {
    length += other.length
    guard isLeaf else {
      let seam = nodes.count
      nodes += other.nodes
      join(around: seam)
      return
    }
    var others = other.runs[...]
    if let last = runs.last, let first = others.first, last.value == first.value {
      runs[runs.count - 1].count += first.count
      others = others.dropFirst()
    }
    runs += others
  }
}
