import Gateway
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("How many documents a connection may follow")
struct JoinLimitTests {
  private let rig = GatewayRig(isDemo: true) { $0.limits.documentsPerConnectionMax = 2 }

  init() { rig.make("n1", "n2", "n3") }

  @Test("concurrent joins do not exceed the limit")
  func together() throws {
    let (connection, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    for id in ["n1", "n2", "n3"] {
      #expect(rig.ask(connection, .join(.init(documentID: id))) == nil)
    }
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    let replies = rig.pushes(connection)
    let joined = replies.compactMap { if case .joined(let it) = $0 { it.documentID } else { nil } }
    let errors = replies.compactMap { if case .error(let it) = $0 { it.code } else { nil } }
    #expect(joined == ["n1", "n2"])
    #expect(errors == [.tooMany])
    // A document that the connection already follows may be joined again.
    guard case .joined? = rig.ask(connection, .join(.init(documentID: "n2"))) else {
      Issue.record("the second document could not be rejoined")
      return
    }
  }

  @Test("a Whaler client over the limit is closed, because its protocol has no refusals")
  func whaler() throws {
    let connection = rig.connectWhaler(pool: nil, token: nil)
    rig.isStepwise = true
    for id in ["n1", "n2", "n3"] {
      rig.say(
        connection,
        #"{"messageId":"\#(id)","type":"resourceConnection","data":{"resourceId":"\#(id)"}}"#)
    }
    while !rig.stored.isEmpty { rig.performStoreRequests() }
    #expect(rig.closeCodes[connection] == CloseReason.tooMany.rawValue)
  }
}
