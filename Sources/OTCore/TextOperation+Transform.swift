/// The operation whose insert comes first when both insert at one position.
public enum Side: Sendable {
  /// The own operation.
  case left
  /// The other operation.
  case right
}

extension TextOperation {
  /// Transforms two concurrent operations: `a` then `bAfterA` results in the same text as `b` then
  /// `aAfterB`.
  ///
  ///            a
  ///        ●──────▶●
  ///      b │       │ bAfterA
  ///        ▼       ▼
  ///        ●──────▶●
  ///         aAfterB
  ///
  /// At one position, `a`'s insert comes first.
  ///
  /// - Throws: `lengthMismatch` if the base lengths differ, `tooLong` if the common result would
  ///   exceed ``lengthMax``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied; O(1) for two separate single
  ///   edits.
  public static func transform(
    _ a: TextOperation, _ b: TextOperation
  ) throws(OperationError) -> (aAfterB: TextOperation, bAfterA: TextOperation) {
    try checkMeeting(a, b)
    if a.block == nil, b.block == nil {
      if Int(a.edit.prefix) + Int(a.edit.deleted) < Int(b.edit.prefix) {
        return (a.growing(suffixBy: b.edit.growth), b.growing(prefixBy: a.edit.growth))
      }
      if Int(b.edit.prefix) + Int(b.edit.deleted) < Int(a.edit.prefix) {
        return (a.growing(prefixBy: b.edit.growth), b.growing(suffixBy: a.edit.growth))
      }
    }
    let aTarget = a.targetLength
    let bTarget = b.targetLength
    return a.withPacked { aWords, aText in
      b.withPacked { bWords, bText in
        let room = aWords.count + bWords.count + 1
        return Scratch.with(words: 2 * room, text: 0) { memory, _ in
          var aOut = WordWriter(memory)
          var bOut = WordWriter(memory + room)
          let growth = walk(aWords, bWords, &aOut, &bOut)
          let target = aTarget + growth
          return (
            TextOperation(packing: aOut.written, text: aText, base: bTarget, target: target),
            TextOperation(packing: bOut.written, text: bText, base: aTarget, target: target)
          )
        }
      }
    }
  }

  /// Returns this operation as it applies after `other`.
  ///
  /// - Parameter side: Whose insert comes first at one position; `.left` is the own one.
  /// - Throws: As ``transform(_:_:)``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied; O(1) for two separate single
  ///   edits.
  public func transformed(
    over other: TextOperation, side: Side
  ) throws(OperationError) -> TextOperation {
    try Self.checkMeeting(self, other)
    if block == nil, other.block == nil {
      if Int(edit.prefix) + Int(edit.deleted) < Int(other.edit.prefix) {
        return growing(suffixBy: other.edit.growth)
      }
      if Int(other.edit.prefix) + Int(other.edit.deleted) < Int(edit.prefix) {
        return growing(prefixBy: other.edit.growth)
      }
    }
    let otherTarget = other.targetLength
    return withPacked { words, text in
      other.withPacked { otherWords, _ in
        Scratch.with(words: words.count + otherWords.count, text: 0) { memory, _ in
          var out = WordWriter(memory)
          let growth =
            side == .left
            ? Self.walk(words, over: otherWords, side: .left, &out)
            : Self.walk(words, over: otherWords, side: .right, &out)
          return TextOperation(
            packing: out.written, text: text, base: otherTarget, target: otherTarget + growth)
        }
      }
    }
  }

  @inline(__always)
  static func checkMeeting(
    _ a: TextOperation, _ b: TextOperation
  ) throws(OperationError) {
    let length = a.baseLength
    guard length == b.baseLength else {
      throw .lengthMismatch(expected: length, found: b.baseLength)
    }
    // An insert is at most as long as the target; deletions are ignored.
    if length + a.targetLength + b.targetLength > lengthMax,
      length + a.insertedScalars + b.insertedScalars > lengthMax
    {
      throw .tooLong
    }
  }

  var insertedScalars: Int {
    withPacked { words, _ in
      var sum = 0
      for word in words where word.isInsert { sum += word.scalars }
      return sum
    }
  }

  @inline(__always)
  private func growing(prefixBy growth: Int) -> TextOperation {
    var result = self
    result.edit.prefix = UInt32(truncatingIfNeeded: Int(edit.prefix) + growth)
    return result
  }

  @inline(__always)
  private func growing(suffixBy growth: Int) -> TextOperation {
    var result = self
    result.edit.suffix = UInt32(truncatingIfNeeded: Int(edit.suffix) + growth)
    return result
  }

  /// Walks both operations in parallel.
  ///
  /// - Returns: The growth of the text by `b` after `a`.
  private static func walk(
    _ aWords: UnsafeBufferPointer<Word>, _ bWords: UnsafeBufferPointer<Word>,
    _ aOut: inout WordWriter, _ bOut: inout WordWriter
  ) -> Int {
    var left = WordReader(aWords)
    var right = WordReader(bWords)
    var growth = 0
    while true {
      let a = left.word
      let b = right.word
      if a.isInsert {
        aOut.put(a)
        bOut.put(a.retaining)
        left.advance()
        continue
      }
      if b.isInsert {
        aOut.put(b.retaining)
        bOut.put(b)
        growth &+= b.scalars
        right.advance()
        continue
      }
      if left.isAtEnd || right.isAtEnd { return growth }
      let count = min(a.scalars, b.scalars)
      let piece = UInt64(truncatingIfNeeded: count) << 34
      if a.isRetain {
        if b.isRetain {
          aOut.put(Word(bits: piece))
          bOut.put(Word(bits: piece))
        } else {
          bOut.put(Word(bits: piece | 2))
          growth &-= count
        }
      } else if b.isRetain {
        aOut.put(Word(bits: piece | 2))
      }
      left.take(count)
      right.take(count)
    }
  }

  /// Walks like ``walk(_:_:_:_:)``, for the result of one operation.
  ///
  /// - Parameter side: A constant at each call, so that inlining creates one walk for each side.
  /// - Returns: The growth of the text by the result.
  @inline(__always)
  private static func walk(
    _ words: UnsafeBufferPointer<Word>, over otherWords: UnsafeBufferPointer<Word>, side: Side,
    _ out: inout WordWriter
  ) -> Int {
    var own = WordReader(words)
    var other = WordReader(otherWords)
    var growth = 0
    while true {
      let word = own.word
      let passed = other.word
      if side == .right, passed.isInsert {
        out.put(passed.retaining)
        other.advance()
        continue
      }
      if word.isInsert {
        out.put(word)
        growth &+= word.scalars
        own.advance()
        continue
      }
      if side == .left, passed.isInsert {
        out.put(passed.retaining)
        other.advance()
        continue
      }
      if own.isAtEnd || other.isAtEnd { return growth }
      let count = min(word.scalars, passed.scalars)
      if passed.isRetain {
        out.put(Word(bits: UInt64(truncatingIfNeeded: count) << 34 | word.bits & 3))
        if word.isDelete { growth &-= count }
      }
      own.take(count)
      other.take(count)
    }
  }
}
