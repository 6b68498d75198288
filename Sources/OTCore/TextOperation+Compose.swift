extension TextOperation {
  /// Returns one operation with the effect of this one, then `next`.
  ///
  /// Applying the result equals applying both in turn. Text that this one deletes comes before text
  /// that `next` inserts at the same position. For many operations see ``OperationComposer``.
  ///
  /// - Parameter next: Its base length is this one's target length, in Unicode scalars.
  /// - Throws: `lengthMismatch` if `next` does not start where this one ends.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func composed(with next: TextOperation) throws(OperationError) -> TextOperation {
    let base = baseLength
    let target = next.targetLength
    guard targetLength == next.baseLength else {
      throw .lengthMismatch(expected: targetLength, found: next.baseLength)
    }
    return withPacked { first, firstText in
      next.withPacked { second, secondText in
        Scratch.with(
          words: first.count + second.count, text: firstText.count + secondText.count
        ) { words, text in
          var out = WordWriter(words)
          var textCount = 0
          Self.compose(first, firstText, second, secondText, &out, text, &textCount)
          return TextOperation(
            packing: out.written, text: UnsafeBufferPointer(start: text, count: textCount),
            base: base, target: target)
        }
      }
    }
  }

  private static func compose(
    _ first: UnsafeBufferPointer<Word>, _ firstText: UnsafeBufferPointer<UInt8>,
    _ second: UnsafeBufferPointer<Word>, _ secondText: UnsafeBufferPointer<UInt8>,
    _ out: inout WordWriter, _ text: UnsafeMutablePointer<UInt8>, _ textCount: inout Int
  ) {
    var one = WordReader(first)
    var two = WordReader(second)
    var oneText = 0
    var twoText = 0
    @inline(__always)
    func copy(_ source: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) {
      guard let base = source.baseAddress else { return }
      (text + textCount).update(from: base + start, count: count)
      textCount += count
    }
    while true {
      let a = one.word
      let b = two.word
      if a.isDelete {
        out.put(a)
        one.advance()
        continue
      }
      if b.isInsert {
        out.put(b)
        copy(secondText, twoText, b.bytes)
        twoText += b.bytes
        two.advance()
        continue
      }
      if one.isAtEnd || two.isAtEnd { return }
      let count = min(a.scalars, b.scalars)
      if a.isRetain {
        out.put(Word(bits: UInt64(count) << 34 | b.bits & 3))
        one.take(count)
      } else {
        let bytes =
          count == a.scalars
          ? a.bytes
          : a.bytes == a.scalars
            ? count
            : (firstText.baseAddress.unsafelyUnwrapped + oneText).byteCount(
              ofScalars: count, limit: a.bytes)
        if b.isRetain {
          out.put(Word(.insert, scalars: count, bytes: bytes))
          copy(firstText, oneText, bytes)
        }
        oneText += bytes
        one.take(count, bytes: bytes)
      }
      two.take(count)
    }
  }
}
