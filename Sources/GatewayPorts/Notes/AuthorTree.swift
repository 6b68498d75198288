/// Runs of a text in order, found by their place in it: a B-tree whose nodes know their lengths.
///
/// ```
///             [ 9 runs' lengths: 412 | 377 | … ]
///              ╱            │
///   [12 | 7 | 3 …]   [1 | 1 | 5 …]           leaves: runs of numbered authors
/// ```
///
/// Neighbours of different leaves may have the same author; `forEach` joins them.
struct AuthorTree: Sendable {
  /// A number of Unicode scalars by one author, who has a number.
  struct Run: Sendable, Equatable {
    var author: Int
    var count: Int
  }

  private var root = Node()

  init() {}

  /// - Complexity: O(*n*) runs.
  init(_ runs: [Run]) {
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

  /// Unicode scalars of all runs.
  var length: Int { root.length }

  /// Levels of the tree; 1 for a single leaf.
  var depth: Int { root.depth }

  /// Calls `body` with each run from the text's start to its end; neighbours differ in their author.
  func forEach(_ body: (Run) -> Void) {
    var last: Run?
    root.forEach { run in
      if let previous = last {
        if previous.author == run.author {
          last?.count += run.count
          return
        }
        body(previous)
      }
      last = run
    }
    if let last { body(last) }
  }

  /// Inserts text of an author.
  ///
  /// - Parameter position: At most the length; what is beyond counts as the end.
  /// - Complexity: O(log *n*)
  mutating func insert(_ count: Int, by author: Int, at position: Int) {
    guard count > 0 else { return }
    let run = Run(author: author, count: count)
    if let right = root.insert(run, at: min(position, root.length)) {
      root = Node(branch: [root, right])
    }
  }

  /// Removes text, as far as there is some.
  ///
  /// - Complexity: O(log *n*), and the runs that go.
  mutating func remove(_ count: Int, at position: Int) {
    let end = min(position + count, root.length)
    guard position < end else { return }
    root.remove(position..<end)
    while let only = root.onlyChild { root = only }
  }
}

/// A leaf with runs, or a branch with nodes; all leaves are equally deep.
private struct Node: Sendable {
  /// Runs of a leaf, at most.
  static let leafMax = 64
  /// Nodes of a branch, at most.
  static let branchMax = 32

  /// Unicode scalars of all runs below.
  private(set) var length = 0
  private var runs: [AuthorTree.Run] = []
  /// Empty in a leaf.
  private var nodes: [Node] = []

  init() {}

  init(leaf runs: [AuthorTree.Run]) {
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

  /// The node that stands for a branch with one node.
  var onlyChild: Node? { nodes.count == 1 ? nodes[0] : nil }

  func forEach(_ body: (AuthorTree.Run) -> Void) {
    for run in runs { body(run) }
    for node in nodes { node.forEach(body) }
  }

  // MARK: Inserting

  /// Returns the right half if the node had to be split.
  mutating func insert(_ run: AuthorTree.Run, at position: Int) -> Node? {
    length += run.count
    if isLeaf {
      insertIntoLeaf(run, at: position)
      return runs.count > Self.leafMax ? split() : nil
    }
    // At a border, the end of the left node: text typed there continues that node.
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

  private mutating func insertIntoLeaf(_ run: AuthorTree.Run, at position: Int) {
    var index = 0
    var offset = position
    while index < runs.count, offset >= runs[index].count {
      offset -= runs[index].count
      index += 1
    }
    if index < runs.count, runs[index].author == run.author {
      runs[index].count += run.count
    } else if offset == 0, index > 0, runs[index - 1].author == run.author {
      runs[index - 1].count += run.count
    } else if offset == 0 {
      runs.insert(run, at: index)
    } else {
      let rest = AuthorTree.Run(author: runs[index].author, count: runs[index].count - offset)
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
    // A node that is removed whole is not searched: that takes no longer than to free it.
    var index = first
    var gone = 0
    while index < nodes.count, start < range.upperBound {
      let end = start + nodes[index].length
      if range.lowerBound <= start, end <= range.upperBound {
        gone += 1
      } else {
        nodes[index].remove(
          (max(range.lowerBound, start) - start)..<(min(range.upperBound, end) - start))
        // The first one and the last one may keep something; those between are removed whole.
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
    guard first > 0, first < runs.count, runs[first - 1].author == runs[first].author else {
      return
    }
    runs[first - 1].count += runs[first].count
    runs.remove(at: first)
  }

  /// Makes one of neighbours that have become small, so that the tree is no deeper than its runs
  /// demand.
  private mutating func join(around index: Int) {
    var left = max(0, min(index, nodes.count) - 1)
    for _ in 0..<3 where left + 1 < nodes.count {
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
    if let last = runs.last, let first = others.first, last.author == first.author {
      runs[runs.count - 1].count += first.count
      others = others.dropFirst()
    }
    runs += others
  }
}
