import Gateway
import GatewayPorts
import OTCore
import SimulationKit
import Testing

/// Edits over HTTP: answered when they are durable, and held to the revision that they expect.
@Suite("Edits over HTTP")
struct ServerEditTests {
  private let rig = GatewayRig(isDemo: true)

  init() {
    rig.make("n1")
  }

  /// Begins to replace the text of a note.
  private func replace(_ text: String, ifMatch revision: Int? = nil) -> UInt64 {
    rig.begin(
      "PUT", "/api/notes/n1/text", headers: revision.map { ["if-match": "\"\($0)\""] } ?? [:], text)
  }

  private var text: String? { rig.store.document("n1")?.text }

  @Test("an edit whose commit fails is refused, with all that were made on it")
  func failedCommit() {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let committing = replace("lost")
    _ = rig.endTurn()
    let waiting = replace("lost too")
    #expect(rig.answer(committing) == nil)
    rig.store.commitsToFail = 1
    rig.storeWorks()
    for request in [committing, waiting] {
      #expect(rig.answer(request)?.status == 503)
      #expect(rig.answer(request)?.body.contains(#""code":"unavailable""#) ?? false)
    }
    #expect(text == "first")
    rig.isStepwise = false
    let next = rig.answer(replace("second", ifMatch: 1))
    #expect(next?.status == 200)
    #expect(next?.body == #"{"revision":2}"#)
    #expect(text == "second")
  }

  @Test("the revision that an edit expects is the newest, what is being committed included")
  func expectedRevision() {
    #expect(rig.answer(replace("first"))?.status == 200)
    rig.isStepwise = true
    let first = replace("second", ifMatch: 1)
    _ = rig.endTurn()
    // Two readers of revision 1: the other's edit is on its way to the disk.
    let second = replace("third", ifMatch: 1)
    #expect(rig.answer(first) == nil)
    #expect(rig.answer(second)?.status == 412)
    rig.storeWorks()
    #expect(rig.answer(first)?.status == 200)
    #expect(text == "second")
  }
}
