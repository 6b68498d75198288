import ParleyGatewayPorts

/// Names that are all checked in each round, a slice at a time.
///
/// However many there are, no slice is larger than a quarter of them, or than a number that costs little.
/// After failures of the store a round begins at once; its owner is behind until the round is over and
/// everything that it found missing has been read.
struct NameRotation<Name: ByteName> {
  /// Names in a slice, where they are few.
  private static var sliceMin: Int { 2_000 }
  /// Slices of a round, where they are many.
  private static var slicesMax: Int { 4 }

  private var left: [Name] = []
  private var size = 0
  private var begunAt: Int64 = 0
  /// The number of failures after which a round was completed.
  private var caughtUp = 0
  /// The number of failures after which the round under way began; `nil` for a regular round.
  private var catchingUp: Int?
  /// Whether a slice is being looked at.
  private var isLooking = false
  /// The numbers up to which names have to be read, as that round has found.
  private var missing: [Name: Int] = [:]

  /// The names whose turn it is; none between two rounds, and until the previous slice has been checked.
  ///
  /// - Parameters:
  ///   - now: The uptime, in milliseconds.
  ///   - pause: Milliseconds from the beginning of a round to the next one's.
  ///   - failures: How often the store has failed; `nil` while it does.
  ///   - names: All names, asked for once in a round.
  mutating func next(
    now: Int64, pause: Int64, failures: Int? = 0, of names: () -> [Name]
  ) -> [Name] {
    guard !isLooking else { return [] }
    let isCatchingUp = failures.map { $0 != caughtUp && $0 != catchingUp } ?? false
    if isCatchingUp { (left, missing, catchingUp) = ([], [:], failures) }
    if left.isEmpty {
      guard isCatchingUp || now - begunAt >= pause else { return [] }
      left = names()
      guard !left.isEmpty else {
        looked()
        return []
      }
      begunAt = now
      size = max(Self.sliceMin, (left.count + Self.slicesMax - 1) / Self.slicesMax)
      // A few are looked at in the same order in each run.
      if left.count <= size { left.sort() }
    }
    let slice = Array(left.suffix(size))
    left.removeLast(slice.count)
    isLooking = true
    return slice
  }

  /// Takes note that the store has more of a name than is known here; `Int.max` stands for all of it.
  mutating func lacks(_ name: Name, upTo number: Int) {
    if catchingUp != nil { missing[name] = number }
  }

  /// Takes note that all of a name was read.
  mutating func hasRead(_ name: Name) {
    if !missing.isEmpty, missing[name] == .max { missing[name] = nil }
  }

  /// Takes note that a slice was looked at.
  mutating func looked() {
    isLooking = false
    guard left.isEmpty, let failures = catchingUp else { return }
    (caughtUp, catchingUp) = (failures, nil)
  }

  /// Takes note that a slice could not be looked at: a round after a failure begins again.
  mutating func couldNotLook() { (isLooking, catchingUp) = (false, nil) }

  /// Whether something may be missing after failures of the store.
  ///
  /// - Parameters:
  ///   - failures: How often the store has failed.
  ///   - reached: The number up to which a name is known; `nil` for one that is not in memory.
  func isBehind(after failures: Int, _ reached: (Name) -> Int?) -> Bool {
    failures != caughtUp
      || missing.contains { name, number in
        reached(name).map { $0 < number } ?? false
      }
  }
}
