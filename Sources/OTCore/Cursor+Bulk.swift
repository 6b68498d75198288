extension Cursor {
  /// Moves many cursors through many operations, oldest first; see ``transformed(_:over:own:)``.
  ///
  /// Positions must lie within the first operation's text; the operations follow on one another.
  ///
  /// - Complexity: O(*cursors* × *operations*), eight cursors at a time for single edits.
  public static func transform(
    _ cursors: inout [Int], over operations: ArraySlice<TextOperation>, own: Bool
  ) {
    var lanes: [SIMD8<Int32>] = []
    lanes.reserveCapacity(cursors.count / 8 + 1)
    for start in stride(from: 0, to: cursors.count, by: 8) {
      var lane = SIMD8<Int32>(repeating: 0)
      for index in start..<min(start + 8, cursors.count) {
        lane[index - start] = Int32(truncatingIfNeeded: cursors[index])
      }
      lanes.append(lane)
    }
    let count = lanes.count
    let total = cursors.count
    lanes.withUnsafeMutableBufferPointer { lanes in
      for operation in operations {
        if operation.block == nil {
          let edit = operation.edit
          let start = Int32(truncatingIfNeeded: edit.prefix)
          let deleted = Int32(truncatingIfNeeded: edit.deleted)
          let added = Int32(edit.scalars)
          // Somebody else's insert leaves a cursor at its place; what comes first decides where
          // a cursor in the deleted text ends up.
          let insertsBehind = !own && edit.deletesFirst
          let from = SIMD8(repeating: own ? start : start + 1)
          let behind = SIMD8(repeating: start + deleted + (insertsBehind ? 1 : 0))
          let within = SIMD8(repeating: insertsBehind ? start : start + added)
          let growth = SIMD8(repeating: added - deleted)
          for index in 0..<count {
            let lane = lanes[index]
            let moved = (lane &+ growth).replacing(with: within, where: lane .< behind)
            lanes[index] = moved.replacing(with: lane, where: lane .< from)
          }
        } else {
          for index in 0..<total {
            lanes[index >> 3][index & 7] = Int32(
              truncatingIfNeeded: transformed(
                Int(lanes[index >> 3][index & 7]), over: operation, own: own))
          }
        }
      }
    }
    for index in 0..<total { cursors[index] = Int(lanes[index >> 3][index & 7]) }
  }
}
