/// Names of which all are looked at in each round, a slice at a time.
///
/// However many there are, no slice is larger than a quarter of them, or than a number that costs little.
struct NameRotation {
  /// Names in a slice, where they are few.
  private static let sliceMin = 2_000
  /// Slices of a round, where they are many.
  private static let slicesMax = 4

  private var left: [String] = []
  private var size = 0
  private var begunAt: Int64 = 0

  /// The names whose turn it is; none between two rounds.
  ///
  /// - Parameters:
  ///   - now: The uptime, in milliseconds.
  ///   - pause: Milliseconds from the beginning of a round to the next one's.
  ///   - names: All names, asked for once in a round.
  mutating func next(now: Int64, pause: Int64, of names: () -> [String]) -> [String] {
    if left.isEmpty {
      guard now - begunAt >= pause else { return [] }
      left = names()
      guard !left.isEmpty else { return [] }
      begunAt = now
      size = max(Self.sliceMin, (left.count + Self.slicesMax - 1) / Self.slicesMax)
      // A few are looked at in the same order in each run.
      if left.count <= size { left.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }
    let slice = Array(left.suffix(size))
    left.removeLast(slice.count)
    return slice
  }
}
