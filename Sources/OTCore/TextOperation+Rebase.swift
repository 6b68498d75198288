extension TextOperation {
  /// Rebases this operation over a whole history, one operation after the other, in place.
  ///
  /// The result is that of repeated ``transformed(over:side:)``, without intermediate operations:
  /// an edit of the history changes a few packed words, and the inserted text is never moved.
  ///
  /// - Parameters:
  ///   - history: Consecutive operations; the first has this one's base.
  ///   - side: Whose insert comes first at one position; `.left` is the own one.
  /// - Throws: As ``transformed(over:side:)``. Nothing changes then.
  /// - Complexity: O(*components* + *history*) for edits near each other, counting the history's
  ///   components. An edit elsewhere adds a walk over blocks of 512 components, and through one
  ///   block.
  public mutating func rebase(
    over history: ArraySlice<TextOperation>, side: Side
  ) throws(OperationError) {
    var result = self
    var index = history.startIndex
    // While the result is a single inline edit.
    while index < history.endIndex, result.block == nil {
      index = Self.passSeparate(&result.edit, history, from: index)
      if index < history.endIndex {
        result = try result.transformed(over: history[index], side: side)
        index += 1
      }
    }
    // After an edit that touches this operation, others probably follow: with each one the buffer
    // is used for longer.
    var bufferedCount = 16
    while index < history.endIndex {
      var end = history.endIndex
      if end - index >= 8, var apart = SeparateEdits(result, side: side) {
        let passed = apart.pass(history, from: index)
        if passed > index { result = apart.moved(result) }
        bufferedCount = passed - index < 64 ? min(2 * bufferedCount, history.count) : 16
        index = passed
        end = min(index + bufferedCount, end)
      }
      if index + 1 == end, history[index].block != nil {
        result = try result.transformed(over: history[index], side: side)
      } else if index < end {
        result = try result.pass(history[index..<end], side: side)
      }
      index = end
    }
    self = result
  }

  /// Returns this operation as it applies after a whole history; see ``rebase(over:side:)``.
  public func rebased(
    over history: ArraySlice<TextOperation>, side: Side
  ) throws(OperationError) -> TextOperation {
    var result = self
    try result.rebase(over: history, side: side)
    return result
  }

  /// Rebases an edit over operations that do not touch it.
  ///
  /// - Returns: The index of the first operation that touches it or does not fit.
  private static func passSeparate(
    _ edit: inout InlineEdit, _ history: ArraySlice<TextOperation>, from index: Int
  ) -> Int {
    var prefix = Int(edit.prefix)
    let deleted = Int(edit.deleted)
    var length = edit.baseLength
    let passed = history[index...].withUnsafeBufferPointer { history in
      let first = history.baseAddress.unsafelyUnwrapped
      for step in 0..<history.count {
        let other = (first + step).pointee.edit
        let otherEnd = Int(other.prefix) + Int(other.deleted)
        let growth = other.growth
        guard (first + step).pointee.block == nil, other.baseLength == length,
          length + Int(edit.scalars) + growth <= lengthMax
        else { return step }
        if otherEnd < prefix {
          prefix += growth
        } else if prefix + deleted >= Int(other.prefix) {
          return step
        }
        length += growth
      }
      return history.count
    }
    edit.prefix = UInt32(truncatingIfNeeded: prefix)
    edit.suffix = UInt32(truncatingIfNeeded: length - prefix - deleted)
    return index + passed
  }

  /// Rebases all components over operations of any kind.
  private func pass(
    _ history: ArraySlice<TextOperation>, side: Side
  ) throws(OperationError) -> TextOperation {
    var buffer = RebaseBuffer(self, side: side)
    try history.withUnsafeBufferPointer { history throws(OperationError) in
      guard let first = history.baseAddress else { return }
      for step in 0..<history.count { try buffer.pass((first + step).pointee) }
    }
    return buffer.rebased()
  }
}
