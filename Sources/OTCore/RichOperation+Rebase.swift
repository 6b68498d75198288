extension RichOperation {
  /// Rebases this operation over a whole history, one operation after the other.
  ///
  /// The result is that of repeated ``transformed(over:side:growth:)``. Texts without spans are
  /// passed as in ``TextOperation/rebase(over:side:)``, and move spans in place.
  ///
  /// - Parameters:
  ///   - texts: Consecutive operations; the first has this one's base.
  ///   - formats: The format of each text; empty if none has one.
  ///   - side: `.left` if this is the committed operation, `.right` if the history is.
  ///   - growth: As for ``transform(_:_:growth:)``.
  /// - Throws: As ``transformed(over:side:growth:)``. Nothing changes then.
  public mutating func rebase(
    over texts: ArraySlice<TextOperation>, formats: ArraySlice<Format?> = [], side: Side,
    growth: Growth = .grows
  ) throws(OperationError) {
    precondition(
      formats.isEmpty || formats.count == texts.count,
      "\(formats.count) formats of \(texts.count) operations")
    var result = self
    var index = texts.startIndex
    let shift = formats.startIndex - index
    while index < texts.endIndex {
      var end = formats.isEmpty ? texts.endIndex : index
      while end < texts.endIndex, formats[end + shift].spanCount == 0 { end += 1 }
      if index < end {
        try result.text.rebase(over: texts[index..<end], side: side)
        if let moved = result.format, moved.spanCount > 0 {
          result.format = moved.moved(over: texts[index..<end], side, growth)
        }
      } else {
        let other = RichOperation(text: texts[index], format: formats[index + shift])
        result = try result.transformed(over: other, side: side, growth: growth)
        end = index + 1
      }
      index = end
    }
    self = result
  }
}

extension Format {
  /// Returns the format with its spans moved over texts without spans.
  fileprivate func moved(
    over history: ArraySlice<TextOperation>, _ side: Side, _ growth: RichOperation.Growth
  ) -> Format? {
    var walk = FormatWalk(merger: SetMerger(sets, []), side: side, growth: growth)
    var spans = MovedSpans(block.spans)
    for operation in history { spans.pass(operation, &walk) }
    return spans.withWritten {
      Format(spans: $0, runs: block.runs, sets: walk.merger.table.sets)
    }
  }
}

/// Spans that are moved over operations, in two blocks of memory that are used in turn.
private struct MovedSpans: ~Copyable {
  private var memory: UnsafeMutablePointer<RunWord>
  private var spare: UnsafeMutablePointer<RunWord>
  private var capacity: Int
  private var count: Int
  /// The number of scalars before the first span, and up to the end of the last.
  private var first = 0
  private var end = 0

  init(_ spans: UnsafeBufferPointer<RunWord>) {
    capacity = 2 * spans.count + 16
    memory = .allocate(capacity: capacity)
    spare = .allocate(capacity: capacity)
    count = spans.count
    if let source = spans.baseAddress { memory.update(from: source, count: count) }
    measure()
  }

  deinit {
    memory.deallocate()
    spare.deallocate()
  }

  private mutating func measure() {
    first = count > 0 && memory[0].value == 0 ? memory[0].count : 0
    end = 0
    for index in 0..<count { end += memory[index].count }
  }

  func withWritten<Result>(_ body: (UnsafeBufferPointer<RunWord>) -> Result) -> Result {
    body(UnsafeBufferPointer(start: memory, count: count))
  }

  mutating func pass(_ operation: borrowing TextOperation, _ walk: inout FormatWalk) {
    if operation.block == nil {
      let edit = operation.edit
      if Int(edit.prefix) >= end { return }
      if Int(edit.prefix) + Int(edit.deleted) < first {
        // Only the distance to the first span changes.
        memory[0].count += edit.growth
        first += edit.growth
        end += edit.growth
        return
      }
    }
    passSlowly(operation, &walk)
  }

  @inline(never)
  private mutating func passSlowly(
    _ operation: borrowing TextOperation, _ walk: inout FormatWalk
  ) {
    let most = count + operation.componentCount + 2
    if most > capacity {
      spare.deallocate()
      capacity = 2 * most
      let larger = UnsafeMutablePointer<RunWord>.allocate(capacity: capacity)
      larger.update(from: memory, count: count)
      memory.deallocate()
      memory = larger
      spare = .allocate(capacity: capacity)
    }
    let none = UnsafeBufferPointer<RunWord>(start: nil, count: 0)
    let spans = UnsafeBufferPointer(start: memory, count: count)
    let spare = spare
    let (start, written) = operation.withPacked { words, _ in
      var out = RunWriter(spare)
      walk.move(spans, over: words, none, to: &out)
      return (out.start + 1, out.written.count)
    }
    memory.update(from: start, count: written)
    count = written
    measure()
  }
}
