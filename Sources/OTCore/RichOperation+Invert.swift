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
    var walk = InvertWalk(document: document, merger: SetMerger(format.sets, document.sets))
    format.withWords { spans, _ in
      var spans = RunReader(spans)
      text.forEachPacked { kind, count, _ in walk.pass(kind, count, &spans) }
    }
    return RichOperation(
      text: inverse,
      format: Format(spans: walk.spans, runs: walk.runs, sets: walk.merger.table.sets))
  }
}

/// Inverts a format, in parallel with its text.
private struct InvertWalk: ~Copyable {
  let document: RichDocument
  var merger: SetMerger
  /// The position in the document.
  var place = 0
  var spans: [RunWord] = []
  var runs: [RunWord] = []

  init(document: RichDocument, merger: consuming SetMerger) {
    self.document = document
    self.merger = merger
  }

  /// Passes a component of the text.
  ///
  /// - Parameter changes: The spans of the operation.
  @inline(never)
  mutating func pass(_ kind: TextOperation.Kind, _ count: Int, _ changes: inout RunReader) {
    switch kind {
    case .insert: spans.put(0, count: count)
    case .delete:
      document.forEachWord(in: place..<place + count) {
        runs.put(merger.adopt($0.value), count: $0.count)
      }
      place += count
      changes.skip(count)
    case .retain:
      var left = count
      while left > 0 {
        let piece = min(left, changes.word.count)
        let change = changes.word.value
        if change == 0 {
          spans.put(0, count: piece)
        } else {
          document.forEachWord(in: place..<place + piece) {
            spans.put(merger.merge(.invert, change, other: $0.value), count: $0.count)
          }
        }
        changes.take(piece)
        place += piece
        left -= piece
      }
    }
  }
}
