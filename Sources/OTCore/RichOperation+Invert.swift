extension RichOperation {
  /// Returns the operation that takes this one back.
  ///
  /// Values return that it changed, keys go that it set anew, and deleted text returns with its
  /// attributes. What changed nothing is left out.
  ///
  /// - Parameter document: what this operation applies to.
  /// - Throws: `lengthMismatch` when it does not.
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
