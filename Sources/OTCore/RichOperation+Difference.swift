extension RichOperation {
  /// Creates the operation that changes one document into another: the texts' difference, as in
  /// ``TextOperation/init(changing:into:)``, and the attributes' difference on retained text.
  ///
  /// - Complexity: O(*old* + *new*), and a bounded number of further steps.
  public init(changing old: RichDocument, into new: RichDocument) {
    text = TextOperation(changing: old.text, into: new.text)
    if !old.hasAttributes, !new.hasAttributes { return }
    text = text.replacingEmbeds(from: old, to: new)
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

extension TextOperation {
  /// Returns the difference of two texts, which deletes and inserts an embedded thing where the
  /// attribute `embed` differs: it cannot be changed.
  fileprivate func replacingEmbeds(from old: RichDocument, to new: RichDocument) -> TextOperation {
    guard (old.sets + new.sets).contains(where: { $0.contains("embed") }) else { return self }
    var result = TextOperation()
    old.words.withUnsafeBufferPointer { oldWords in
      new.words.withUnsafeBufferPointer { newWords in
        var from = RunReader(oldWords)
        var to = RunReader(newWords)
        let object: [UInt8] = [0xef, 0xbf, 0xbc]
        forEachPacked { kind, length, text in
          switch kind {
          case .retain:
            var left = length
            while left > 0 {
              let count = min(left, from.word.count, to.word.count)
              let (before, after) = (from.word.value, to.word.value)
              if before == after && before == 0
                || old[before].json(of: "embed") == new[after].json(of: "embed")
              {
                result.retain(count)
              } else {
                object.withUnsafeBufferPointer {
                  for _ in 0..<count { result.insertValid($0) }
                }
                result.delete(count)
              }
              from.take(count)
              to.take(count)
              left -= count
            }
          case .insert:
            result.insertValid(text)
            to.skip(length)
          case .delete:
            result.delete(length)
            from.skip(length)
          }
        }
      }
    }
    result.pack()
    return result
  }
}
