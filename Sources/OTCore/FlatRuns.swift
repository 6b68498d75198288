/// The runs of a text in one list, for programs that must be small. An edit takes time in
/// proportion to the number of runs.
struct FlatRuns: Sendable {
  let words: [RunWord]

  init(_ words: [RunWord]) { self.words = words }

  /// The number of Unicode scalars of all runs.
  var length: Int { words.reduce(0) { $0 + $1.count } }

  /// The number of runs.
  var countMax: Int { words.count }

  /// The value of the only run; `nil` unless there is one run.
  var onlyValue: UInt32? { words.count == 1 ? words[0].value : nil }

  /// Calls `body` with each run, in order; adjacent runs have different values.
  func forEach(_ body: (RunWord) -> Void) {
    for word in words { body(word) }
  }

  /// Calls `body` with the runs of a range, cut at its ends.
  func forEach(in range: Range<Int>, _ body: (RunWord) -> Void) {
    var start = 0
    for word in words {
      let count = min(start + word.count, range.upperBound) - max(start, range.lowerBound)
      if count > 0 { body(RunWord(word.value, count: count)) }
      start += word.count
    }
  }
}
