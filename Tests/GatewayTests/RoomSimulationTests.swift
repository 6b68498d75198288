import Gateway
import GatewayPorts
import SimulationKit
import Testing

@Suite("Whole rooms from one seed")
struct RoomSimulationTests {
  @Test("every publication once, in order, or a gap that is told; and no ghosts", arguments: 0..<4)
  func rooms(part: UInt64) throws {
    for seed in (part * 500 + 1)...(part * 500 + 500) {
      var settings = GatewaySettings()
      // Some windows are so small that gaps come all the time.
      settings.roomMemory = RoomMemory(
        publicationsMax: [4, 20, 1_000][Int(seed % 3)], ageMax: 86_400_000)
      settings.recoveryMax = seed % 2 == 0 ? 6 : 1_000
      settings.presenceGraceMilliseconds = seed % 5 == 0 ? 0 : 800
      var simulation = RoomSimulation(
        seed: seed, clients: 2 + Int(seed % 4), steps: 400, settings: settings)
      try simulation.run()
    }
  }
}
