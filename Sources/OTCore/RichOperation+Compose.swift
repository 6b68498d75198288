extension RichOperation {
  /// Returns one operation with the effect of this one, then `next`.
  ///
  /// The later value of a key counts. A removal remains on retained text, and removes the key from
  /// inserted text.
  ///
  /// - Throws: `lengthMismatch` if `next` does not start where this one ends.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func composed(with next: RichOperation) throws(OperationError) -> RichOperation {
    let text = try text.composed(with: next.text)
    var format: Format?
    if self.format != nil || next.format != nil {
      format = self.text.withPacked { words, _ in self.format.composed(words, with: next) }
    }
    return RichOperation(text: text, format: format, makesRich: makesRich || next.makesRich)
  }
}

extension Format? {
  /// Returns the format of an operation composed with the next.
  ///
  /// - Parameter words: The operation on the text that this is the format of.
  func composed(
    _ words: UnsafeBufferPointer<TextOperation.Word>, with next: RichOperation
  ) -> Format? {
    withView { own in
      next.format.withView { view in
        next.text.withPacked { nextWords, _ in ComposeWalk.format(own, words, view, nextWords) }
      }
    }
  }
}

/// Composes two formats, in parallel with their texts.
private struct ComposeWalk: ~Copyable {
  var spans: RunReader
  var runs: RunReader
  var nextSpans: RunReader
  var nextRuns: RunReader
  var merger: SetMerger
  var spansOut: RunWriter
  var runsOut: RunWriter

  /// Returns the composed format. Not inlined, because ``TextOperation/withPacked`` would copy it.
  @inline(never)
  static func format(
    _ own: FormatView, _ words: UnsafeBufferPointer<TextOperation.Word>, _ next: FormatView,
    _ nextWords: UnsafeBufferPointer<TextOperation.Word>
  ) -> Format? {
    let most = words.count + nextWords.count + own.spans.count + next.spans.count + 2
    let runsMax = most + own.runs.count + next.runs.count
    return Scratch.with(words: most + runsMax, text: 0) { memory, _ in
      let memory = RunWriter.memory(memory)
      var walk = ComposeWalk(
        spans: RunReader(own.spans), runs: RunReader(own.runs), nextSpans: RunReader(next.spans),
        nextRuns: RunReader(next.runs), merger: SetMerger(own.sets, viewing: next.sets),
        spansOut: RunWriter(memory), runsOut: RunWriter(memory + most))
      walk.walk(words, nextWords)
      return Format(
        spans: walk.spansOut.written, runs: walk.runsOut.written, sets: walk.merger.takeSets())
    }
  }

  @inline(__always)
  private mutating func walk(
    _ words: UnsafeBufferPointer<TextOperation.Word>,
    _ nextWords: UnsafeBufferPointer<TextOperation.Word>
  ) {
    var one = WordReader(words)
    var two = WordReader(nextWords)
    while true {
      let a = one.word
      let b = two.word
      if a.isDelete {
        spansOut.put(0, count: a.scalars)
        spans.skip(a.scalars)
        one.advance()
        continue
      }
      if b.isInsert {
        putInserted(b.scalars)
        two.advance()
        continue
      }
      if one.isAtEnd || two.isAtEnd { return }
      let count = min(a.scalars, b.scalars)
      switch (a.isRetain, b.isRetain) {
      case (true, true): mergeKept(count)
      case (true, false):
        spansOut.put(0, count: count)
        spans.skip(count)
        nextSpans.skip(count)
      case (false, true): mergeInserted(count)
      case (false, false):
        runs.skip(count)
        nextSpans.skip(count)
      }
      one.take(count)
      two.take(count)
    }
  }

  private mutating func putInserted(_ count: Int) {
    var left = count
    while left > 0 {
      let piece = min(left, nextRuns.word.count)
      runsOut.put(merger.adopt(nextRuns.word.value), count: piece)
      nextRuns.take(piece)
      left -= piece
    }
  }

  private mutating func mergeKept(_ count: Int) {
    var left = count
    while left > 0 {
      let piece = min(left, spans.word.count, nextSpans.word.count)
      spansOut.put(
        merger.merge(.overlay, spans.word.value, other: nextSpans.word.value), count: piece)
      spans.take(piece)
      nextSpans.take(piece)
      left -= piece
    }
  }

  private mutating func mergeInserted(_ count: Int) {
    var left = count
    while left > 0 {
      let piece = min(left, runs.word.count, nextSpans.word.count)
      runsOut.put(
        merger.merge(.settle, runs.word.value, other: nextSpans.word.value), count: piece)
      runs.take(piece)
      nextSpans.take(piece)
      left -= piece
    }
  }
}
