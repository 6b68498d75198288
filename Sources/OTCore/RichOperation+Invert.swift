extension RichOperation {
  /// Returns the operation that undoes this one.
  ///
  /// It restores changed values and deleted text with its attributes, and removes keys that were
  /// newly set. Attributes that did not change are left out.
  ///
  /// - Parameter document: The document to which this operation applies.
  /// - Throws: `lengthMismatch` if it does not apply.
  /// - Complexity: O(*components* · log *document*), plus the runs and the text restored.
  public func inverted(on document: RichDocument) throws(OperationError) -> RichOperation {
    let inverse = try text.inverted(on: document.text)
    if format == nil, !document.hasAttributes { return RichOperation(inverse) }
    var merger = SetMerger(format.sets, document.sets)
    var newSpans: [RunWord] = []
    var newRuns: [RunWord] = []
    format.withWords { spans, _ in
      var spans = RunReader(spans)
      var place = 0
      text.withPacked { words, _ in
        for word in words {
          var left = word.scalars
          if word.isInsert {
            newSpans.put(0, count: left)
            continue
          }
          if word.isDelete {
            document.forEachWord(in: place..<place + left) {
              newRuns.put(merger.adopt($0.value), count: $0.count)
            }
            place += left
            spans.skip(left)
            continue
          }
          while left > 0 {
            let count = min(left, spans.word.count)
            let change = spans.word.value
            if change == 0 {
              newSpans.put(0, count: count)
            } else {
              document.forEachWord(in: place..<place + count) {
                newSpans.put(merger.merge(.invert, change, other: $0.value), count: $0.count)
              }
            }
            spans.take(count)
            place += count
            left -= count
          }
        }
      }
    }
    return RichOperation(
      text: inverse, format: Format(spans: newSpans, runs: newRuns, sets: merger.table.sets))
  }
}
