import ParleyGatewayPorts

/// Names that are all checked once per round, in slices.
///
/// A slice has at most ``sliceMin`` names or a quarter of all, whichever is more. After failures of
/// the store a round begins at once. The owner is behind until this round is complete and it has
/// read everything that the round found missing.
struct NameRotation<Name: ByteName> {
  /// Maximum names of a slice, unless a quarter of all names is more.
  private static var sliceMin: Int { 2_000 }
  /// Maximum slices of a round.
  private static var slicesMax: Int { 4 }

  private var left: [Name] = []
  private var size = 0
  private var begunAt: Int64 = 0
  /// The failure count for which a round was completed.
  private var completedFailures = 0
  /// The failure count for which the current round began; `nil` for a regular round.
  private var currentFailures: Int?
  /// Whether a slice is being checked.
  private var isLooking = false
  /// The number up to which each missing name has to be read, found by the catching-up round.
  private var missing: [Name: Int] = [:]

  /// Returns the next slice; empty between two rounds, and until the previous slice is checked.
  ///
  /// - Parameters:
  ///   - now: The uptime, in milliseconds.
  ///   - pause: Milliseconds between the beginnings of two rounds.
  ///   - failures: How often the store has failed; `nil` while it is failing.
  ///   - names: Returns all names; called once per round.
  mutating func next(
    now: Int64, pause: Int64, failures: Int? = 0, of names: () -> [Name]
  ) -> [Name] {
    guard !isLooking else { return [] }
    let isCatchingUp = failures.map { $0 != completedFailures && $0 != currentFailures } ?? false
    if isCatchingUp { (left, missing, currentFailures) = ([], [:], failures) }
    if left.isEmpty {
      guard isCatchingUp || now - begunAt >= pause else { return [] }
      left = names()
      guard !left.isEmpty else {
        looked()
        return []
      }
      begunAt = now
      size = max(Self.sliceMin, (left.count + Self.slicesMax - 1) / Self.slicesMax)
      // Sorts a single slice, so that each run checks it in the same order.
      if left.count <= size { left.sort() }
    }
    let slice = Array(left.suffix(size))
    left.removeLast(slice.count)
    isLooking = true
    return slice
  }

  /// Records that the store has entries of a name that are not in memory; `Int.max` for all of
  /// them.
  mutating func lacks(_ name: Name, upTo number: Int) {
    if currentFailures != nil { missing[name] = number }
  }

  /// Records that all of a name was read.
  mutating func hasRead(_ name: Name) {
    if !missing.isEmpty, missing[name] == .max { missing[name] = nil }
  }

  /// Records that a slice was checked.
  mutating func looked() {
    isLooking = false
    guard left.isEmpty, let failures = currentFailures else { return }
    (completedFailures, currentFailures) = (failures, nil)
  }

  /// Records that a slice could not be checked: a catching-up round then starts again.
  mutating func sliceFailed() { (isLooking, currentFailures) = (false, nil) }

  /// Whether entries may be missing after failures of the store.
  ///
  /// - Parameters:
  ///   - failures: How often the store has failed.
  ///   - reached: Returns the number up to which a name is known; `nil` if it is not in memory.
  func isBehind(after failures: Int, _ reached: (Name) -> Int?) -> Bool {
    failures != completedFailures
      || missing.contains { name, number in
        reached(name).map { $0 < number } ?? false
      }
  }
}
