import ParleySimulationKit
import Testing

@Suite("Whole rooms from one seed")
struct RoomSimulationTests {
  @Test("every publication once, in order, or a reported gap; and no ghosts", arguments: 0..<4)
  func rooms(part: UInt64) throws {
    for seed in (part * 500 + 1)...(part * 500 + 500) {
      var simulation = RoomSimulation(seed: seed, plan: .everything(seed: seed, nodes: 1))
      try simulation.run()
    }
  }

  @Test("the same on several nodes, and no ghost older than six seconds", arguments: 0..<4)
  func nodes(part: UInt64) throws {
    var tally = Tally()
    for seed in (part * 250 + 1)...(part * 250 + 250) {
      var simulation = RoomSimulation(
        seed: seed, plan: .everything(seed: seed, nodes: 2 + Int(seed % 3)))
      try simulation.run()
      tally.add(simulation.tally)
    }
    for event in [
      Tally.Event.kills, .answersLost, .lostTails, .rejoinCloses, .hintsHeard, .hintsLost,
      .historyReads,
    ] {
      #expect(tally[event] > 0)
    }
  }
}
