extension RichOperation {
  /// Transforms two concurrent operations, so that each applies after the other; `a` is committed.
  ///
  /// The texts are transformed as in ``TextOperation/transform(_:_:)``. Where both change one key
  /// of the same text, `a`'s value remains and `b` loses the key. Text that one formats and the
  /// other deletes is deleted.
  ///
  /// - Parameter growth: Whether text that one operation inserts within a range takes the other's
  ///   formatting of the range: the keys that it changes to the same value before and after the
  ///   position where the insertion's group of inserts and deletes begins. `a`'s insertions do not
  ///   take keys that `a` itself changes there.
  /// - Throws: As ``TextOperation/transform(_:_:)``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public static func transform(
    _ a: RichOperation, _ b: RichOperation, growth: Growth
  ) throws(OperationError) -> (aAfterB: RichOperation, bAfterA: RichOperation) {
    #if !hasFeature(Embedded)
      // In the browser, two walks save the code of a third.
      if a.changes(over: b, growth), b.changes(over: a, growth) {
        try TextOperation.checkMeeting(a.text, b.text)
        let (aText, aFormat, bText, bFormat) = a.withHalfView { aView in
          b.withHalfView { RichPairWalk.transformed(aView, $0, growth) }
        }
        return (
          RichOperation(text: aText, format: aFormat, makesRich: a.makesRich),
          RichOperation(text: bText, format: bFormat, makesRich: b.makesRich)
        )
      }
    #endif
    let (aText, bText) = try TextOperation.transform(a.text, b.text)
    var (aFormat, bFormat): (Format?, Format?)
    if a.format != nil || b.format != nil {
      aFormat = a.format(after: b, side: .left, growth)
      bFormat = b.format(after: a, side: .right, growth)
    }
    return (
      RichOperation(text: aText, format: aFormat, makesRich: a.makesRich),
      RichOperation(text: bText, format: bFormat, makesRich: b.makesRich)
    )
  }

  /// Returns this operation as it applies after `other`.
  ///
  /// - Parameters:
  ///   - side: `.left` if this is the committed operation, `.right` if `other` is.
  ///   - growth: As for ``transform(_:_:growth:)``.
  /// - Throws: As ``TextOperation/transform(_:_:)``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func transformed(
    over other: RichOperation, side: Side, growth: Growth = .grows
  ) throws(OperationError) -> RichOperation {
    let text = try text.transformed(over: other.text, side: side)
    let isPlain = format == nil && other.format == nil
    return RichOperation(
      text: text, format: isPlain ? nil : format(after: other, side: side, growth),
      makesRich: makesRich)
  }

  /// Whether inserted text may take the other operation's formatting.
  @inline(__always)
  private func takes(from other: RichOperation, _ growth: Growth) -> Bool {
    growth == .grows && other.format.spanCount > 0 && text.insertedBytes > 0
  }

  /// Whether the format may change by a transformation over the other operation.
  @inline(__always)
  private func changes(over other: RichOperation, _ growth: Growth) -> Bool {
    format.spanCount > 0 || takes(from: other, growth)
  }

  /// Returns the format as it applies after `other`, which has the same base.
  private func format(after other: RichOperation, side: Side, _ growth: Growth) -> Format? {
    if !changes(over: other, growth) { return format }
    let takes = takes(from: other, growth)
    return format.withView { own in
      other.format.withView { view in
        text.withPacked { words, _ in
          other.text.withPacked { otherWords, _ in
            FormatWalk.format(own, words, after: view, otherWords, side: side, growth, takes: takes)
          }
        }
      }
    }
  }
}

extension RunWriter {
  /// Scratch memory for operation words, used for runs.
  @inline(__always)
  static func memory(
    _ words: UnsafeMutablePointer<TextOperation.Word>
  ) -> UnsafeMutablePointer<RunWord> {
    UnsafeMutableRawPointer(words).assumingMemoryBound(to: RunWord.self)
  }
}

/// Moves an operation's spans and runs over a concurrent operation.
struct FormatWalk: ~Copyable {
  var merger: SetMerger
  /// `.left` if the own operation is the committed one.
  let side: Side
  let growth: RichOperation.Growth

  /// Returns the format after the other operation. Not inlined, because ``TextOperation/withPacked``
  /// would copy it.
  ///
  /// - Parameter takes: Whether the runs may take the other operation's formatting.
  @inline(never)
  static func format(
    _ own: FormatView, _ words: UnsafeBufferPointer<TextOperation.Word>, after other: FormatView,
    _ otherWords: UnsafeBufferPointer<TextOperation.Word>, side: Side,
    _ growth: RichOperation.Growth, takes: Bool
  ) -> Format? {
    let spansMax = own.spans.count + other.spans.count + otherWords.count + 2
    let runsMax = own.runs.count + words.count + 2
    return Scratch.with(words: spansMax + runsMax, text: 0) { memory, _ in
      let memory = RunWriter.memory(memory)
      var walk = FormatWalk(
        merger: SetMerger(own.sets, viewing: other.sets), side: side, growth: growth)
      var spansOut = RunWriter(memory)
      if !own.spans.isEmpty { walk.move(own.spans, over: otherWords, other.spans, to: &spansOut) }
      var runsOut = RunWriter(memory + spansMax)
      if takes {
        walk.grow(own.runs, of: words, own.spans, by: other.spans, to: &runsOut)
      } else {
        runsOut.copy(own.runs)
      }
      return Format(
        spans: spansOut.written, runs: runsOut.written, sets: walk.merger.takeSets())
    }
  }

  /// Moves spans by the other operation's text.
  @inline(__always)
  mutating func move(
    _ spans: UnsafeBufferPointer<RunWord>, over words: UnsafeBufferPointer<TextOperation.Word>,
    _ otherSpans: UnsafeBufferPointer<RunWord>, to out: inout RunWriter
  ) {
    var own = RunReader(spans)
    var other = RunReader(otherSpans)
    // The number of scalars that the other reader still has to skip. It is only read where there is
    // an own set.
    var lag = 0
    var grown: UInt32 = 0
    var isInGroup = false
    for word in words {
      // Within a group, a delete may end the spans, and later inserts still grow.
      if own.isAtEnd, word.isRetain || !isInGroup || grown == 0 { return }
      if word.isRetain {
        isInGroup = false
        var left = word.scalars
        while left > 0 {
          let set = own.word.value
          var count = min(left, own.word.count)
          if set == 0 || side == .left {
            if own.isAtEnd { return }
            out.put(set, count: count)
            lag &+= count
          } else {
            other.skip(lag)
            lag = 0
            count = min(count, other.word.count)
            out.put(merger.merge(.subtract, set, other: other.word.value), count: count)
            other.take(count)
          }
          own.take(count)
          left &-= count
        }
        continue
      }
      if !isInGroup {
        // Decided where the group begins: at the insertion's own position, "delete, insert" would
        // leave a gap that "insert, delete" does not.
        isInGroup = true
        grown = growth == .stays ? 0 : merger.merge(.common, own.previous, own.word.value)
        if side == .right, grown != 0 {
          other.skip(lag)
          lag = 0
          grown = merger.merge(.subtract, grown, other: other.previous)
          grown = merger.merge(.subtract, grown, other: other.word.value)
        }
      }
      if word.isInsert {
        out.put(grown, count: word.scalars)
      } else {
        own.skip(word.scalars)
        lag &+= word.scalars
      }
    }
  }

  /// Gives inserted text the formatting of the surrounding range in the other operation.
  @inline(__always)
  mutating func grow(
    _ runs: UnsafeBufferPointer<RunWord>, of words: UnsafeBufferPointer<TextOperation.Word>,
    _ spans: UnsafeBufferPointer<RunWord>, by otherSpans: UnsafeBufferPointer<RunWord>,
    to out: inout RunWriter
  ) {
    var run = RunReader(runs)
    var own = RunReader(spans)
    var other = RunReader(otherSpans)
    // The number of scalars that the readers still have to skip. They are only read where a group
    // begins.
    var lag = 0
    var ownLag = 0
    var grown: UInt32 = 0
    var isInGroup = false
    for word in words {
      if word.isRetain {
        isInGroup = false
      } else if !isInGroup {
        isInGroup = true
        other.skip(lag)
        lag = 0
        grown = merger.common(other.previous, other.word.value)
        if side == .left, grown != 0 {
          own.skip(ownLag)
          ownLag = 0
          grown = merger.merge(.subtract, grown, own.previous)
          grown = merger.merge(.subtract, grown, own.word.value)
        }
      }
      if word.isInsert {
        var left = word.scalars
        while left > 0 {
          let count = min(left, run.word.count)
          out.put(merger.merge(.settle, run.word.value, grown), count: count)
          run.take(count)
          left -= count
        }
      } else {
        lag &+= word.scalars
        ownLag &+= word.scalars
      }
    }
  }

}
