extension TextOperation {
  /// Creates the operation that changes one text into another, by lines and words; common text is
  /// retained.
  ///
  /// Changed lines are found first, with the fewest insertions and deletions (Myers), then changed
  /// words within them. If that takes too much work, a larger piece is replaced as a whole; in the
  /// worst case everything between the texts' common beginning and end, as in
  /// ``init(replacing:by:)``.
  ///
  /// - Complexity: O(*old* + *new*), and a bounded number of further steps.
  public init(changing old: Document, into new: Document) {
    let from = old.utf8Bytes
    let to = new.utf8Bytes
    self = from.withUnsafeBufferPointer { from in
      to.withUnsafeBufferPointer { to in
        var difference = TextDifference(from: from, to: to)
        return difference.operation()
      }
    }
  }
}

/// The differences between two texts.
private struct TextDifference {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// A range of the old text, and the range of the new text that replaces it, in bytes or in
  /// tokens.
  struct Change {
    var old: Range<Int>
    var new: Range<Int>
  }

  /// Lines or words.
  private struct Tokens {
    var hashes: [UInt64] = []
    /// The start of each token, and the end of the last.
    var starts: [Int] = []

    var count: Int { hashes.count }
  }

  /// Maximum steps of the search over all levels.
  private static let stepsMax = 1 << 20
  /// Maximum insertions and deletions of lines, and of words within a run of changed lines.
  private static let linesChangedMax = 1_000
  private static let wordsChangedMax = 400
  /// Maximum changes in words; beyond it, whole lines are replaced.
  private static let changesMax = 10_000

  private let from: Bytes
  private let to: Bytes
  private var stepsLeft = Self.stepsMax

  init(from: Bytes, to: Bytes) {
    self.from = from
    self.to = to
  }

  mutating func operation() -> TextOperation {
    var changes: [Change] = []
    let whole = trimmed(Change(old: 0..<from.count, new: 0..<to.count))
    if let whole {
      let oldLines = Self.lines(from, whole.old)
      let newLines = Self.lines(to, whole.new)
      let lines = search(oldLines, newLines, changesMax: Self.linesChangedMax)
      for change in lines ?? [whole] {
        guard change.old.count > 0, change.new.count > 0, changes.count < Self.changesMax else {
          changes.append(change)
          continue
        }
        let words = search(
          Self.words(from, change.old), Self.words(to, change.new),
          changesMax: Self.wordsChangedMax)
        changes += words ?? [change]
      }
      changes = changes.compactMap { trimmed($0) }
      // A user may craft different tokens that have the same hash.
      if !holds(changes) { changes = [whole] }
    }
    return operation(of: changes)
  }

  // MARK: Bytes

  /// Returns the change without the common beginning and end of both sides; `nil` if nothing is
  /// left. Both ends are between scalars.
  private func trimmed(_ change: Change) -> Change? {
    let common = CommonEnds(
      UnsafeBufferPointer(rebasing: from[change.old]), UnsafeBufferPointer(rebasing: to[change.new])
    )
    let old = (change.old.lowerBound + common.start)..<(change.old.upperBound - common.end)
    let new = (change.new.lowerBound + common.start)..<(change.new.upperBound - common.end)
    return old.isEmpty && new.isEmpty ? nil : Change(old: old, new: new)
  }

  /// Whether both texts are equal between the changes.
  private func holds(_ changes: [Change]) -> Bool {
    var old = 0
    var new = 0
    for change in changes + [Change(old: from.count..<from.count, new: to.count..<to.count)] {
      guard change.old.lowerBound >= old, change.new.lowerBound >= new else { return false }
      guard from[old..<change.old.lowerBound].elementsEqual(to[new..<change.new.lowerBound])
      else { return false }
      old = change.old.upperBound
      new = change.new.upperBound
    }
    return true
  }

  private func operation(of changes: [Change]) -> TextOperation {
    var operation = TextOperation()
    var old = 0
    for change in changes {
      operation.retain(Self.scalars(from, old..<change.old.lowerBound))
      operation.insertValid(UnsafeBufferPointer(rebasing: to[change.new]))
      operation.delete(Self.scalars(from, change.old))
      old = change.old.upperBound
    }
    operation.retain(Self.scalars(from, old..<from.count))
    return operation
  }

  private static func scalars(_ bytes: Bytes, _ range: Range<Int>) -> Int {
    UTF8Check.scalarCount(UnsafeBufferPointer(rebasing: bytes[range]))
  }

  // MARK: Tokens

  private static func lines(_ bytes: Bytes, _ range: Range<Int>) -> Tokens {
    tokens(bytes, range) { bytes, start, end in
      var index = start
      while index < end, bytes[index] != 0x0a { index += 1 }
      return min(index + 1, end)
    }
  }

  /// A word includes the blanks after it. Other characters, and scalars of three or more bytes, are
  /// single tokens, because such scripts do not build words from letters with spaces.
  private static func words(_ bytes: Bytes, _ range: Range<Int>) -> Tokens {
    tokens(bytes, range) { bytes, start, end in
      var index = start + 1
      if isOfWord(bytes[start]) {
        while index < end, isOfWord(bytes[index]) { index += 1 }
      } else {
        while index < end, bytes[index] & 0xc0 == 0x80 { index += 1 }
      }
      while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
      return index
    }
  }

  /// Whether a byte belongs to a word: letters, digits and "_", and scalars of two bytes.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80..<0xe0:
      true
    default: false
    }
  }

  /// - Parameter next: Returns the end of the token that begins at an offset.
  @inline(__always)
  private static func tokens(
    _ bytes: Bytes, _ range: Range<Int>, next: (Bytes, Int, Int) -> Int
  ) -> Tokens {
    var tokens = Tokens()
    var start = range.lowerBound
    while start < range.upperBound {
      let end = next(bytes, start, range.upperBound)
      tokens.hashes.append(hash(bytes, start, end))
      tokens.starts.append(start)
      start = end
    }
    tokens.starts.append(range.upperBound)
    return tokens
  }

  /// Hashes eight bytes at a time. The mixing avoids collisions of short words.
  private static func hash(_ bytes: Bytes, _ start: Int, _ end: Int) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: end - start) &* 0x9e37_79b9_7f4a_7c15
    var index = start
    while index < end {
      var word: UInt64 = 0
      if index + 8 <= end, let base = bytes.baseAddress {
        word = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
      } else {
        for byte in index..<end { word = word << 8 | UInt64(bytes[byte]) }
      }
      hash = (hash ^ word) &* 0xff51_afd7_ed55_8ccd
      hash ^= hash >> 32
      index += 8
    }
    return hash
  }

  // MARK: Search

  /// Finds the fewest insertions and deletions of tokens (Myers): for each number of them, how far
  /// each diagonal can be followed.
  ///
  /// - Returns: The changes in bytes, in order; `nil` if there are more than allowed, or no steps
  ///   are left.
  private mutating func search(
    _ old: Tokens, _ new: Tokens, changesMax: Int
  ) -> [Change]? {
    var first = 0
    let shorter = min(old.count, new.count)
    while first < shorter, old.hashes[first] == new.hashes[first] { first += 1 }
    var last = 0
    while last < shorter - first,
      old.hashes[old.count - 1 - last] == new.hashes[new.count - 1 - last]
    { last += 1 }
    let rows = old.count - first - last
    let columns = new.count - first - last
    func change(_ oldRange: Range<Int>, _ newRange: Range<Int>) -> Change {
      Change(
        old: old.starts[first + oldRange.lowerBound]..<old.starts[first + oldRange.upperBound],
        new: new.starts[first + newRange.lowerBound]..<new.starts[first + newRange.upperBound])
    }
    if rows == 0, columns == 0 { return [] }
    if rows == 0 || columns == 0 { return [change(0..<rows, 0..<columns)] }

    let most = min(rows + columns, changesMax)
    let middle = most + 1
    var reached = [Int32](repeating: 0, count: 2 * most + 3)
    // The rows reached with each number of changes: with 0 on one diagonal, then on two more each
    // time.
    var trace: [Int32] = []
    for count in 0...most {
      for diagonal in stride(from: -count, through: count, by: 2) {
        let below = reached[middle + diagonal - 1]
        let above = reached[middle + diagonal + 1]
        var row = Int(
          diagonal == -count || (diagonal != count && below < above) ? above : below + 1)
        if count == 0 { row = 0 }
        while row < rows, row - diagonal < columns,
          old.hashes[first + row] == new.hashes[first + row - diagonal]
        {
          row += 1
          stepsLeft -= 1
        }
        stepsLeft -= 1
        reached[middle + diagonal] = Int32(truncatingIfNeeded: row)
        if diagonal == rows - columns, row >= rows {
          return Self.path(count, rows, columns, trace).map { change($0.old, $0.new) }
        }
      }
      if stepsLeft < 0 { return nil }
      trace.append(contentsOf: reached[(middle - count)...(middle + count)])
    }
    return nil
  }

  /// Follows the trace from the end, and joins adjacent changes.
  private static func path(
    _ count: Int, _ rows: Int, _ columns: Int, _ trace: [Int32]
  ) -> [Change] {
    var changes: [Change] = []
    var row = rows
    var column = columns
    for count in stride(from: count, to: 0, by: -1) {
      // The rows reached with one change less: the diagonals from -(count - 1) on, after those of
      // fewer changes.
      let start = (count - 1) * (count - 1) + count - 1
      let diagonal = row - column
      let isInsertion =
        diagonal == -count
        || (diagonal != count && trace[start + diagonal - 1] < trace[start + diagonal + 1])
      let before = isInsertion ? diagonal + 1 : diagonal - 1
      let oldRow = Int(trace[start + before])
      let oldColumn = oldRow - before
      let oldRange = oldRow..<(isInsertion ? oldRow : oldRow + 1)
      let newRange = oldColumn..<(isInsertion ? oldColumn + 1 : oldColumn)
      if let next = changes.last, next.old.lowerBound == oldRange.upperBound,
        next.new.lowerBound == newRange.upperBound
      {
        changes[changes.count - 1] = Change(
          old: oldRange.lowerBound..<next.old.upperBound,
          new: newRange.lowerBound..<next.new.upperBound)
      } else {
        changes.append(Change(old: oldRange, new: newRange))
      }
      row = oldRow
      column = oldColumn
    }
    return changes.reversed()
  }
}
