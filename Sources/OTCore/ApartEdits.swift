/// The few edits of an operation, while committed ones pass that touch none of them.
///
/// Such an edit moves the places of those behind it, and changes nothing else. The places lie in
/// vectors, so that an edit is a few instructions on these, without a branch on which of them it moves:
/// who typed next cannot be foretold.
///
///     base text   ├────────────┼────────┼──────────────────┤
///     operation    =12          -3 +1 =5 +2 =18
///     starts                   12       20
struct ApartEdits {
  /// A number for each edit; unused lanes lie behind the text.
  private typealias Lanes = SIMD4<Int32>

  /// The beginnings of the runs of inserts and deletes.
  private var starts: Lanes
  /// The scalars that each deletes.
  private var widths = Lanes()
  private var count = 0
  /// The length of the base text, in scalars.
  private var length: Int
  private var insertedScalars = 0
  /// 1 if the edits that end where an own one begins are before it, 0 if they are behind it.
  private let reach: Int32

  /// Takes an operation's edits; `nil` when there are more than four.
  ///
  /// - Parameter side: Whose insert goes first at one position; `.left` is the own one.
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

  /// Lets operations go first, as far as they are single edits apart from these.
  ///
  /// - Returns: The index of the first that is not, or does not fit.
  mutating func pass(_ history: ArraySlice<TextOperation>, from start: Int) -> Int {
    start + history[start...].withUnsafeBufferPointer { pass($0) }
  }

  private mutating func pass(_ history: UnsafeBufferPointer<TextOperation>) -> Int {
    // In registers.
    var starts = starts
    var length = length
    var index = 0
    guard let first = history.baseAddress else { return 0 }
    while index < history.count, let edit = PlacedEdit(first + index) {
      guard edit.baseLength == length,
        length + insertedScalars + Int(edit.growth) <= TextOperation.lengthMax
      else { break }
      let end = Lanes(repeating: edit.prefix &+ edit.deleted)
      // Not at an end: there, a delete may join two of these.
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

  /// Returns the operation with its edits where they are now.
  ///
  /// - Parameter operation: The one that they were taken from.
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
  /// Keeps scalars. None is no component.
  fileprivate mutating func retain(_ scalars: Int) {
    if scalars > 0 { put(TextOperation.Word(.retain, scalars: scalars)) }
  }
}
