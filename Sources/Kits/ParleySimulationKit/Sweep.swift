import Synchronization

/// Simulations of many seeds, on several threads.
package final class Sweep: Sendable {
  /// The combined result of all seeds.
  package struct Result: Sendable {
    /// The number of seeds without a violation.
    package var runs = 0
    /// The counts of events in their runs.
    package var tally = Tally()
    /// The number of entries in all of their logs, or of publications.
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
  private let run: @Sendable (UInt64) throws(Simulation.Violation) -> Simulation.Report
  private let progress: @Sendable (Int) -> Void
  private let taken = Atomic<UInt64>(0)
  private let state = Mutex(Result())

  /// - Parameters:
  ///   - plan: Returns the plan of a seed's run.
  ///   - progress: Called about every 5,000 completed seeds, with their number.
  package convenience init(
    first: UInt64, count: UInt64,
    plan: @escaping @Sendable (UInt64) -> Simulation.Plan = Simulation.Plan.everything(seed:),
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.init(first: first, count: count, progress: progress) {
      (seed) throws(Simulation.Violation) in
      var simulation = Simulation(plan: plan(seed), seed: seed)
      return try simulation.run()
    }
  }

  /// Returns simulations of rooms.
  package static func rooms(
    first: UInt64, count: UInt64,
    plan: @escaping @Sendable (UInt64) -> RoomSimulation.Plan,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> Sweep {
    Sweep(first: first, count: count, progress: progress) {
      (seed) throws(Simulation.Violation) in
      var simulation = RoomSimulation(seed: seed, plan: plan(seed))
      return try simulation.run()
    }
  }

  private init(
    first: UInt64, count: UInt64, progress: @escaping @Sendable (Int) -> Void,
    run: @escaping @Sendable (UInt64) throws(Simulation.Violation) -> Simulation.Report
  ) {
    self.first = first
    self.count = count
    self.progress = progress
    self.run = run
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
        do {
          let report = try run(seed)
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
