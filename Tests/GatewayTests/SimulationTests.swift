import Gateway
import SimulationKit
import Testing

/// Seeds that every run of the tests goes through.
enum Seeds {
  /// Runs `count` seeds, each in a simulation of its own, and reports the first that fails.
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
  /// Small windows and queues, so that catching up, trimming and resyncing happen all the time.
  static var tightSettings: GatewaySettings {
    var settings = GatewaySettings()
    settings.windowEntries = 8
    settings.laggingBytes = 600
    settings.catchUpBytes = 400
    settings.lagRevisionsMax = 60
    settings.idleDocumentMilliseconds = 1_000
    return settings
  }

  @Test("10,000 histories of 3 to 8 Whaler clients converge", arguments: 0..<10)
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

  @Test("whatever breaks, nothing acknowledged is lost or doubled")
  func faults() throws {
    try Seeds.run(2_000) { seed in
      var plan = Simulation.Plan()
      plan.natives = 2 + Int(seed % 3)
      plan.whalers = Int(seed / 3 % 2)
      plan.documents = 1 + Int(seed / 6 % 2)
      plan.steps = 500
      plan.faultPercent = 3
      plan.faults = [.disconnect, .stall, .kill, .failCommit, .fillDisk]
      plan.settings = Self.tightSettings
      return plan
    }
  }

  @Test("clients that saw a tail which the disk lost converge on what is left")
  func lostTails() throws {
    try Seeds.run(1_000) { seed in
      var plan = Simulation.Plan()
      plan.natives = 2 + Int(seed % 4)
      plan.whalers = 0
      plan.steps = 500
      plan.faultPercent = 3
      plan.faults = [.disconnect, .loseTail, .kill]
      plan.settings = Self.tightSettings
      return plan
    }
  }
}
