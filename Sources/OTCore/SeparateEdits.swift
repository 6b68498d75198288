/// The few edits of an operation that is rebased over committed edits which touch none of them.
///
/// A committed edit then only shifts the positions of later edits. The positions are in vectors, so
/// one edit takes a few instructions and no branch on which edits it shifts: the position of the
/// next edit is unpredictable.
///
///     base text   ├────────────┼────────┼──────────────────┤
///     operation    =12          -3 +1 =5 +2 =18
///     starts                   12       20
struct SeparateEdits {
  /// A number for each edit. Unused lanes are after the end of the text.
  private typealias Lanes = SIMD4<Int32>

  /// The start positions of the groups of inserts and deletes.
  private var starts: Lanes
  /// The number of scalars that each group deletes.
  private var widths = Lanes()
  private var count = 0
  /// The length of the base text, in scalars.
  private var length: Int
  private var insertedScalars = 0
  /// 1 if committed edits that end where an own edit begins are before it; 0 if they are after it.
  private let reach: Int32

  /// Reads an operation's edits; `nil` if there are more than four.
  ///
  /// - Parameter side: Whose insert comes first at one position; `.left` is the own one.
  init?(_ operation: borrowing TextOperation, side: Side) {
    length = operation.baseLength
    starts = Lanes(repeating: Int32(length) &+ 1)
    reach = side == .right ? 1 : 0
    let isFew = operation.withPacked { words, _ in
      var place = 0
      var isWithin = false
      for word in words {
        if word.isRetain {
          place += word.scalars
          isWithin = false
          continue
        }
        if !isWithin {
          if count == Lanes.scalarCount { return false }
          starts[count] = Int32(place)
          count += 1
          isWithin = true
        }
        if word.isInsert {
          insertedScalars += word.scalars
        } else {
          widths[count - 1] += Int32(word.scalars)
          place += word.scalars
        }
      }
      return true
    }
    if !isFew { return nil }
  }

  /// Rebases the edits over committed operations, up to the first that is not a single edit or
  /// touches one of them.
  ///
  /// - Returns: The index of the first operation that is not, or whose length does not match.
  mutating func pass(_ history: ArraySlice<TextOperation>, from start: Int) -> Int {
    start + history[start...].withUnsafeBufferPointer { pass($0) }
  }

  private mutating func pass(_ history: UnsafeBufferPointer<TextOperation>) -> Int {
    // In registers.
    var starts = starts
    var length = length
    var index = 0
    guard let first = history.baseAddress else { return 0 }
    while index < history.count, let edit = EditExtent(first + index) {
      guard edit.baseLength == length,
        length + insertedScalars + Int(edit.growth) <= TextOperation.lengthMax
      else { break }
      let end = Lanes(repeating: edit.prefix &+ edit.deleted)
      // An edit at the end of an own edit is excluded: a delete there may join two own edits.
      let isBefore = end .< starts &+ reach
      let isBehind = starts &+ widths .< Lanes(repeating: edit.prefix)
      if !all(isBefore .| isBehind) { break }
      starts.replace(with: starts &+ Lanes(repeating: edit.growth), where: isBefore)
      length += Int(edit.growth)
      index += 1
    }
    self.starts = starts
    self.length = length
    return index
  }

  /// Returns the operation with its edits at their present positions.
  ///
  /// - Parameter operation: The operation that the edits were read from.
  func moved(_ operation: borrowing TextOperation) -> TextOperation {
    let target = operation.targetLength + length - operation.baseLength
    return operation.withPacked { words, text in
      Scratch.with(words: words.count + 2, text: 0) { memory, _ in
        var out = WordWriter(memory)
        var place = 0
        var edit = 0
        var isWithin = false
        for word in words {
          if word.isRetain {
            isWithin = false
            continue
          }
          if !isWithin {
            out.retain(Int(starts[edit]) - place)
            place = Int(starts[edit] &+ widths[edit])
            edit += 1
            isWithin = true
          }
          out.put(word)
        }
        out.retain(length - place)
        return TextOperation(packing: out.written, text: text, base: length, target: target)
      }
    }
  }
}

extension WordWriter {
  /// Retains scalars; 0 writes no component.
  fileprivate mutating func retain(_ scalars: Int) {
    if scalars > 0 { put(TextOperation.Word(.retain, scalars: scalars)) }
  }
}
