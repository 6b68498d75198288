import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Marks of clients")
struct MarkTests {
  private let rig = GatewayRig(isDemo: true)

  private func marks() -> [String] {
    guard case .document(let stored) = rig.store.perform([.load(id: "n1", recentMax: 0)])[0] else {
      return ["the note is not there"]
    }
    return stored.marks.keys.sorted()
  }

  @Test("only clients that can repeat a change leave marks")
  func marksOfClients() throws {
    rig.make("n1")
    for number in 0..<30 {
      let request = rig.begin(
        "PUT", "/api/notes/n1/text", headers: ["content-type": "text/plain"], "text \(number)")
      #expect(rig.answer(request)?.status == 200)
    }
    let whaler = rig.connectWhaler(pool: nil, token: nil)
    rig.say(
      whaler, #"{"messageId":"1","type":"resourceConnection","data":{"resourceId":"n1"}}"#)
    for revision in 30..<40 {
      rig.say(
        whaler,
        #"{"messageId":"w\#(revision)","type":"docChange","data":{"resourceId":"n1","#
          + #""rev":\#(revision),"n":[0,\#(7 + revision - 30)],"s":["x",""]}}"#)
    }
    #expect(rig.store.log(of: "n1")?.count == 40)
    #expect(marks() == [])
    let (native, welcome) = try rig.connectNative(nil)
    rig.ask(native, .join(.init(documentID: "n1")))
    var operation = TextOperation()
    operation.retain(17)
    operation.insert("y")
    let change = ClientMessage.change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: 40, sequence: 1, operation: operation))
    for _ in 0..<2 {
      guard case .acknowledged(let data) = rig.ask(native, change) else {
        Issue.record("the change was not acknowledged")
        return
      }
      #expect(data.revision == 41)
    }
    #expect(marks() == [welcome.clientID])
    #expect(rig.store.log(of: "n1")?.suffix(2).map(\.sequence) == [0, 1])
  }
}
