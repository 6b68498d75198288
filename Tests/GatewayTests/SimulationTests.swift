import Gateway
import ParleySimulationKit
import Testing

/// Seeds that every test run covers.
enum Seeds {
  /// Runs `count` seeds in separate simulations, and throws the first failure.
  static func run(_ count: UInt64, from first: UInt64 = 1, _ plan: (UInt64) -> Simulation.Plan)
    throws
  {
    for seed in first..<(first + count) {
      var simulation = Simulation(plan: plan(seed), seed: seed)
      try simulation.run()
    }
  }
}

@Suite("Whole gateways from one seed")
struct SimulationTests {
  @Test("A3: 4,000 histories of 3 to 8 Whaler clients converge", arguments: 0..<4)
  func whalers(part: Int) throws {
    try Seeds.run(1_000, from: UInt64(part) * 1_000 + 1) { seed in
      var plan = Simulation.Plan()
      plan.natives = 0
      plan.whalers = 3 + Int(seed % 6)
      plan.steps = 120
      return plan
    }
  }

  @Test("native and Whaler clients in one document converge")
  func mixed() throws {
    try Seeds.run(1_000) { seed in
      var plan = Simulation.Plan()
      plan.natives = 1 + Int(seed % 4)
      plan.whalers = Int(seed / 4 % 3)
      plan.documents = 1 + Int(seed / 12 % 2)
      return plan
    }
  }

  @Test("faults neither lose nor duplicate changes, and every kind of fault occurs")
  func everything() async {
    let sweep = Sweep(first: 1, count: Sweep.sliceCount)
    await sweep.run(jobs: 2)
    let result = sweep.result
    for violation in result.violations { Issue.record(violation) }
    #expect(result.tally.missing.map(\.words) == [])
  }

  @Test("a seed gives the same run, to the byte", arguments: UInt64(1)...50)
  func repetition(seed: UInt64) throws {
    var first = Simulation(plan: .everything(seed: seed), seed: seed)
    var second = Simulation(plan: .everything(seed: seed), seed: seed)
    #expect(try first.run() == second.run())
  }

  @Test("faults neither lose nor duplicate acknowledged changes")
  func faults() throws {
    try Seeds.run(1_000) { seed in
      var plan = Simulation.Plan()
      plan.natives = 2 + Int(seed % 3)
      plan.whalers = Int(seed / 3 % 2)
      plan.documents = 1 + Int(seed / 6 % 2)
      plan.steps = 500
      plan.faultPermille = 30
      plan.faults = [.disconnect, .stall, .kill, .failCommit, .fillDisk]
      plan.settings = .tight
      return plan
    }
  }

  @Test("clients with entries that the disk has lost converge on the remaining ones")
  func lostTails() throws {
    try Seeds.run(1_000) { seed in
      var plan = Simulation.Plan()
      plan.natives = 2 + Int(seed % 4)
      plan.riches = Int(seed / 4 % 3)
      plan.whalers = 0
      plan.steps = 500
      plan.faultPermille = 30
      plan.faults = [.disconnect, .loseTail, .kill]
      plan.settings = .tight
      return plan
    }
  }
}
