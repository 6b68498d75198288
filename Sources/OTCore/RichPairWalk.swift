/// The memory of an operation of a transformed pair, during a call.
struct RichHalfView {
  let words: UnsafeBufferPointer<TextOperation.Word>
  let text: UnsafeBufferPointer<UInt8>
  let format: FormatView
  let target: Int
}

extension RichOperation {
  /// Calls `body` with the operation's memory.
  @inline(__always)
  func withHalfView<Result>(_ body: (RichHalfView) -> Result) -> Result {
    let target = text.targetLength
    return format.withView { format in
      text.withPacked { words, text in
        body(RichHalfView(words: words, text: text, format: format, target: target))
      }
    }
  }
}

/// Transforms two concurrent operations with formats in one walk over both. `a` is the committed
/// operation.
///
/// The results are those of ``TextOperation/transform(_:_:)``, and of ``FormatWalk`` for each side.
struct RichPairWalk {
  private var a: Half
  private var b: Half
  private let grows: Bool
  /// The growth of the text by `b` after `a`.
  private var growth = 0

  /// An operation of the pair, and its result.
  private struct Half {
    var wordsOut: WordWriter
    var spans: RunReader
    var runs: RunReader
    var spansOut: RunWriter
    var runsOut: RunWriter
    /// The position after the last text that this operation keeps, where its next group of
    /// insertions and deletions begins.
    var place = Place()

    /// - Parameter memory: Memory for the output, in this order: words, spans, runs.
    @inline(__always)
    init(
      _ view: FormatView, to memory: UnsafeMutablePointer<TextOperation.Word>, wordsMax: Int,
      spansMax: Int
    ) {
      wordsOut = WordWriter(memory)
      spans = RunReader(view.spans)
      runs = RunReader(view.runs)
      spansOut = RunWriter(RunWriter.memory(memory + wordsMax))
      runsOut = RunWriter(RunWriter.memory(memory + wordsMax + spansMax))
    }

    /// Writes the runs of inserted text.
    ///
    /// - Parameter taken: The set that it takes from the other operation.
    @inline(__always)
    mutating func putRuns(_ count: Int, taking taken: UInt32, _ merger: inout SetMerger) {
      var left = count
      while left > 0 {
        let piece = min(left, runs.word.count)
        runsOut.put(merger.merge(.settle, runs.word.value, taken), count: piece)
        runs.take(piece)
        left &-= piece
      }
    }

    @inline(__always)
    func text(_ view: RichHalfView, base: Int, target: Int) -> TextOperation {
      TextOperation(packing: wordsOut.written, text: view.text, base: base, target: target)
    }

    @inline(__always)
    func format(_ merger: inout SetMerger) -> Format? {
      Format(spans: spansOut.written, runs: runsOut.written, sets: merger.takeSets())
    }
  }

  /// The sets of both operations' spans before and after a position.
  private struct Place {
    var a: (before: UInt32, behind: UInt32) = (0, 0)
    var b: (before: UInt32, behind: UInt32) = (0, 0)
  }

  /// Returns both operations, each as it applies after the other. Not inlined, because
  /// ``TextOperation/withPacked`` would copy it.
  @inline(never)
  static func transformed(
    _ a: RichHalfView, _ b: RichHalfView, _ growth: RichOperation.Growth
  ) -> (aText: TextOperation, aFormat: Format?, bText: TextOperation, bFormat: Format?) {
    let wordsMax = a.words.count + b.words.count + 1
    let spansMax = wordsMax + a.format.spans.count + b.format.spans.count + 1
    let aMax = wordsMax + spansMax + a.words.count + a.format.runs.count + 2
    let bMax = wordsMax + spansMax + b.words.count + b.format.runs.count + 2
    return Scratch.with(words: aMax + bMax) { memory in
      var walk = RichPairWalk(
        a: Half(a.format, to: memory, wordsMax: wordsMax, spansMax: spansMax),
        b: Half(b.format, to: memory + aMax, wordsMax: wordsMax, spansMax: spansMax),
        grows: growth == .grows)
      // Beside the walk: the mergers' functions take their address, and the walk can stay in
      // registers.
      var aSets = SetMerger(a.format.sets, viewing: b.format.sets)
      var bSets = SetMerger(b.format.sets, viewing: a.format.sets)
      walk.walk(a.words, b.words, &aSets, &bSets)
      let target = a.target + walk.growth
      return (
        walk.a.text(a, base: b.target, target: target), walk.a.format(&aSets),
        walk.b.text(b, base: a.target, target: target), walk.b.format(&bSets)
      )
    }
  }

  @inline(__always)
  private mutating func walk(
    _ aWords: UnsafeBufferPointer<TextOperation.Word>,
    _ bWords: UnsafeBufferPointer<TextOperation.Word>, _ aSets: inout SetMerger,
    _ bSets: inout SetMerger
  ) {
    var one = WordReader(aWords)
    var two = WordReader(bWords)
    while true {
      let left = one.word
      let right = two.word
      if left.isInsert {
        a.wordsOut.put(left)
        b.wordsOut.put(left.retaining)
        let (taken, grown) = growthOfA(&aSets, &bSets)
        a.putRuns(left.scalars, taking: taken, &aSets)
        b.spansOut.put(grown, count: left.scalars)
        one.advance()
        continue
      }
      if right.isInsert {
        a.wordsOut.put(right.retaining)
        b.wordsOut.put(right)
        let (taken, grown) = growthOfB(&aSets, &bSets)
        b.putRuns(right.scalars, taking: taken, &bSets)
        a.spansOut.put(grown, count: right.scalars)
        growth &+= right.scalars
        two.advance()
        continue
      }
      if one.isAtEnd || two.isAtEnd { return }
      let count = min(left.scalars, right.scalars)
      if left.isRetain, right.isRetain {
        passKept(count, &bSets)
      } else {
        pass(count, isKeptByA: left.isRetain, isKeptByB: right.isRetain)
      }
      one.take(count)
      two.take(count)
    }
  }

  /// Returns the set that text inserted by `a` takes, and the set of `b`'s span over that text.
  @inline(__always)
  private func growthOfA(
    _ aSets: inout SetMerger, _ bSets: inout SetMerger
  ) -> (taken: UInt32, grown: UInt32) {
    let place = a.place
    if place.b.before == 0 || place.b.behind == 0 || !grows { return (0, 0) }
    var taken = aSets.common(place.b.before, place.b.behind)
    taken = aSets.merge(.subtract, taken, place.a.before)
    taken = aSets.merge(.subtract, taken, place.a.behind)
    var grown = bSets.merge(.common, place.b.before, place.b.behind)
    grown = bSets.merge(.subtract, grown, other: place.a.before)
    grown = bSets.merge(.subtract, grown, other: place.a.behind)
    return (taken, grown)
  }

  /// Returns the set that text inserted by `b` takes, and the set of `a`'s span over that text.
  @inline(__always)
  private func growthOfB(
    _ aSets: inout SetMerger, _ bSets: inout SetMerger
  ) -> (taken: UInt32, grown: UInt32) {
    let place = b.place
    if place.a.before == 0 || place.a.behind == 0 || !grows { return (0, 0) }
    return (
      bSets.common(place.a.before, place.a.behind),
      aSets.merge(.common, place.a.before, place.a.behind)
    )
  }

  /// The place that both readers have reached.
  @inline(__always)
  private var place: Place {
    Place(
      a: (a.spans.previous, a.spans.word.value), b: (b.spans.previous, b.spans.word.value))
  }

  /// Passes text that at least one operation deletes.
  @inline(__always)
  private mutating func pass(_ count: Int, isKeptByA: Bool, isKeptByB: Bool) {
    if isKeptByA {
      b.wordsOut.put(TextOperation.Word(.delete, scalars: count))
      b.spansOut.put(0, count: count)
      growth &-= count
    }
    if isKeptByB {
      a.wordsOut.put(TextOperation.Word(.delete, scalars: count))
      a.spansOut.put(0, count: count)
    }
    a.spans.skip(count)
    b.spans.skip(count)
    if isKeptByA { a.place = place }
    if isKeptByB { b.place = place }
  }

  /// Passes text that both operations keep.
  @inline(__always)
  private mutating func passKept(_ count: Int, _ bSets: inout SetMerger) {
    a.wordsOut.put(TextOperation.Word(.retain, scalars: count))
    b.wordsOut.put(TextOperation.Word(.retain, scalars: count))
    var left = count
    while left > 0 {
      let (one, two) = (a.spans.word, b.spans.word)
      let piece = min(left, one.count, two.count)
      a.spansOut.put(one.value, count: piece)
      b.spansOut.put(bSets.merge(.subtract, two.value, other: one.value), count: piece)
      a.spans.take(piece)
      b.spans.take(piece)
      left &-= piece
    }
    a.place = place
    b.place = place
  }
}
