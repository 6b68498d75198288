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
    guard operation.block != nil else {
      apply(operation.edit)
      return
    }
    operation.withPacked { words, text in
      var position = 0
      var offset = 0
      var index = 0
      while index < words.count {
        let word = words[index]
        if word.isRetain {
          position += word.scalars
          index += 1
          continue
        }
        // Inserts and deletes between two retains are one replacement, in whatever order they
        // stand: the texts inserted lie side by side.
        var bytes = 0
        var deleted = 0
        while index < words.count, !words[index].isRetain {
          if words[index].isInsert {
            bytes += words[index].bytes
          } else {
            deleted += words[index].scalars
          }
          index += 1
        }
        let inserted = UnsafeBufferPointer(rebasing: text[offset..<(offset + bytes)])
        let added = TextMetrics(inserted)
        edit(at: position, deleting: deleted, inserting: inserted, added)
        offset += bytes
        position += added.scalars
      }
    }
  }

  /// Applies an edit that fits.
  @inline(__always)
  private mutating func apply(_ edit: InlineEdit) {
    var text = edit.text
    withUnsafeBytes(of: &text) { text in
      let inserted = UnsafeBufferPointer(
        start: text.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self),
        count: Int(edit.bytes))
      self.edit(
        at: Int(edit.prefix), deleting: Int(edit.deleted), inserting: inserted,
        TextMetrics(edit))
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
      let added = TextMetrics(text)
      if scalarCount - range.count + added.scalars > TextOperation.lengthMax { return true }
      edit(at: range.lowerBound, deleting: range.count, inserting: text, added)
      return false
    }
    if isTooLong { throw .tooLong }
  }

  /// Deletes and inserts at one place, which lies within the text.
  @inline(__always)
  private mutating func edit(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) {
    // None of these passes the lengths checked, so nothing overflows.
    let start = position &- fingerStart
    if start >= 0, start &+ deleted <= fingerCount,
      editLeaf(at: start, deleting: deleted, inserting: text, added)
    {
      return
    }
    editAnywhere(at: position, deleting: deleted, inserting: text, added)
  }

  @inline(never)
  private mutating func editAnywhere(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) {
    if deleted == 0, text.isEmpty { return }
    seek(position)
    let start = position - fingerStart
    if start + deleted <= fingerCount,
      editLeaf(at: start, deleting: deleted, inserting: text, added)
    {
      return
    }
    fingerCount = -1
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    let more = root.rewrite(position, position + deleted, with: text)
    if !more.isEmpty { root = Self.raise([root] + more) }
    while root.height > 0, root.count <= 1 {
      root = root.count == 1 ? root.children[0] : RopeNode.emptyLeaf(root.sizes)
    }
  }

  /// Points the finger at the leaf that holds a position, its end included; at none when the path is
  /// too long to be kept.
  private mutating func seek(_ position: Int) {
    guard root.height <= Self.fingerLevelsMax else {
      fingerStart = 0
      fingerCount = -1
      return
    }
    var node = root.memory
    var start = 0
    var path: UInt64 = 0
    for _ in 0..<root.height {
      let last = Int(node.header.pointee.count) - 1
      var index = 0
      while index < last {
        let end = start + node.metrics[index].scalars
        if end >= position { break }
        start = end
        index += 1
      }
      path = path << 8 | UInt64(truncatingIfNeeded: index)
      node = node.child(index)
    }
    fingerStart = start
    fingerCount = node.header.pointee.total.scalars
    // The root's choice ends up highest, where the walk begins.
    fingerPath = path
  }

  /// So many levels fit into ``fingerPath``.
  private static var fingerLevelsMax: Int { 8 }

  /// Which child of the node at a level leads to the finger.
  @inline(__always)
  private func fingerIndex(_ level: Int) -> Int {
    Int(truncatingIfNeeded: fingerPath &>> UInt64(truncatingIfNeeded: level &<< 3)) & 0xff
  }

  /// Edits the leaf under the finger. The gap is left behind what was inserted.
  ///
  /// - Returns: `false` when the leaf has no room or would become too small; nothing has changed.
  @inline(__always)
  private mutating func editLeaf(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) -> Bool {
    // Down to the leaf, taking copies of what others hold too.
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    let top = root.memory
    let height = Int(top.header.pointee.height)
    var leaf = top
    var level = height
    while level > 0 {
      level &-= 1
      leaf = leaf.ownChild(fingerIndex(level))
    }
    if text.count > leaf.room { return false }
    var growth = added
    leaf.moveGap(toScalar: position)
    if deleted > 0 {
      let removed = leaf.metricsBehindGap(scalars: deleted)
      if height > 0 {
        // A leaf that becomes small takes text of a neighbour, or joins it.
        let after = leaf.header.pointee.total.utf8 - removed.utf8 + added.utf8
        if after < leaf.header.pointee.sizes.leafMin { return false }
      }
      leaf.removeBehindGap(removed)
      growth -= removed
    }
    if !text.isEmpty { leaf.insertAtGap(text, added) }
    var node = top
    level = height
    while level > 0 {
      level &-= 1
      let index = fingerIndex(level)
      node.header.pointee.total += growth
      node.metrics[index] += growth
      node = node.child(index)
    }
    fingerCount = leaf.header.pointee.total.scalars
    return true
  }
}
