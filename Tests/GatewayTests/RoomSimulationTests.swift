import ParleySimulationKit
import Testing

@Suite("Whole rooms from one seed")
struct RoomSimulationTests {
  @Test("every publication once, in order, or a reported gap; and no ghosts", arguments: 0..<4)
  func rooms(part: UInt64) throws {
    var tally = Tally()
    for seed in (part * 500 + 1)...(part * 500 + 500) {
      var simulation = RoomSimulation(seed: seed, plan: .everything(seed: seed, nodes: 1))
      tally.add(try simulation.run().tally)
    }
    #expect(Tally.ofRooms.filter { tally[$0] == 0 } == [])
  }

  @Test("a seed gives the same run", arguments: UInt64(1)...20)
  func repetition(seed: UInt64) throws {
    let plan = RoomSimulation.Plan.everything(seed: seed, nodes: 1 + Int(seed % 5))
    var first = RoomSimulation(seed: seed, plan: plan)
    var second = RoomSimulation(seed: seed, plan: plan)
    #expect(try first.run() == second.run())
  }

  @Test("the same on several nodes, and no ghost older than six seconds", arguments: 0..<4)
  func nodes(part: UInt64) throws {
    var tally = Tally()
    for seed in (part * 250 + 1)...(part * 250 + 250) {
      var simulation = RoomSimulation(
        seed: seed, plan: .everything(seed: seed, nodes: 2 + Int(seed % 3)))
      tally.add(try simulation.run().tally)
    }
    for event in [
      Tally.Event.kills, .answersLost, .lostTails, .rejoinCloses, .hintsHeard, .hintsLost,
      .historyReads,
    ] + Tally.ofRooms where event != .clientsGoneForGood {
      #expect(tally[event] > 0, "\(event)")
    }
  }
}
