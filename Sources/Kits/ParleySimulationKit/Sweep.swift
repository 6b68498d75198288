import Synchronization

/// Many seeds, on several threads.
package final class Sweep: Sendable {
  /// The result of all seeds together.
  package struct Result: Sendable {
    /// Seeds without a violation.
    package var runs = 0
    /// The counts of events in them.
    package var tally = Tally()
    /// Entries in all of their logs.
    package var revisions = 0
    /// The sum of their fingerprints: the same for the same seeds, in any order.
    package var fingerprint: UInt64 = 0
    /// The broken requirements, by seed.
    package var violations: [Simulation.Violation] = []

    fileprivate mutating func add(_ other: Self) {
      runs += other.runs
      tally.add(other.tally)
      revisions += other.revisions
      fingerprint &+= other.fingerprint
      violations += other.violations
    }
  }

  /// The seeds from 1 that every run of the tests goes through.
  package static let sliceCount: UInt64 = 3_000

  /// After so many violations a sweep ends.
  private static let violationsMax = 10
  /// Seeds that a thread takes at a time.
  private static let portion: UInt64 = 100

  private let first: UInt64
  private let count: UInt64
  private let plan: @Sendable (UInt64) -> Simulation.Plan
  private let progress: @Sendable (Int) -> Void
  private let taken = Atomic<UInt64>(0)
  private let state = Mutex(Result())

  /// - Parameters:
  ///   - plan: What a seed's run is made of.
  /// - progress: Called with the number of seeds that are done, now and then.
  package init(
    first: UInt64, count: UInt64,
    plan: @escaping @Sendable (UInt64) -> Simulation.Plan = Simulation.Plan.everything(seed:),
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.first = first
    self.count = count
    self.plan = plan
    self.progress = progress
  }

  /// The result so far; violations in the order of their seeds.
  package var result: Result {
    var result = state.withLock { $0 }
    result.violations.sort { $0.seed < $1.seed }
    return result
  }

  /// Runs all seeds, or until there are enough violations.
  package func run(jobs: Int) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<max(1, jobs) { group.addTask { self.work() } }
    }
  }

  private func work() {
    while true {
      let start = taken.add(Self.portion, ordering: .relaxed).oldValue
      guard start < count, state.withLock({ $0.violations.count }) < Self.violationsMax else {
        return
      }
      var part = Result()
      for seed in (first + start)..<(first + min(start + Self.portion, count)) {
        var simulation = Simulation(plan: plan(seed), seed: seed)
        do {
          let report = try simulation.run()
          part.runs += 1
          part.tally.add(report.tally)
          part.revisions += report.revisions
          part.fingerprint &+= report.fingerprint
        } catch {
          part.violations.append(error)
        }
      }
      let done = state.withLock { state in
        let before = state.runs
        state.add(part)
        return (before, state.runs)
      }
      if done.0 / 5_000 != done.1 / 5_000 { progress(done.1) }
    }
  }
}
