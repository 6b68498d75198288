extension Cursor {
  /// Moves many cursors through many operations, oldest first; see ``transformed(_:over:own:)``.
  ///
  /// Positions must lie within the first operation's text; the operations follow on one another.
  ///
  /// - Complexity: O(*cursors* · log *cursors*) once, then for a single edit O(cursors between it
  ///   and a recent one), so O(1) while a few people type; for any other operation O(*cursors* +
  ///   *components*).
  public static func transform(
    _ cursors: inout [Int], over operations: ArraySlice<TextOperation>, own: Bool
  ) {
    if cursors.isEmpty { return }
    // No operation makes one cursor overtake another, so what is sorted stays sorted.
    let order = cursors.indices.sorted { cursors[$0] < cursors[$1] }
    let sorted = order.map { cursors[$0] }
    withUnsafeTemporaryAllocation(
      of: Int.self, capacity: CursorGaps.memoryNeeded(cursors: sorted.count)
    ) { memory in
      var gaps = CursorGaps(sorted, memory.baseAddress.unsafelyUnwrapped)
      operations.withUnsafeBufferPointer { operations in
        guard let first = operations.baseAddress else { return }
        for operation in first..<(first + operations.count) {
          if operation.pointee.block == nil {
            gaps.pass(operation.pointee.edit, own: own)
          } else {
            operation.pointee.withPacked { words, _ in
              var walk = CursorWalk(words, own: own)
              gaps.replaceAll { walk.moved($0) }
            }
          }
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

/// Sorted cursors as their distances, so that an edit before many of them changes one number.
private struct CursorGaps {
  /// A place among the cursors that is remembered.
  private struct Finger {
    /// The first cursor behind.
    var next: Int
    /// The position of the cursor before.
    var before: Int
  }

  /// The number of people who may type at once.
  private static let fingerCount = 4
  /// More than any position.
  private static let far = TextOperation.lengthMax + 1

  /// From each cursor back to the one before it; from the first to -1, and one that is far away.
  private let gaps: UnsafeMutablePointer<Int>
  private let count: Int
  private let fingers: UnsafeMutablePointer<Finger>
  /// The finger used last.
  private var current = 0

  static func memoryNeeded(cursors: Int) -> Int { cursors + 1 + 2 * fingerCount }

  init(_ sorted: [Int], _ memory: UnsafeMutablePointer<Int>) {
    gaps = memory
    count = sorted.count
    fingers = UnsafeMutableRawPointer(memory + count + 1).assumingMemoryBound(to: Finger.self)
    var last = -1
    for (index, position) in sorted.enumerated() {
      gaps[index] = position - last
      last = position
    }
    gaps[count] = Self.far
    for finger in 0..<Self.fingerCount { fingers[finger] = Finger(next: 0, before: -1) }
  }

  @inline(__always)
  mutating func pass(_ edit: InlineEdit, own: Bool) {
    let start = Int(edit.prefix)
    // Somebody else's insert leaves a cursor at its place; which of insert and delete comes first
    // decides where a cursor in the deleted text ends up.
    let insertsBehind = !own && edit.deletesFirst
    let behind = start + Int(edit.deleted) + (insertsBehind ? 1 : 0)
    seek(own ? start : start + 1)
    let (next, before) = (fingers[current].next, fingers[current].before)
    if next == count { return }
    if before + gaps[next] >= behind {
      let growth = edit.growth
      gaps[next] += growth
      for finger in 0..<Self.fingerCount {
        // No branch: who types next cannot be foretold.
        let isBehind = (next &- fingers[finger].next) >> (Int.bitWidth - 1)
        fingers[finger].before &+= growth & isBehind
      }
    } else {
      collapse(
        to: insertsBehind ? start : start + Int(edit.scalars), behind: behind, growth: edit.growth)
    }
  }

  /// Puts the cursors up to a position at one place.
  @inline(never)
  private mutating func collapse(to place: Int, behind: Int, growth: Int) {
    let here = fingers[current]
    var position = here.before + gaps[here.next]
    gaps[here.next] = place - here.before
    var index = here.next + 1
    while index < count {
      position += gaps[index]
      if position >= behind {
        gaps[index] = position + growth - place
        break
      }
      gaps[index] = 0
      index += 1
    }
    for finger in 0..<Self.fingerCount where fingers[finger].next > here.next {
      if fingers[finger].next > index {
        fingers[finger].before += growth
      } else {
        fingers[finger] = here
      }
    }
  }

  /// Puts the current finger before the first cursor that stands at a position or behind it.
  @inline(__always)
  private mutating func seek(_ position: Int) {
    var holding: UInt = 0
    for finger in 0..<Self.fingerCount { holding |= holds(finger, position) << UInt(finger) }
    if holding == 0 {
      seekFurther(position)
    } else {
      current = holding.trailingZeroBitCount
    }
  }

  /// Whether a finger is before the first cursor that stands at a position or behind it, as a bit:
  /// which of them is cannot be foretold, and a branch for each would be wrong half of the time.
  @inline(__always)
  private func holds(_ finger: Int, _ position: Int) -> UInt {
    let finger = fingers[finger]
    let fromBefore = position &- finger.before &- 1
    let toNext = finger.before &+ gaps[finger.next] &- position
    return ~UInt(bitPattern: fromBefore | toNext) >> UInt(UInt.bitWidth - 1)
  }

  @inline(never)
  private mutating func seekFurther(_ position: Int) {
    // Leave this finger here, and send the one that is next in turn on.
    var finger = fingers[current]
    while finger.before >= position {
      finger.next -= 1
      finger.before -= gaps[finger.next]
    }
    while finger.before + gaps[finger.next] < position {
      finger.before += gaps[finger.next]
      finger.next += 1
    }
    current = (current + 1) % Self.fingerCount
    fingers[current] = finger
  }

  /// Replaces each position, in order, by one that keeps the order.
  mutating func replaceAll(_ body: (Int) -> Int) {
    var position = -1
    var last = -1
    for index in 0..<count {
      position += gaps[index]
      let moved = body(position)
      gaps[index] = moved - last
      last = moved
    }
    for finger in 0..<Self.fingerCount { fingers[finger] = Finger(next: 0, before: -1) }
  }
}
