extension Document {
  /// Applies an operation; after an error nothing has changed.
  ///
  /// - Throws: `lengthMismatch` if its base length is not this document's; `tooLong` if its target
  ///   length is above ``TextOperation/lengthMax``.
  /// - Complexity: O(*components* · log *n*), plus the text inserted; O(1) near the last edit.
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    if operation.block == nil, applyToLeaf(operation.edit) { return }
    try applyAnywhere(operation)
  }

  // Not inlined, so that the frequent case remains short.
  @inline(never)
  private mutating func applyAnywhere(_ operation: TextOperation) throws(OperationError) {
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
        if word.isRetain {
          position += word.scalars
          index += 1
          continue
        }
        // Inserts and deletes between two retains are one replacement, in either order: the
        // inserted texts are adjacent in memory.
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

  /// Applies a short edit within the leaf that is out of the tree.
  ///
  /// - Returns: `false` if the edit is elsewhere, the leaf has no room or would become too small,
  ///   or the edit may not fit. Nothing changes then.
  @inline(__always)
  private mutating func applyToLeaf(_ edit: InlineEdit) -> Bool {
    // Near the maximum length, `applyAnywhere` checks exactly.
    let length = scalarCount
    let start = Int(edit.prefix) &- leafStart
    let deleted = Int(edit.deleted)
    guard edit.baseLength == length, length <= TextOperation.lengthMax &- InlineEdit.textCapacity,
      start >= 0, start &+ deleted <= leaf.total.scalars,
      leaf.memory.room >= InlineEdit.textCapacity
    else { return false }
    if !isKnownUniquelyReferenced(&leaf) { copyLeaf(gapAt: start) }
    let leaf = leaf.memory
    if deleted > 0 {
      let isFree = root.height == 0
      guard leaf.delete(deleted, at: start, adding: Int(edit.bytes), isFree: isFree) else {
        return false
      }
      if edit.bytes == 0 { return true }
    } else {
      leaf.moveGap(toScalar: start)
    }
    leaf.insertAtGap(edit)
    return true
  }

  /// Replaces a range of scalars by a text.
  ///
  /// - Throws: `lengthMismatch` if the range ends beyond the text, `tooLong` if the result would be
  ///   too long. Nothing changes then.
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

  /// Deletes and inserts at one position, which is within the text.
  @inline(__always)
  private mutating func edit(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) {
    if !editLeaf(at: position, deleting: deleted, inserting: text, added) {
      editAnywhere(at: position, deleting: deleted, inserting: text, added)
    }
  }

  @inline(never)
  private mutating func editAnywhere(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) {
    if deleted == 0, text.isEmpty { return }
    // At a border, the left leaf is used, because typing continues at its end; deleted text is
    // right of the border.
    let place = deleted > 0 ? position + 1 : position
    if !moveLeaf(forwardTo: place) {
      restoreLeaf()
      takeLeaf(at: place)
    }
    if editLeaf(at: position, deleting: deleted, inserting: text, added) { return }
    restoreLeaf()
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
    let more = root.rewrite(position, position + deleted, with: text)
    if !more.isEmpty { root = Self.raise([root] + more) }
    while root.height > 0, root.count <= 1 {
      root = root.count == 1 ? root.children[0] : RopeNode.emptyLeaf(root.sizes)
    }
    takeLeaf(at: position)
  }

  /// Edits the leaf that is out of the tree. The gap is then after the inserted text.
  ///
  /// - Returns: `false` if the edit is elsewhere, or the leaf has no room or would become too
  ///   small. Nothing changes then.
  @inline(__always)
  private mutating func editLeaf(
    at position: Int, deleting deleted: Int, inserting text: UnsafeBufferPointer<UInt8>,
    _ added: TextMetrics
  ) -> Bool {
    // These numbers are bounded by checked lengths, so nothing overflows.
    let start = position &- leafStart
    guard start >= 0, start &+ deleted <= leaf.total.scalars, text.count <= leaf.memory.room else {
      return false
    }
    if !isKnownUniquelyReferenced(&leaf) { copyLeaf(gapAt: start) }
    let leaf = leaf.memory
    if deleted > 0 {
      guard leaf.delete(deleted, at: start, adding: text.count, isFree: root.height == 0) else {
        return false
      }
    } else {
      leaf.moveGap(toScalar: start)
    }
    if !text.isEmpty { leaf.insertAtGap(text, added) }
    return true
  }

  /// Makes the leaf unique to this document, before it is changed.
  @inline(never)
  private mutating func copyLeaf(gapAt scalar: Int) { leaf = leaf.copy(gapAt: scalar) }
}
