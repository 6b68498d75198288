/// A number of scalars with one value: `scalars << 32 | value`.
///
/// The value is the number of an attribute set, 0 for none; or the number of an author.
package struct RunWord: Sendable, Equatable {
  var bits: UInt64

  @inline(__always)
  package init(_ value: UInt32, count: Int) {
    bits = UInt64(truncatingIfNeeded: count) << 32 | UInt64(value)
  }

  @inline(__always)
  package var value: UInt32 { UInt32(truncatingIfNeeded: bits) }

  /// The number of Unicode scalars.
  @inline(__always)
  package var count: Int {
    get { Int(truncatingIfNeeded: bits >> 32) }
    set { bits = UInt64(truncatingIfNeeded: newValue) << 32 | bits & 0xffff_ffff }
  }
}

/// Reads runs, in parts of any size. After the last run there is text of value 0, longer than any
/// operation.
struct RunReader {
  private var next: UnsafePointer<RunWord>
  private let end: UnsafePointer<RunWord>
  /// The rest of the current run.
  private(set) var word: RunWord
  /// The value of the previous scalar.
  private(set) var previous: UInt32 = 0

  @inline(__always)
  init(_ words: UnsafeBufferPointer<RunWord>) {
    next = words.baseAddress ?? Self.nowhere
    end = next + words.count
    word = Self.rest
    load()
  }

  /// The address of a list without runs, which is never read.
  @inline(__always)
  private static var nowhere: UnsafePointer<RunWord> {
    UnsafePointer(bitPattern: 8).unsafelyUnwrapped
  }

  @inline(__always)
  private static var rest: RunWord { RunWord(0, count: Int(Int32.max)) }

  @inline(__always)
  private mutating func load() {
    word = next < end ? next.pointee : Self.rest
    next += 1
  }

  /// Whether all runs were read.
  @inline(__always)
  var isAtEnd: Bool { next > end }

  /// Takes scalars of the current run.
  ///
  /// - Parameter count: At least 1, and at most the rest of the run.
  @inline(__always)
  mutating func take(_ count: Int) {
    previous = word.value
    word.bits &-= UInt64(truncatingIfNeeded: count) << 32
    if word.bits >> 32 == 0 { load() }
  }

  /// Skips scalars, across runs.
  @inline(__always)
  mutating func skip(_ count: Int) {
    var rest = count
    while rest >= word.count {
      rest &-= word.count
      previous = word.value
      load()
    }
    if rest > 0 {
      previous = word.value
      word.bits &-= UInt64(truncatingIfNeeded: rest) << 32
    }
  }
}

/// Writes runs; adjacent runs of one value merge.
struct RunWriter {
  let start: UnsafeMutablePointer<RunWord>
  private var last: UnsafeMutablePointer<RunWord>

  /// - Parameter memory: Memory for one more run than will be written.
  @inline(__always)
  init(_ memory: UnsafeMutablePointer<RunWord>) {
    start = memory
    last = memory
    // Of a value that no run has, so that nothing merges with it.
    memory.pointee = RunWord(.max, count: 0)
  }

  /// - Parameter count: At least 1.
  @inline(__always)
  mutating func put(_ value: UInt32, count: Int) {
    // Without a branch, which no processor would predict.
    let before = last.pointee
    let isSame = before.value == value
    last += isSame ? 0 : 1
    last.pointee.bits =
      (isSame ? before.bits : UInt64(value)) &+ UInt64(truncatingIfNeeded: count) << 32
  }

  /// All runs except a last one of value 0.
  @inline(__always)
  var written: UnsafeBufferPointer<RunWord> {
    let count = last - start
    return UnsafeBufferPointer(
      start: start + 1, count: count > 0 && last.pointee.value == 0 ? count - 1 : count)
  }

  /// Copies runs unaltered.
  @inline(__always)
  mutating func copy(_ runs: UnsafeBufferPointer<RunWord>) {
    guard let source = runs.baseAddress, runs.count > 0 else { return }
    (last + 1).update(from: source, count: runs.count)
    last += runs.count
  }
}

extension [RunWord] {
  /// Appends a run, or adds it to the last run if that has the same value.
  mutating func put(_ value: UInt32, count: Int) {
    guard count > 0 else { return }
    if let last, last.value == value {
      self[self.count - 1].count += count
    } else {
      append(RunWord(value, count: count))
    }
  }
}
