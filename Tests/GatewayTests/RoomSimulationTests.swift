import SimulationKit
import Testing

@Suite("Whole rooms from one seed")
struct RoomSimulationTests {
  @Test("every publication once, in order, or a gap that is told; and no ghosts", arguments: 0..<4)
  func rooms(part: UInt64) throws {
    for seed in (part * 500 + 1)...(part * 500 + 500) {
      var simulation = RoomSimulation(seed: seed, plan: .everything(seed: seed, nodes: 1))
      try simulation.run()
    }
  }

  @Test("the same on several nodes, and no ghost older than six seconds", arguments: 0..<4)
  func nodes(part: UInt64) throws {
    var tally = RoomTally()
    for seed in (part * 250 + 1)...(part * 250 + 250) {
      var simulation = RoomSimulation(
        seed: seed, plan: .everything(seed: seed, nodes: 2 + Int(seed % 3)))
      try simulation.run()
      tally.add(simulation.tally)
    }
    #expect(tally.kills > 0 && tally.answersLost > 0 && tally.lostTails > 0 && tally.rejoins > 0)
    #expect(tally.hintsHeard > 0 && tally.hintsLost > 0 && tally.readings > 0)
  }
}
