import Gateway
import ParleySimulationKit
import Testing

/// Several gateways on one log, from one seed.
@Suite("Nodes on one log")
struct NodeSimulationTests {
  @Test(
    "faults between nodes neither lose nor duplicate changes, and all clients converge")
  func everything() async {
    let sweep = Sweep(first: 1, count: 300) { .everything(seed: $0, nodes: 2 + Int($0 % 4)) }
    await sweep.run(jobs: 2)
    let result = sweep.result
    for violation in result.violations { Issue.record(violation) }
    #expect(result.tally.missingAmongNodes.map(\.words) == [])
  }

  /// The bugs: a race lost repeatedly, a session lost in a failover, a page from a log that lost
  /// it.
  @Test(
    "seeds that have found a bug",
    arguments: [
      5_563, 8_643, 25_867, 27_822, 43_683, 52_781, 59_788, 62_094, 68_726, 71_892,
    ] as [UInt64])
  func formerBugs(seed: UInt64) throws {
    var plan = Simulation.Plan.everything(seed: seed, nodes: 1 + Int(seed % 5))
    // The seeds were found before the plan had writers.
    plan.writers = 0
    var simulation = Simulation(plan: plan, seed: seed)
    try simulation.run()
  }

  /// The bug: a request at a node that reloaded the note, whose history another node had changed.
  @Test(
    "seeds with writers over HTTP that have found a bug", arguments: [88_234, 91_561] as [UInt64])
  func formerBugsOfWriters(seed: UInt64) throws {
    var simulation = Simulation(
      plan: .everything(seed: seed, nodes: 1 + Int(seed % 5)), seed: seed)
    try simulation.run()
  }

  @Test("a seed gives the same run on several nodes, to the byte", arguments: UInt64(1)...10)
  func repetition(seed: UInt64) throws {
    let plan = Simulation.Plan.everything(seed: seed, nodes: 3)
    var first = Simulation(plan: plan, seed: seed)
    var second = Simulation(plan: plan, seed: seed)
    #expect(try first.run() == second.run())
  }

  @Test("without hints, checking the heads is sufficient")
  func withoutHints() throws {
    try Seeds.run(60, from: 30_000) { seed in
      var plan = Simulation.Plan.everything(seed: seed, nodes: 2)
      plan.hintsLostPercent = 100
      return plan
    }
  }
}
