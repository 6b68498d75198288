/// The positions and lengths of an operation's single edit, without its text.
struct EditExtent {
  var prefix: Int32
  var deleted: Int32 = 0
  /// The number of inserted scalars.
  var inserted: Int32 = 0
  /// Whether the delete comes before the insert; meaningless unless there are both.
  var deletesFirst = false
  var baseLength: Int

  @inline(__always)
  init(_ edit: InlineEdit) {
    // Lengths are below 2^30.
    prefix = Int32(truncatingIfNeeded: edit.prefix)
    deleted = Int32(truncatingIfNeeded: edit.deleted)
    inserted = Int32(edit.scalars)
    deletesFirst = edit.deletesFirst
    baseLength = edit.baseLength
  }

  /// Reads an operation's block; `nil` if it contains more than one edit.
  @inline(never)
  init?(_ block: borrowing OperationBlock) {
    baseLength = block.top.pointee.base
    let words = block.packedWords
    var index = 0
    prefix = 0
    if index < words.count, words[index].isRetain {
      prefix = Int32(words[index].scalars)
      index += 1
    }
    if index < words.count, words[index].isDelete {
      deleted = Int32(words[index].scalars)
      index += 1
      deletesFirst = index < words.count && words[index].isInsert
    }
    if index < words.count, words[index].isInsert {
      inserted = Int32(words[index].scalars)
      index += 1
      if !deletesFirst, index < words.count, words[index].isDelete {
        deleted = Int32(words[index].scalars)
        index += 1
      }
    }
    if index < words.count, words[index].isRetain { index += 1 }
    guard index == words.count else { return nil }
  }

  /// Reads an operation; `nil` if it contains more than one edit.
  @inline(__always)
  init?(_ operation: UnsafePointer<TextOperation>) {
    if let block = operation.pointee.block {
      self.init(block)
    } else {
      self.init(operation.pointee.edit)
    }
  }

  /// The change of the text's length.
  @inline(__always)
  var growth: Int32 { inserted &- deleted }
}
