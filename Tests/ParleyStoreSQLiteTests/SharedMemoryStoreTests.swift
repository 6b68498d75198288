import ParleyGatewayPorts
import ParleyPortConformance
import ParleySimulationKit
import Testing

@Suite("The store in memory, shared by nodes")
struct SharedMemoryStoreTests {
  @Test("it does what a shared store must", arguments: SharedStoreConformance.checks)
  func conforms(check: SharedStoreCheck) throws {
    let store = MemoryStore(isShared: true)
    try check.run(
      opening: { MemoryStoreHandle(store) }, losingAnswerOf: { $0.answersToLose = 1 })
  }

  @Test("a node without a line to it gets nothing done")
  func cut() throws {
    let store = MemoryStore(isShared: true)
    let node = MemoryStoreHandle(store)
    node.isCut = true
    let create = StoreRequest.create(id: "n", epoch: epoch, title: "N", time: 1)
    guard case .failed(.unavailable) = node.perform([create])[0] else {
      Issue.record("it was done")
      return
    }
    #expect(store.log(of: "n") == nil)
    node.isCut = false
    guard case .note = node.perform([create])[0] else {
      Issue.record("it was not done")
      return
    }
  }
}
