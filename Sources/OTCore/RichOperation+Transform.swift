extension RichOperation {
  /// Returns both operations as they apply after each other; `a` is the committed one.
  ///
  /// The texts are transformed as ``TextOperation/transform(_:_:)`` says. Where both change one key of
  /// the same text, `a`'s value stays and `b` loses the key. Where one formats what the other deletes,
  /// it is deleted.
  ///
  /// - Parameter growth: Whether text that one inserts inside a range takes the other one's formatting of
  ///   the range: keys changed identically before and behind the place where the insertion's group
  ///   of inserts and deletes begins. Of `a`'s insertions, keys that `a` changes there itself do not grow.
  /// - Throws: as ``TextOperation/transform(_:_:)``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public static func transform(
    _ a: RichOperation, _ b: RichOperation, growth: Growth
  ) throws(OperationError) -> (aAfterB: RichOperation, bAfterA: RichOperation) {
    let (aText, bText) = try TextOperation.transform(a.text, b.text)
    if a.format == nil, b.format == nil { return (RichOperation(aText), RichOperation(bText)) }
    return (
      RichOperation(text: aText, format: a.format(after: b, side: .left, growth)),
      RichOperation(text: bText, format: b.format(after: a, side: .right, growth))
    )
  }

  /// Returns this operation as it applies after `other`.
  ///
  /// - Parameters:
  ///   - side: `.left` if this is the committed operation, `.right` if `other` is.
  ///   - growth: as for ``transform(_:_:growth:)``.
  /// - Throws: as ``TextOperation/transform(_:_:)``.
  /// - Complexity: O(*m* + *n*) components, plus the text copied.
  public func transformed(
    over other: RichOperation, side: Side, growth: Growth = .grows
  ) throws(OperationError) -> RichOperation {
    let text = try text.transformed(over: other.text, side: side)
    if format == nil, other.format == nil { return RichOperation(text) }
    return RichOperation(text: text, format: format(after: other, side: side, growth))
  }

  /// The format as it applies after `other`, which starts from the same text.
  private func format(after other: RichOperation, side: Side, _ growth: Growth) -> Format? {
    let hasSpans = format.spanCount > 0
    let takes = growth == .grows && other.format.spanCount > 0 && text.insertedBytes > 0
    if !hasSpans, !takes { return format }
    return format.withWords { spans, runs in
      other.format.withWords { otherSpans, _ in
        text.withPacked { words, _ in
          other.text.withPacked { otherWords, _ in
            let spansMax = spans.count + otherSpans.count + otherWords.count + 2
            let runsMax = runs.count + words.count + 2
            return Scratch.with(words: spansMax + runsMax, text: 0) { memory, _ in
              let memory = RunWriter.memory(memory)
              var walk = FormatWalk(
                merger: SetMerger(format.sets, other.format.sets), side: side, growth: growth)
              var spansOut = RunWriter(memory)
              if hasSpans { walk.move(spans, over: otherWords, otherSpans, to: &spansOut) }
              var runsOut = RunWriter(memory + spansMax)
              if takes {
                walk.grow(runs, of: words, spans, by: otherSpans, to: &runsOut)
              } else {
                runsOut.copy(runs)
              }
              return Format(
                spans: spansOut.written, runs: runsOut.written, sets: walk.merger.table.sets)
            }
          }
        }
      }
    }
  }
}

extension RunWriter {
  /// Scratch memory of an operation's words, for runs.
  @inline(__always)
  static func memory(
    _ words: UnsafeMutablePointer<TextOperation.Word>
  ) -> UnsafeMutablePointer<RunWord> {
    UnsafeMutableRawPointer(words).assumingMemoryBound(to: RunWord.self)
  }
}

/// Moves an operation's spans and runs over another operation from the same text.
struct FormatWalk {
  var merger: SetMerger
  /// `.left` if the own operation is the committed one.
  let side: Side
  let growth: RichOperation.Growth

  /// Moves spans: by the other operation's text alone.
  @inline(__always)
  mutating func move(
    _ spans: UnsafeBufferPointer<RunWord>, over words: UnsafeBufferPointer<TextOperation.Word>,
    _ otherSpans: UnsafeBufferPointer<RunWord>, to out: inout RunWriter
  ) {
    var own = RunReader(spans)
    var other = RunReader(otherSpans)
    // Scalars that the other reader is behind: it is needed only where there is an own set.
    var lag = 0
    var grown: UInt32 = 0
    var isInGroup = false
    for word in words {
      // Within a group, what it deletes may end the spans, and what it inserts still grows.
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
        // Judged where the group begins: at the insertion's own place, "delete, insert" would leave a
        // hole that "insert, delete" does not.
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

  /// Gives inserted text the formatting of the range that the other operation formats around it.
  @inline(__always)
  mutating func grow(
    _ runs: UnsafeBufferPointer<RunWord>, of words: UnsafeBufferPointer<TextOperation.Word>,
    _ spans: UnsafeBufferPointer<RunWord>, by otherSpans: UnsafeBufferPointer<RunWord>,
    to out: inout RunWriter
  ) {
    var run = RunReader(runs)
    var own = RunReader(spans)
    var other = RunReader(otherSpans)
    // Scalars that the readers are behind: they are needed only where a group begins.
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

  /// The common entries of two sets of the other operation, as a number of the own one.
  @inline(__always)
  private mutating func common(_ before: UInt32, _ behind: UInt32) -> UInt32 {
    if before == 0 || behind == 0 { return 0 }
    let adopted = merger.adopt(before)
    return before == behind ? adopted : merger.merge(.common, adopted, merger.adopt(behind))
  }
}
