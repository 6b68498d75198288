extension RichOperation {
  /// The range of the resulting text from the first to the last place that the operation changes:
  /// inserted and formatted text, and places of deleted text. `nil` if it changes nothing.
  ///
  /// - Complexity: O(*components*).
  package var changedRange: Range<Int>? {
    var range: Range<Int>?
    func add(_ start: Int, _ end: Int) {
      let former = range ?? start..<end
      range = min(start, former.lowerBound)..<max(end, former.upperBound)
    }
    var place = 0
    text.forEachPacked { kind, count, _ in
      switch kind {
      case .retain: place += count
      case .delete: add(place, place)
      case .insert:
        add(place, place + count)
        place += count
      }
    }
    var start = 0
    format.withWords { spans, _ in
      for word in spans {
        let end = start + word.count
        if word.value != 0 {
          add(
            Cursor.transformed(start, over: text, own: false),
            Cursor.transformed(end, over: text, own: false))
        }
        start = end
      }
    }
    return range
  }
}
