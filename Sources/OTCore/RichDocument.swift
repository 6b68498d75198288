/// A text with attributes, to which rich operations apply: a document, and runs of set numbers.
///
/// A document without attributes has no runs, and costs as much as its text. Copying is O(1), and
/// later edits do not change a copy.
public struct RichDocument: Sendable {
  /// The text.
  public private(set) var text: Document
  /// Runs over the whole text; `nil` without attributes.
  private var runs: Runs?
  private var table = SetTable()
  /// The number of sets above which unused sets are dropped.
  private var setsMax = Self.setsMaxMin
  private static let setsMaxMin = 256
  /// An upper bound of the keys of a set.
  private(set) var keysMax = 0

  /// Creates a document without attributes.
  public init(_ text: Document = Document()) { self.text = text }

  init(_ text: Document, runs words: [RunWord], sets: [AttributeSet]) {
    self.text = text
    guard words.contains(where: { $0.value != 0 }) else { return }
    runs = Runs(words)
    table = SetTable(sets)
    setsMax = max(Self.setsMaxMin, 2 * sets.count)
    keysMax = sets.keysMax
  }

  /// Whether any text has attributes.
  public var hasAttributes: Bool { runs != nil }

  /// Returns the attributes of a scalar.
  ///
  /// - Precondition: `0 <= position < text.scalarCount`.
  /// - Complexity: O(log *runs*)
  public func attributes(at position: Int) -> AttributeSet {
    var found: UInt32 = 0
    runs?.forEach(in: position..<position + 1) { found = $0.value }
    return table[found]
  }

  /// Calls `body` with each run: the number of scalars, and their attributes. Neighbours differ.
  public func forEachRun(_ body: (Int, AttributeSet) -> Void) {
    for word in words { body(word.count, table[word.value]) }
  }

  /// All runs; for a text without attributes, one run of number 0.
  var words: [RunWord] {
    var words: [RunWord] = []
    if let runs { runs.forEach { words.append($0) } } else { words.put(0, count: text.scalarCount) }
    return words
  }

  var sets: [AttributeSet] { table.sets }

  /// The set with a number; the empty one for 0.
  subscript(number: UInt32) -> AttributeSet { table[number] }

  /// The number of runs.
  ///
  /// - Complexity: O(*runs*).
  package var runCount: Int {
    var count = 0
    runs?.forEach { _ in count += 1 }
    return count
  }

  /// An upper bound of ``runCount``.
  ///
  /// - Complexity: O(*runs* / 32).
  package var runCountMax: Int { runs?.countMax ?? 0 }

  /// Calls `body` with the runs of a range; neighbours may have the same number.
  func forEachWord(in range: Range<Int>, _ body: (RunWord) -> Void) {
    if let runs {
      runs.forEach(in: range, body)
    } else if !range.isEmpty {
      body(RunWord(0, count: range.count))
    }
  }

  /// Applies an operation.
  ///
  /// - Throws: As ``Document/apply(_:)``. Nothing changes then.
  /// - Complexity: As for the text, and O(log *runs*) for each component and each formatted run.
  public mutating func apply(_ operation: RichOperation) throws(OperationError) {
    try text.apply(operation.text)
    if runs != nil || operation.format != nil { applyFormat(operation) }
  }

  /// Applies an operation without formatting; its inserted text has no attributes.
  ///
  /// - Throws: As ``Document/apply(_:)``. Nothing changes then.
  public mutating func apply(_ operation: TextOperation) throws(OperationError) {
    try text.apply(operation)
    if runs != nil { applyFormat(RichOperation(operation)) }
  }

  #if hasFeature(Embedded)
    private typealias Runs = FlatRuns

    /// Composes the operation with the insertion of the whole text, because the code for that is
    /// there already.
    private mutating func applyFormat(_ operation: RichOperation) {
      var former = runs.flatMap { Format(spans: [], runs: $0.words, sets: sets) }
      var insertion = TextOperation.Word(.insert, scalars: operation.baseLength)
      former = withUnsafePointer(to: &insertion) {
        former.composed(UnsafeBufferPointer(start: $0, count: 1), with: operation)
      }
      let all = former.withWords { _, runs in Array(runs) }
      var padded = all
      padded.put(0, count: text.scalarCount - all.reduce(0) { $0 + $1.count })
      self = RichDocument(text, runs: padded, sets: former.sets)
    }
  #else
    private typealias Runs = RunTree
  #endif

  #if !hasFeature(Embedded)
    private mutating func applyFormat(_ operation: RichOperation) {
      var former: [RunWord] = []
      former.put(0, count: operation.baseLength)
      var tree = runs ?? RunTree(former)
      // The tree and the table must not be shared while they change.
      runs = nil
      var merger = SetMerger(table, operation.format.sets)
      let known = table.sets.count
      table = SetTable()
      var place = 0
      operation.format.withWords { spans, runs in
        var spans = RunReader(spans)
        var runs = RunReader(runs)
        operation.text.withPacked { words, _ in
          for word in words {
            var left = word.scalars
            if word.isRetain {
              while left > 0, !spans.isAtEnd {
                let count = min(left, spans.word.count)
                let change = spans.word.value
                if change != 0 {
                  tree.update(place..<place + count) { merger.merge(.settle, $0, other: change) }
                }
                spans.take(count)
                place += count
                left -= count
              }
              place += left
            } else if word.isInsert {
              while left > 0 {
                let count = min(left, runs.word.count)
                tree.insert(count, of: merger.adopt(runs.word.value), at: place)
                runs.take(count)
                place += count
                left -= count
              }
            } else {
              tree.remove(left, at: place)
              spans.skip(left)
            }
          }
        }
      }
      table = merger.table
      if table.sets.count > known { keysMax = max(keysMax, table.sets[known...].keysMax) }
      if tree.length > 0, tree.onlyValue != 0 {
        runs = tree
      } else {
        (table, keysMax) = (SetTable(), 0)
      }
      if table.sets.count > setsMax { dropUnusedSets() }
    }
  #endif

  mutating func dropUnusedSets() {
    var words = words
    let numbering = words.withUnsafeBufferPointer {
      UsedSets(sets, $0, UnsafeBufferPointer(start: nil, count: 0))
    }
    for index in words.indices {
      words[index] = RunWord(
        numbering.numbers[Int(words[index].value)], count: words[index].count)
    }
    self = RichDocument(text, runs: words, sets: numbering.used)
  }
}

extension RichDocument: Equatable {
  /// Whether two documents have the same scalars with the same attributes.
  ///
  /// - Complexity: O(*n*); the text of copies costs nothing.
  public static func == (left: RichDocument, right: RichDocument) -> Bool {
    guard left.text == right.text else { return false }
    let (one, two) = (left.words, right.words)
    guard one.count == two.count else { return false }
    return zip(one, two).allSatisfy {
      $0.count == $1.count && left.table[$0.value] == right.table[$1.value]
    }
  }
}

extension RichDocument {
  /// Traps unless the runs cover the text and are in normal form, and no set is unnecessary.
  package func checkInvariants() {
    text.checkInvariants()
    guard let runs else { return precondition(table.sets.isEmpty, "sets without runs") }
    precondition(runs.length == text.scalarCount, "runs of another length than the text")
    let words = words
    precondition(runs.onlyValue != 0, "runs without attributes")
    precondition(
      words.allSatisfy { $0.count > 0 && Int($0.value) <= sets.count },
      "a run is empty or has an unknown set")
    precondition(
      sets.allSatisfy { !$0.isEmpty && !$0.hasRemovals }, "a set is empty or has removals")
    precondition(sets.count <= setsMax, "sets that are not used")
  }
}
