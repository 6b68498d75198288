extension RichOperation {
  /// Creates the operation that changes one document into another: the texts' difference, as in
  /// ``TextOperation/init(changing:into:)``, and the attributes' difference on retained text.
  ///
  /// - Complexity: O(*old* + *new*), and a bounded number of further steps.
  public init(changing old: RichDocument, into new: RichDocument) {
    text = TextOperation(changing: old.text, into: new.text)
    if !old.hasAttributes, !new.hasAttributes { return }
    var merger = SetMerger(old.sets, new.sets)
    var spans: [RunWord] = []
    var runs: [RunWord] = []
    old.words.withUnsafeBufferPointer { oldWords in
      new.words.withUnsafeBufferPointer { newWords in
        var from = RunReader(oldWords)
        var to = RunReader(newWords)
        text.withPacked { words, _ in
          for word in words {
            var left = word.scalars
            if word.isDelete {
              spans.put(0, count: left)
              from.skip(left)
            }
            while left > 0, !word.isDelete {
              var count = min(left, to.word.count)
              if word.isInsert {
                runs.put(merger.adopt(to.word.value), count: count)
              } else {
                count = min(count, from.word.count)
                spans.put(
                  merger.merge(.difference, from.word.value, other: to.word.value), count: count)
                from.take(count)
              }
              to.take(count)
              left -= count
            }
          }
        }
      }
    }
    format = Format(spans: spans, runs: runs, sets: merger.table.sets)
  }
}
