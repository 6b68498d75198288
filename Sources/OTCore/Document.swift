/// A text that operations are applied to: a rope that counts in all units.
///
/// Positions are Unicode scalars; they convert to UTF-16 units, UTF-8 bytes and lines in
/// O(log *n*). Copying is O(1), and a copy never changes: it is a snapshot. Edits near the last one
/// cost a few nanoseconds, others O(log *n*).
///
/// The text lies in leaves of 512 to 2,048 bytes under nodes of 8 to 32 children; a text that fits into
/// one leaf has only that.
public struct Document: @unchecked Sendable {
  // Unchecked, for a node is written only by whoever holds the one reference to it.
  var root: RopeNode
  /// The start of the last edit's leaf; edits tend to stay there.
  var fingerStart = 0
  /// Scalars in that leaf; negative when there is none.
  var fingerCount = -1
  /// Which child leads there, for each level eight bits, the lowest level lowest.
  var fingerPath: UInt64 = 0

  /// Makes a document of a text.
  ///
  /// - Complexity: O(*bytes*).
  public init(_ text: String = "") {
    self.init(text, sizes: .standard)
  }

  /// Makes a document of nodes of other sizes.
  package init(_ text: String, sizes: RopeSizes) {
    var text = text
    root = text.withUTF8 { Self.tree($0, sizes) }
  }

  /// Makes a document of UTF-8.
  ///
  /// - Throws: `invalidUTF8`, with the offset of the first byte that is none, or `tooLong`.
  /// - Complexity: O(*bytes*).
  public init(utf8 text: UnsafeBufferPointer<UInt8>) throws(OperationError) {
    if let offset = UTF8Check.firstInvalid(text) { throw .invalidUTF8(offset: offset) }
    guard UTF8Check.scalarCount(text) <= TextOperation.lengthMax else { throw .tooLong }
    root = Self.tree(text, .standard)
  }

  private static func tree(_ text: UnsafeBufferPointer<UInt8>, _ sizes: RopeSizes) -> RopeNode {
    raise(RopeNode.leaves(text, sizes))
  }

  /// Puts nodes above until one is left.
  static func raise(_ nodes: [RopeNode]) -> RopeNode {
    var nodes = nodes
    while nodes.count > 1 { nodes = RopeNode.parents(of: nodes) }
    return nodes[0]
  }

  /// Length in Unicode scalars. O(1), as are the other lengths.
  public var scalarCount: Int { root.total.scalars }

  /// Length in UTF-8 bytes.
  public var utf8Count: Int { root.total.utf8 }

  /// Length in UTF-16 units.
  public var utf16Count: Int { root.total.utf16 }

  /// Newlines (U+000A) + 1.
  public var lineCount: Int { root.total.newlines + 1 }

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

  /// Calls `body` with the text's UTF-8, piece by piece. No scalar is split.
  public func forEachChunk(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    root.forEachChunk(body)
  }
}

extension RopeNode {
  func forEachChunk(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    if height == 0 {
      let leaf = memory
      if !leaf.front.isEmpty { body(leaf.front) }
      if !leaf.back.isEmpty { body(leaf.back) }
    } else {
      for index in 0..<count { children[index].forEachChunk(body) }
    }
  }
}

extension Document: Equatable {
  /// Whether two texts have the same scalars, byte by byte: é and e + accent differ.
  ///
  /// - Complexity: O(1) for copies of one document, else O(*n*).
  public static func == (left: Self, right: Self) -> Bool {
    if left.root === right.root { return true }
    guard left.root.total == right.root.total else { return false }
    return left.utf8Bytes == right.utf8Bytes
  }
}
