/// A text to which operations apply: a rope that counts in all units.
///
/// Positions are Unicode scalars. They convert to UTF-16 units, UTF-8 bytes and lines in O(log
/// *n*). Copying is O(1), and a copy is a snapshot that later edits do not change. Edits near the
/// last one take a few nanoseconds, others O(log *n*).
///
/// The text is in leaves of 512 to 2,048 bytes, below nodes with 8 to 32 children; a short text is
/// a single leaf. The leaf of the last edit is out of the tree: see `takeLeaf(at:)`.
public struct Document: @unchecked Sendable {
  // Unchecked: only the owner of a node's single reference writes it.
  /// The text except the leaf's, with an empty node in the leaf's slot.
  var root: RopeNode
  /// The leaf of the last edit. Further edits are likely in it, and the nodes above count them
  /// once, when it is put back.
  var leaf: RopeNode
  /// The number of scalars before the leaf.
  var leafStart = 0
  /// The child indexes on the path to the leaf's slot: five bits for each level, the lowest level
  /// in the lowest bits.
  var leafPath: UInt64 = 0

  /// Creates a document with a text.
  ///
  /// - Complexity: O(*bytes*).
  public init(_ text: String = "") {
    self.init(text, sizes: .standard)
  }

  /// Creates a document whose nodes have other sizes.
  package init(_ text: String, sizes: RopeSizes) {
    var text = text
    self = text.withUTF8 { Self(valid: $0, sizes) }
  }

  /// Creates a document from UTF-8.
  ///
  /// - Throws: `invalidUTF8`, with the offset of the first invalid byte, or `tooLong`.
  /// - Complexity: O(*bytes*).
  public init(utf8 text: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    if let offset = UTF8Check.firstInvalid(text) { throw .invalidUTF8(offset: offset) }
    guard UTF8Check.scalarCount(text) <= TextOperation.lengthMax else { throw .tooLong }
    self.init(valid: text, .standard)
  }

  private init(valid text: UnsafeBufferPointer<UInt8>, _ sizes: RopeSizes) {
    root = Self.raise(RopeNode.leaves(text, sizes))
    leaf = RopeNode.placeholder(sizes)
    takeLeaf(at: 0)
  }

  /// Adds levels of nodes until one node is left.
  static func raise(_ nodes: [RopeNode]) -> RopeNode {
    var nodes = nodes
    while nodes.count > 1 { nodes = RopeNode.parents(of: nodes) }
    return nodes[0]
  }

  /// The length in Unicode scalars. O(1), like the other lengths.
  public var scalarCount: Int { root.total.scalars &+ leaf.total.scalars }

  /// The length in UTF-8 bytes.
  public var utf8Count: Int { total.utf8 }

  /// The length in UTF-16 units.
  public var utf16Count: Int { total.utf16 }

  /// The number of newlines (U+000A) + 1.
  public var lineCount: Int { total.newlines + 1 }

  /// The lengths in all units.
  private var total: TextMetrics {
    var total = root.total
    total += leaf.total
    return total
  }

  /// The whole text.
  ///
  /// - Complexity: O(*n*).
  public var text: String {
    let count = utf8Count
    return String(unsafeUninitializedCapacity: count) { buffer in
      var offset = 0
      forEachChunk { chunk in
        guard let target = buffer.baseAddress, let source = chunk.baseAddress else { return }
        (target + offset).update(from: source, count: chunk.count)
        offset += chunk.count
      }
      return offset
    }
  }

  /// Calls `body` with pieces of the text's UTF-8, in order. No scalar is split.
  public func forEachChunk(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    forEachLeaf(below: root, isOnPath: true) { $0.forEachPart(body) }
  }

  private func forEachLeaf(
    below node: RopeNode, isOnPath: Bool, _ body: (NodeMemory) -> Void
  ) {
    let height = node.height
    if height == 0 {
      body(isOnPath ? leaf.memory : node.memory)
      return
    }
    let hole = isOnPath ? leafIndex(height - 1) : -1
    for index in 0..<node.count {
      forEachLeaf(below: node.children[index], isOnPath: index == hole, body)
    }
  }
}

extension Document: Equatable {
  /// Whether two texts have the same bytes: é and e with a combining accent differ.
  ///
  /// - Complexity: O(1) for copies of one document, else O(*n*).
  public static func == (left: Self, right: Self) -> Bool {
    if left.root === right.root, left.leaf === right.leaf { return true }
    guard left.total == right.total else { return false }
    return left.utf8Bytes == right.utf8Bytes
  }
}
