import Synchronization

/// Simulations of many seeds, on several threads.
package final class Sweep: Sendable {
  /// The combined result of all seeds.
  package struct Result: Sendable {
    /// The number of seeds without a violation.
    package var runs = 0
    /// The counts of events in their runs.
    package var tally = Tally()
    /// The number of entries in all of their logs.
    package var revisions = 0
    /// The sum of their fingerprints, which does not depend on their order.
    package var fingerprint: UInt64 = 0
    /// The violated requirements.
    package var violations: [Simulation.Violation] = []

    fileprivate mutating func add(_ other: Self) {
      runs += other.runs
      tally.add(other.tally)
      revisions += other.revisions
      fingerprint &+= other.fingerprint
      violations += other.violations
    }
  }

  /// The number of seeds, from 1, in every run of the tests.
  package static let sliceCount: UInt64 = 3_000

  /// The number of violations after which a sweep ends.
  private static let violationsMax = 10
  /// The number of seeds that a thread takes at once.
  private static let portion: UInt64 = 100

  private let first: UInt64
  private let count: UInt64
  private let plan: @Sendable (UInt64) -> Simulation.Plan
  private let progress: @Sendable (Int) -> Void
  private let taken = Atomic<UInt64>(0)
  private let state = Mutex(Result())

  /// - Parameters:
  ///   - plan: Returns the plan of a seed's run.
  ///   - progress: Called about every 5,000 completed seeds, with their number.
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

  /// The result so far, with violations in the order of seeds.
  package var result: Result {
    var result = state.withLock { $0 }
    result.violations.sort { $0.seed < $1.seed }
    return result
  }

  /// Runs all seeds, or until the maximum of violations is reached.
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
