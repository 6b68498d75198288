extension Document {
  /// Applies an operation; on error nothing has changed.
  ///
  /// - Throws: `lengthMismatch` when it does not start from this length; `tooLong` when it leaves
  ///   more than ``TextOperation/lengthMax`` scalars.
  /// - Complexity: O(*components* · log *n*), plus the text inserted; close to the last edit O(1).
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    guard operation.baseLength == scalarCount else {
      throw .lengthMismatch(expected: scalarCount, found: operation.baseLength)
    }
    guard operation.targetLength <= TextOperation.lengthMax else { throw .tooLong }
    operation.withPacked { words, text in
      var position = 0
      var offset = 0
      var index = 0
      while index < words.count {
        let word = words[index]
        if word.kind == .retain {
          position += word.scalars
          index += 1
          continue
        }
        // Inserts and deletes between two retains are one replacement, in whatever order they
        // stand: the texts inserted lie side by side.
        var inserted = 0
        var bytes = 0
        var deleted = 0
        while index < words.count, words[index].kind != .retain {
          if words[index].kind == .insert {
            inserted += words[index].scalars
            bytes += words[index].bytes
          } else {
            deleted += words[index].scalars
          }
          index += 1
        }
        edit(
          at: position, deleting: deleted,
          inserting: UnsafeBufferPointer(rebasing: text[offset..<(offset + bytes)]))
        offset += bytes
        position += inserted
      }
    }
  }

  /// Replaces a range of scalars by a text.
  ///
  /// - Throws: `lengthMismatch` when the range ends beyond the text, `tooLong` when the result
  ///   would be; nothing has changed then.
  /// - Complexity: O(log *n*), plus the text inserted.
  public mutating func replace(
    _ range: Range<Int>, with text: String
  ) throws(OperationError) {
    guard range.lowerBound >= 0, range.upperBound <= scalarCount else {
      throw .lengthMismatch(expected: scalarCount, found: range.upperBound)
    }
    var text = text
    let isTooLong = text.withUTF8 { text in
      if scalarCount - range.count + UTF8Check.scalarCount(text) > TextOperation.lengthMax {
        return true
      }
      edit(at: range.lowerBound, deleting: range.count, inserting: text)
      return false
    }
    if isTooLong { throw .tooLong }
  }

  /// Deletes and inserts at one place, which lies within the text.
  @inline(__always)
  mutating func edit(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>
  ) {
    let start = position - fingerStart
    if start >= 0, start + deleted <= fingerCount,
      editLeaf(at: start, deleting: deleted, inserting: text)
    {
      return
    }
    editAnywhere(at: position, deleting: deleted, inserting: text)
  }

  @inline(never)
  private mutating func editAnywhere(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>
  ) {
    if deleted == 0, text.isEmpty { return }
    seek(position)
    let start = position - fingerStart
    if start + deleted <= fingerCount,
      editLeaf(at: start, deleting: deleted, inserting: text)
    {
      return
    }
    fingerCount = -1
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    let more = root.rewrite(position, position + deleted, with: text)
    if !more.isEmpty { root = Self.raise([root] + more) }
    while root.height > 0, root.count <= 1 {
      root = root.count == 1 ? root.children[0] : RopeNode.emptyLeaf()
    }
  }

  /// Points the finger at the leaf that holds a position, its end included.
  private mutating func seek(_ position: Int) {
    var node = root
    var start = 0
    var path: UInt64 = 0
    while node.height > 0 {
      let metrics = node.metrics
      let last = node.count - 1
      var index = 0
      while index < last {
        let end = start + metrics[index].scalars
        if end >= position { break }
        start = end
        index += 1
      }
      path = path << 8 | UInt64(index)
      node = node.children[index]
    }
    fingerStart = start
    fingerCount = node.total.scalars
    // The root's choice ends up highest, where the walk begins.
    fingerPath = path
  }

  /// Edits the leaf under the finger. The gap is left behind what was inserted.
  ///
  /// - Returns: `false` when the leaf has no room or would become too small; nothing has changed.
  @inline(__always)
  private mutating func editLeaf(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let height = root.height
    let path = fingerPath
    // Down to the leaf, taking copies of what others hold too.
    let leaf: RopeNode
    if height == 0 {
      if !isKnownUniquelyReferenced(&root) { root = root.copy() }
      leaf = root
    } else {
      if !isKnownUniquelyReferenced(&root) { root = root.copy() }
      var node = root
      var level = height
      while level > 0 {
        level -= 1
        node = node.ownChild(Int(truncatingIfNeeded: path >> UInt64(8 * level)) & 0xff)
      }
      leaf = node
    }
    let room = leaf.room
    if text.count > room { return false }
    if deleted > 0, height > 0, leaf.total.utf8 - 4 * deleted < RopeNode.leafMin { return false }
    leaf.moveGap(toScalar: position)
    let removed = leaf.metricsBehindGap(scalars: deleted)
    if deleted > 0 { leaf.removeBehindGap(removed) }
    var added = TextMetrics.zero
    if text.count == 1 {
      added = TextMetrics(scalars: 1, utf16: 1, utf8: 1, newlines: text[0] == 0x0a ? 1 : 0)
      leaf.insertAtGap(text, added)
    } else if !text.isEmpty {
      added = TextMetrics(text)
      leaf.insertAtGap(text, added)
    }
    if height > 0 {
      added -= removed
      var node = root
      var level = height
      while level > 0 {
        level -= 1
        let index = Int(truncatingIfNeeded: path >> UInt64(8 * level)) & 0xff
        node.header_.pointee.total += added
        node.metrics[index] += added
        if level > 0 { node = node.children[index] }
      }
    }
    fingerCount = leaf.total.scalars
    return true
  }
}
