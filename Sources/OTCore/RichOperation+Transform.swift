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

  /// Returns the format as it applies after `other`, which has the same base.
  private func format(after other: RichOperation, side: Side, _ growth: Growth) -> Format? {
    let hasSpans = format.spanCount > 0
    let takes = growth == .grows && other.format.spanCount > 0 && text.insertedBytes > 0
    if !hasSpans, !takes { return format }
    let walk = FormatWalk(
      merger: SetMerger(format.sets, other.format.sets), side: side, growth: growth)
    return format.withWords { spans, runs in
      other.format.withWords { otherSpans, _ in
        text.withPacked { words, _ in
          other.text.withPacked { otherWords, _ in
            walk.format(
              spans, takes ? runs : nil, words, otherSpans, otherWords, copying: runs)
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
struct FormatWalk {
  var merger: SetMerger
  /// `.left` if the own operation is the committed one.
  let side: Side
  let growth: RichOperation.Growth

  /// Returns the format after the other operation. Not inlined, because ``TextOperation/withPacked``
  /// would copy it.
  ///
  /// - Parameters:
  ///   - growing: The runs that may take the other operation's formatting.
  ///   - copied: The runs that may not.
  @inline(never)
  func format(
    _ spans: UnsafeBufferPointer<RunWord>, _ growing: UnsafeBufferPointer<RunWord>?,
    _ words: UnsafeBufferPointer<TextOperation.Word>, _ otherSpans: UnsafeBufferPointer<RunWord>,
    _ otherWords: UnsafeBufferPointer<TextOperation.Word>,
    copying copied: UnsafeBufferPointer<RunWord>
  ) -> Format? {
    let spansMax = spans.count + otherSpans.count + otherWords.count + 2
    let runsMax = copied.count + words.count + 2
    return Scratch.with(words: spansMax + runsMax, text: 0) { memory, _ in
      let memory = RunWriter.memory(memory)
      var walk = self
      var spansOut = RunWriter(memory)
      if !spans.isEmpty { walk.move(spans, over: otherWords, otherSpans, to: &spansOut) }
      var runsOut = RunWriter(memory + spansMax)
      if let growing {
        walk.grow(growing, of: words, spans, by: otherSpans, to: &runsOut)
      } else {
        runsOut.copy(copied)
      }
      return Format(spans: spansOut.written, runs: runsOut.written, sets: walk.merger.table.sets)
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
        grown = common(other.previous, other.word.value)
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

  /// Returns the number, in the own table, of the common entries of two sets of the other
  /// operation.
  @inline(__always)
  private mutating func common(_ before: UInt32, _ behind: UInt32) -> UInt32 {
    if before == 0 || behind == 0 { return 0 }
    let adopted = merger.adopt(before)
    return before == behind ? adopted : merger.merge(.common, adopted, merger.adopt(behind))
  }
}
