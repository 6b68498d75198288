import Gateway
import GatewayPorts
import OTCore
import SimulationKit
import SocketMessages
import Testing

/// Readiness after failures of the store, and what one document's failure says of it.
@Suite("Readiness while the store fails")
struct ReadinessTests {
  private let rig = GatewayRig(isDemo: true)

  init() { rig.make("n1") }

  private func failsOnce() {
    rig.store.commitsToFail = 1
    #expect(rig.request("PUT", "/api/notes/n1/text", "text").status == 503)
  }

  @Test("a store that commits again makes the gateway ready, though nobody changes anything")
  func quiet() {
    failsOnce()
    #expect(rig.unreadiness != nil)
    rig.pass(milliseconds: 1_000)
    #expect(rig.unreadiness == nil)
  }

  @Test("while the store fails it is asked once a second, and one question waits at a time")
  func probing() {
    failsOnce()
    rig.isStepwise = true
    func probes() -> Int {
      rig.stored.count { if case .probe = $0.request { true } else { false } }
    }
    for _ in 0..<4 { rig.pass(milliseconds: 1_000) }
    #expect(probes() == 1)
    func fails() {
      rig.store.commitsToFail = 1
      rig.storeWorks()
      #expect(rig.unreadiness != nil)
    }
    fails()
    rig.pass(milliseconds: 200)
    #expect(probes() == 1)
    fails()
    for _ in 0..<4 { rig.pass(milliseconds: 200) }
    #expect(probes() == 0)
    rig.pass(milliseconds: 200)
    #expect(probes() == 1)
    rig.storeWorks()
    #expect(rig.unreadiness == nil)
    rig.pass(milliseconds: 1_000)
    #expect(probes() == 0)
  }

  @Test(
    "a failure of one document, or of one request, says nothing of the others",
    arguments: [
      StoreError.damaged("a note"), .refused("a value"), .notNext(headRevision: 9),
      .answeredElsewhere([7]),
    ])
  func oneDocument(error: StoreError) {
    rig.isStepwise = true
    let edit = rig.begin("PUT", "/api/notes/n1/text", headers: [:], "text")
    let publication = rig.begin("POST", "/api/rooms/r/publish", headers: [:], #"{"data":1}"#)
    for _ in 0..<4 {
      _ = rig.endTurn()
      rig.storeWorks { request in
        switch request {
        case .append, .room(.publish): error
        default: nil
        }
      }
    }
    #expect(rig.answer(edit)?.status == 503)
    #expect(rig.answer(publication).map { $0.status >= 500 } ?? false)
    #expect(rig.unreadiness == nil)
  }

  @Test("a failure to read one document's log says nothing of the others")
  func oneLog() throws {
    let rig = GatewayRig(isDemo: true, store: MemoryStore(isShared: true))
    rig.make("n1")
    let (line, _) = try rig.greet(nil)
    rig.ask(line, .join(.init(documentID: "n1")))
    rig.isStepwise = true
    rig.hear("note/n1", Array("9".utf8))
    #expect(rig.stored.count == 1)
    rig.storeWorks { _ in .damaged("a note") }
    #expect(rig.unreadiness == nil)
  }
}
