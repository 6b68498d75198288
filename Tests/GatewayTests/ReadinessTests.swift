import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Readiness after failures of the store, and the effect of one document's failure.
@Suite("Readiness while the store fails")
struct ReadinessTests {
  private let rig = GatewayRig(isDemo: true)

  init() { rig.make("n1") }

  private func failsOnce() {
    rig.store.commitsToFail = 1
    #expect(rig.request("PUT", "/api/notes/n1/text", "text").status == 503)
  }

  @Test("a store that commits again makes the gateway ready, even without changes by clients")
  func quiet() {
    failsOnce()
    #expect(rig.unreadiness != nil)
    rig.pass(milliseconds: 1_000)
    #expect(rig.unreadiness == nil)
  }

  @Test("while the store fails it is probed once a second, with one probe at a time")
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
      rig.performStoreRequests()
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
    rig.performStoreRequests()
    #expect(rig.unreadiness == nil)
    rig.pass(milliseconds: 1_000)
    #expect(probes() == 0)
  }

  @Test(
    "a failure of one document or request does not affect readiness",
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
      rig.performStoreRequests { request in
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

  @Test("a gateway that was cut off is ready after it has read the entries of other nodes")
  func completedFailures() throws {
    let store = MemoryStore(isShared: true)
    let cut = GatewayRig(isDemo: true, store: store, prefix: "a") { $0.sharesStore = true }
    let whole = GatewayRig(isDemo: true, store: store, prefix: "b") { $0.sharesStore = true }
    cut.make("n1")
    for rig in [cut, whole] { rig.hintsArrive() }
    let (line, _) = try cut.connectNative(nil)
    cut.ask(line, .join(.init(documentID: "n1")))
    cut.isStepwise = true
    let away = { (_: StoreRequest) -> StoreError? in .unavailable("away") }
    let edit = cut.begin("PUT", "/api/notes/n1/text", headers: [:], "here")
    _ = cut.endTurn()
    cut.performStoreRequests(failing: away)
    #expect(cut.answer(edit)?.status == 503)
    #expect(whole.request("PUT", "/api/notes/n1/text", "elsewhere").status == 200)
    // The store is still unavailable.
    cut.pass(milliseconds: 1_000)
    cut.performStoreRequests(failing: away)
    #expect(cut.unreadiness?.contains("commit failed") == true)
    cut.pass(milliseconds: 1_000)
    cut.performStoreRequests()
    #expect(cut.unreadiness?.contains("other gateways") == true)
    // The heads are read immediately, then the logs that have changed.
    var steps = 0
    while cut.unreadiness != nil, steps < 10 {
      cut.pass(milliseconds: 1)
      #expect(cut.unreadiness != nil, "a step before the store has answered")
      cut.performStoreRequests()
      steps += 1
    }
    #expect(cut.unreadiness == nil)
    guard case .joined(let joined)? = cut.ask(line, .join(.init(documentID: "n1"))),
      case .text(let text) = joined.content
    else {
      Issue.record("expected a text")
      return
    }
    #expect(text == "elsewhere")
  }

  /// An interruption in which no request of the gateway has failed.
  enum Interruption: CaseIterable {
    case lostHints, reconnectedStore
  }

  /// A change by another gateway.
  enum Change: CaseIterable {
    case text, title, deletion
  }

  @Test(
    "after an interruption a gateway is ready when it has read the entries of other nodes",
    arguments: Interruption.allCases, Change.allCases)
  func interrupted(interruption: Interruption, change: Change) throws {
    let store = MemoryStore(isShared: true)
    let cut = GatewayRig(isDemo: true, store: store, prefix: "a") { $0.sharesStore = true }
    let whole = GatewayRig(isDemo: true, store: store, prefix: "b") { $0.sharesStore = true }
    cut.make("n1")
    for rig in [cut, whole] { rig.hintsArrive() }
    let (line, _) = try cut.connectNative(nil)
    cut.ask(line, .join(.init(documentID: "n1")))
    // The next read of the heads is not due yet.
    cut.pass(milliseconds: 1_000)
    cut.isStepwise = true
    switch change {
    case .text: #expect(whole.request("PUT", "/api/notes/n1/text", "elsewhere").status == 200)
    case .title:
      #expect(whole.request("PATCH", "/api/notes/n1", #"{"title":"T"}"#).status == 200)
    case .deletion: #expect(whole.request("DELETE", "/api/notes/n1").status == 204)
    }
    #expect(cut.unreadiness == nil)
    switch interruption {
    case .lostHints:
      cut.hintsArrive(false)
      cut.hintsArrive()
    case .reconnectedStore: cut.storeReconnects()
    }
    #expect(cut.unreadiness?.contains("other gateways") == true)
    var steps = 0
    while cut.unreadiness != nil, steps < 10 {
      cut.pass(milliseconds: 1)
      #expect(cut.unreadiness != nil, "a step before the store has answered")
      cut.performStoreRequests()
      steps += 1
    }
    #expect(cut.unreadiness == nil)
    switch change {
    case .text, .title: #expect(!cut.pushes(line).isEmpty)
    case .deletion: #expect(cut.closeCodes[line] != nil || !cut.pushes(line).isEmpty)
    }
  }

  @Test("a failure to read one document's log does not affect readiness")
  func oneLog() throws {
    let rig = GatewayRig(isDemo: true, store: MemoryStore(isShared: true))
    rig.make("n1")
    let (line, _) = try rig.connectNative(nil)
    rig.ask(line, .join(.init(documentID: "n1")))
    rig.isStepwise = true
    rig.hear("note/n1", Array("9".utf8))
    #expect(rig.stored.count == 1)
    rig.performStoreRequests { _ in .damaged("a note") }
    #expect(rig.unreadiness == nil)
  }
}
