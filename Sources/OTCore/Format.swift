/// The formatting of an operation: changes of retained text, and attributes of inserted text.
///
/// - **Spans** change ranges of the base text. Other operations move them like cursors, by their
///   text alone.
/// - **Runs** contain the complete attributes of all inserted text, in order.
///
/// Both are lists of lengths with set numbers, without gaps. Number 0 is for retained text that
/// does not change, and for inserted text without attributes.
///
///     base text   ├──────┼────────┼────────┤            "=5 +ab =3 -2" with
///     spans        5: 0   2: bold                        two scalars of kept text bold
///     runs                                    1: 0, 1: italic
///
/// In normal form neighbours differ, the last number is not 0, deleted text has 0, no set is empty,
/// runs contain no removals, and a format without spans and runs is `nil`. Equal formats may number
/// their sets differently, and may contain unused sets.
public struct Format: @unchecked Sendable {
  // Unchecked: a block is never written after its creation.
  let block: FormatBlock

  /// Creates a format from written runs; `nil` if there are none.
  init?(
    spans: UnsafeBufferPointer<RunWord>, runs: UnsafeBufferPointer<RunWord>,
    sets: consuming [AttributeSet]
  ) {
    let count = spans.count + runs.count
    if count == 0 { return nil }
    let setCount = sets.count
    block = FormatBlock.empty(spans: spans.count, runs: runs.count, sets: sets)
    let words = block.words
    if let source = spans.baseAddress { words.update(from: source, count: spans.count) }
    if let source = runs.baseAddress {
      (words + spans.count).update(from: source, count: runs.count)
    }
    // More sets than words: some are unused.
    if setCount > count { dropUnusedSets() }
  }

  /// Creates a format from lists whose neighbours differ; `nil` if there is nothing to format.
  init?(spans: [RunWord], runs: [RunWord], sets: [AttributeSet]) {
    let spans = spans.last?.value == 0 ? spans.dropLast() : spans[...]
    let runs = runs.last?.value == 0 ? runs.dropLast() : runs[...]
    let made = spans.withUnsafeBufferPointer { spans in
      runs.withUnsafeBufferPointer { runs in Format(spans: spans, runs: runs, sets: sets) }
    }
    guard let made else { return nil }
    self = made
  }

  /// The number of runs and spans, including the unformatted text between them.
  public var componentCount: Int { spanCount + runCount }

  /// The approximate bytes of the JSON form.
  ///
  /// - Complexity: O(*sets*).
  var byteCount: Int { sets.reduce(8 * componentCount) { $0 + $1.bytes.count } }

  /// The number of spans, including the unchanged text between them; 0 if no retained text changes.
  var spanCount: Int { Int(block.top.pointee.spanCount) }
  var runCount: Int { Int(block.top.pointee.runCount) }
  var sets: [AttributeSet] { block.top.pointee.sets }

  /// Drops unused sets, and numbers the others in the order of their first use.
  private func dropUnusedSets() {
    let numbering = UsedSets(sets, block.spans, block.runs)
    let words = block.words
    for index in 0..<componentCount {
      words[index] = RunWord(
        numbering.numbers[Int(words[index].value)], count: words[index].count)
    }
    block.top.pointee.sets = numbering.used
  }
}

extension Format: Hashable {
  /// Whether two formats have the same spans and runs.
  public static func == (left: Format, right: Format) -> Bool {
    if left.block === right.block { return true }
    guard left.spanCount == right.spanCount, left.runCount == right.runCount else { return false }
    var last = (UInt32(0), UInt32(0))
    for (one, two) in zip(left.block.all, right.block.all) {
      if one.count != two.count || (one.value == 0) != (two.value == 0) { return false }
      if one.value == 0 || (one.value, two.value) == last { continue }
      if left.sets[Int(one.value) - 1] != right.sets[Int(two.value) - 1] { return false }
      last = (one.value, two.value)
    }
    return true
  }

  /// Hashes the lengths.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(spanCount)
    for word in block.all { hasher.combine(word.count) }
  }
}

/// The sets that spans and runs use, numbered in the order of their first use.
struct UsedSets {
  private(set) var used: [AttributeSet] = []
  /// The new number for each old one; 0 for unused sets.
  private(set) var numbers: [UInt32]

  init(
    _ sets: [AttributeSet], _ spans: UnsafeBufferPointer<RunWord>,
    _ runs: UnsafeBufferPointer<RunWord>
  ) {
    numbers = [UInt32](repeating: 0, count: sets.count + 1)
    for words in [spans, runs] {
      for word in words {
        let number = Int(word.value)
        if number == 0 || numbers[number] != 0 { continue }
        used.append(sets[number - 1])
        numbers[number] = UInt32(used.count)
      }
    }
  }
}

/// The header of a format's block.
struct FormatBlockTop {
  var sets: [AttributeSet]
  var spanCount: Int32
  var runCount: Int32
}

/// A format's block of memory: spans, then runs.
final class FormatBlock: ManagedBuffer<FormatBlockTop, UInt64> {
  // Named type, because of Embedded Swift: see ``RopeNode/emptyLeaf(_:)``.
  @inline(__always)
  static func empty(spans: Int, runs: Int, sets: consuming [AttributeSet]) -> FormatBlock {
    let made = unsafeDowncast(
      FormatBlock.create(minimumCapacity: spans + runs) { _ in
        FormatBlockTop(sets: [], spanCount: Int32(spans), runCount: Int32(runs))
      }, to: FormatBlock.self)
    // Moved: in the closure, it would be a copy.
    made.top.pointee.sets = sets
    return made
  }

  @inline(__always)
  var top: UnsafeMutablePointer<FormatBlockTop> { withUnsafeMutablePointerToHeader { $0 } }
  @inline(__always)
  var words: UnsafeMutablePointer<RunWord> {
    UnsafeMutableRawPointer(withUnsafeMutablePointerToElements { $0 })
      .assumingMemoryBound(to: RunWord.self)
  }
  var spans: UnsafeBufferPointer<RunWord> {
    UnsafeBufferPointer(start: words, count: Int(top.pointee.spanCount))
  }
  var runs: UnsafeBufferPointer<RunWord> {
    UnsafeBufferPointer(
      start: words + Int(top.pointee.spanCount), count: Int(top.pointee.runCount))
  }
  var all: UnsafeBufferPointer<RunWord> {
    UnsafeBufferPointer(start: words, count: spans.count + runs.count)
  }
}

/// The memory of a format during a call. No reference is counted.
struct FormatView {
  var spans = UnsafeBufferPointer<RunWord>(start: nil, count: 0)
  var runs = UnsafeBufferPointer<RunWord>(start: nil, count: 0)
  /// The sets; `nil` without a format.
  var sets: UnsafePointer<[AttributeSet]>?

  /// The view of an operation without a format.
  @inline(__always)
  init() {}

  @inline(__always)
  fileprivate init(_ block: FormatBlock) {
    spans = block.spans
    runs = block.runs
    sets = UnsafePointer(
      UnsafeMutableRawPointer(block.top).assumingMemoryBound(to: [AttributeSet].self))
  }
}

extension Format? {
  /// Calls `body` with the format's memory, which is empty without a format.
  @inline(__always)
  func withView<Result>(_ body: (FormatView) -> Result) -> Result {
    var view = FormatView()
    if let self { view = FormatView(self.block) }
    // One call, so that the compiler can inline it.
    return withExtendedLifetime(self) { body(view) }
  }

  /// Calls `body` with spans and runs, both empty without a format.
  @inline(__always)
  func withWords<Result>(
    _ body: (UnsafeBufferPointer<RunWord>, UnsafeBufferPointer<RunWord>) -> Result
  ) -> Result {
    withView { body($0.spans, $0.runs) }
  }

  var sets: [AttributeSet] { self?.sets ?? [] }
  var spanCount: Int { self?.spanCount ?? 0 }
}
