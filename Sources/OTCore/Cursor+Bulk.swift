extension Cursor {
  /// Moves many cursors over many operations, oldest first; see ``transformed(_:over:own:)``.
  ///
  /// Positions must be within the first operation's text; the operations are consecutive.
  ///
  /// - Complexity: O(*cursors* · log *cursors*) once. Then O(cursors between the edit and a recent
  ///   one) for a single edit, so O(1) while a few people type; O(*cursors* + *components*) for any
  ///   other operation.
  public static func transform(
    _ cursors: inout [Int], over operations: ArraySlice<TextOperation>, own: Bool
  ) {
    if cursors.isEmpty { return }
    // An operation never changes the order of cursors, so they remain sorted.
    let order = cursors.indices.sorted { cursors[$0] < cursors[$1] }
    let sorted = order.map { min(max(cursors[$0], 0), TextOperation.lengthMax) }
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: sorted.count) { memory in
      var gaps = CursorGaps(sorted, memory.baseAddress.unsafelyUnwrapped)
      operations.withUnsafeBufferPointer { operations in
        guard let first = operations.baseAddress else { return }
        var index = gaps.passBetween(operations, from: 0, own: own)
        while index < operations.count {
          if let edit = EditExtent(first + index) {
            gaps.pass(edit, own: own)
          } else {
            operations[index].withPacked { words, _ in
              var walk = CursorWalk(words, own: own)
              gaps.replaceAll { walk.moved($0) }
            }
          }
          index = gaps.passBetween(operations, from: index + 1, own: own)
        }
      }
      var rank = 0
      gaps.replaceAll { position in
        cursors[order[rank]] = position
        rank += 1
        return position
      }
    }
  }
}

/// Sorted cursors, stored as their distances, so that an edit before many of them changes one
/// number.
///
/// A finger points to a gap between two cursors in which a recent edit was. The gaps' bounds are in
/// vectors, so an edit within one of them takes a few instructions, without a branch that depends
/// on the author.
private struct CursorGaps {
  /// A number for each finger. There are as many fingers as people who can type at once without a
  /// search.
  private typealias Lanes = SIMD4<Int32>

  /// A single edit, as it affects cursors.
  private struct Step {
    /// Cursors from this position on are not before the edit.
    let place: Int32
    /// Cursors from this position on are after the edit, and move by its growth.
    let behind: Int32
    /// The new position of the cursors in between.
    let within: Int32
    let growth: Int32

    @inline(__always)
    init(_ edit: EditExtent, own: Bool) {
      // Another user's insert does not move a cursor at its position. The order of insert and
      // delete decides where a cursor in deleted text moves.
      let stays: Int32 = own ? 0 : 1
      let insertsBehind = !own && edit.deletesFirst
      place = edit.prefix &+ stays
      behind = edit.prefix &+ max(edit.deleted, stays) &+ (insertsBehind ? 1 : 0)
      within = insertsBehind ? edit.prefix : edit.prefix &+ edit.inserted
      growth = edit.growth
    }
  }

  /// The distance from each cursor to the previous one, from the first to -1. Outdated where a
  /// finger points.
  private let gaps: UnsafeMutablePointer<Int32>
  private let count: Int
  /// For each finger, the index of the cursor at the end of its gap; `count` after the last cursor.
  private var next = Lanes()
  /// The position of the cursor at the start of the gap.
  private var lower = Lanes()
  /// The position of the cursor at the end of the gap; after the last cursor, the position after
  /// the text.
  private var upper = Lanes()
  /// The finger that is moved next.
  private var turn = 0

  init(_ sorted: [Int], _ memory: UnsafeMutablePointer<Int32>) {
    gaps = memory
    count = sorted.count
    var last = -1
    for (index, position) in sorted.enumerated() {
      gaps[index] = Int32(position - last)
      last = position
    }
    gatherFingers()
  }

  /// Passes single edits, each of which is in the gap of a finger.
  ///
  /// - Returns: The index of the first operation that is not.
  @inline(__always)
  mutating func passBetween(
    _ operations: UnsafeBufferPointer<TextOperation>, from start: Int, own: Bool
  ) -> Int {
    // In registers.
    var lower = lower
    var upper = upper
    var index = start
    guard let first = operations.baseAddress else { return start }
    while index < operations.count, let edit = EditExtent(first + index) {
      let step = Step(edit, own: own)
      let place = Lanes(repeating: step.place)
      let isWithin = (lower .< place) .& (upper .>= Lanes(repeating: step.behind))
      if !any(isWithin) { break }
      let growth = Lanes(repeating: step.growth)
      lower.replace(with: lower &+ growth, where: lower .>= place)
      upper.replace(with: upper &+ growth, where: upper .>= place)
      index += 1
    }
    self.lower = lower
    self.upper = upper
    return index
  }

  /// Passes a single edit at any position, and leaves a finger there.
  @inline(never)
  mutating func pass(_ edit: EditExtent, own: Bool) {
    let step = Step(edit, own: own)
    writeGaps()
    let finger = seek(step.place, textEnd: Int32(truncatingIfNeeded: edit.baseLength))
    if upper[finger] >= step.behind {
      let place = Lanes(repeating: step.place)
      let growth = Lanes(repeating: step.growth)
      lower.replace(with: lower &+ growth, where: lower .>= place)
      upper.replace(with: upper &+ growth, where: upper .>= place)
    } else {
      collapse(from: finger, step)
    }
  }

  /// Moves the cursors within an edit to one position.
  private mutating func collapse(from finger: Int, _ step: Step) {
    let first = Int(next[finger])
    let before = lower[finger]
    var position = before &+ gaps[first]
    gaps[first] = step.within &- before
    var index = first + 1
    while index < count {
      position &+= gaps[index]
      if position >= step.behind {
        gaps[index] = position &+ step.growth &- step.within
        break
      }
      gaps[index] = 0
      index += 1
    }
    for finger in 0..<Lanes.scalarCount where Int(next[finger]) >= first {
      if Int(next[finger]) > index {
        lower[finger] &+= step.growth
        upper[finger] &+= step.growth
      } else {
        next[finger] = Int32(first)
        lower[finger] = before
        upper[finger] = step.within
      }
    }
  }

  /// Moves a finger to the gap that ends at the first cursor at or after a position.
  ///
  /// - Returns: The finger's index.
  private mutating func seek(_ position: Int32, textEnd: Int32) -> Int {
    var nearest = 0
    for finger in 1..<Lanes.scalarCount
    where (lower[finger] &- position).magnitude < (lower[nearest] &- position).magnitude {
      nearest = finger
    }
    var index = Int(next[nearest])
    var before = lower[nearest]
    while index > 0, before >= position {
      index -= 1
      before &-= gaps[index]
    }
    while index < count, before &+ gaps[index] < position {
      before &+= gaps[index]
      index += 1
    }
    let finger = turn
    turn = (turn + 1) % Lanes.scalarCount
    next[finger] = Int32(index)
    lower[finger] = before
    upper[finger] = index < count ? before &+ gaps[index] : textEnd &+ 1
    return finger
  }

  /// Writes the fingers' gaps back to the distances.
  private func writeGaps() {
    for finger in 0..<Lanes.scalarCount where Int(next[finger]) < count {
      gaps[Int(next[finger])] = upper[finger] &- lower[finger]
    }
  }

  /// Points all fingers to the gap before the first cursor.
  private mutating func gatherFingers() {
    next = Lanes()
    lower = Lanes(repeating: -1)
    upper = Lanes(repeating: gaps[0] &- 1)
  }

  /// Replaces all positions, in order, by positions in the same order.
  mutating func replaceAll(_ body: (Int) -> Int) {
    writeGaps()
    var position: Int32 = -1
    var last: Int32 = -1
    for index in 0..<count {
      position &+= gaps[index]
      let moved = Int32(truncatingIfNeeded: body(Int(position)))
      gaps[index] = moved &- last
      last = moved
    }
    gatherFingers()
  }
}
