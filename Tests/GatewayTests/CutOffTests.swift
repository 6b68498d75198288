import Gateway
import ParleyGatewayPorts
import ParleySimulationKit
import SocketMessages
import Testing

/// A gateway that cannot read other gateways' revocations.
@Suite("Cut off from revocations")
struct CutOffTests {
  private let rig = GatewayRig()

  init() {
    rig.make("n1")
    rig.book?.enter(
      "writer", user: "u", issuedAt: rig.clock.now, [Grant(.documents, NamePattern("n*"), .all)])
    rig.revocations.completeAt = rig.clock.uptime
  }

  private func code(_ message: ServerMessage?) -> ErrorCode? {
    if case .error(let error) = message { error.code } else { nil }
  }

  @Test("until the time limit nothing changes")
  func bound() throws {
    rig.pass(milliseconds: RevocationAge.rejectAfterMilliseconds)
    _ = try rig.connectNative("writer")
    #expect(rig.request("GET", "/api/notes/n1/text", token: "writer").status == 200)
    #expect(rig.refusal(ofUpgrade: ["authorization": "writer"], as: .whaler(pool: nil)) == nil)
  }

  @Test("after the time limit new clients are rejected as retryable")
  func unverified() throws {
    let (there, _) = try rig.connectNative("writer")
    rig.pass(milliseconds: RevocationAge.rejectAfterMilliseconds + 1)
    let id = rig.connect()
    let reply = rig.ask(id, .hello(.init(name: "Ada", token: "writer")))
    guard case .error(let error) = reply else {
      Issue.record("expected an error, got \(String(describing: reply))")
      return
    }
    #expect(error.code == .unavailable && error.retryable && error.retryAfter != nil)
    #expect(rig.closeCodes[id] == CloseReason.draining.rawValue)
    #expect(rig.request("GET", "/api/notes/n1/text", token: "writer").status == 503)
    #expect(rig.refusal(ofUpgrade: ["authorization": "writer"], as: .whaler(pool: nil)) == 503)
    // A connected client stays connected, but cannot present a new token.
    #expect(code(rig.ask(there, .refresh(.init(token: "writer")))) == .unavailable)
    #expect(code(rig.ask(there, .grant(.init(token: "writer")))) == .unavailable)
    #expect(rig.closeCodes[there] == nil)
    // An invalid token is still rejected as invalid.
    #expect(rig.request("GET", "/api/notes/n1/text", token: "nobody's").status == 401)
  }

  @Test("when the list is complete again, only revoked clients are rejected")
  func back() throws {
    rig.pass(milliseconds: RevocationAge.rejectAfterMilliseconds + 1)
    #expect(rig.request("GET", "/api/notes/n1/text", token: "writer").status == 503)
    rig.revocations.completeAt = rig.clock.uptime
    #expect(rig.request("GET", "/api/notes/n1/text", token: "writer").status == 200)
    rig.revocations.addFromOtherProcess(.user("u", before: rig.clock.now))
    rig.pass(milliseconds: 250)
    #expect(rig.request("GET", "/api/notes/n1/text", token: "writer").status == 401)
  }

  @Test("finally all clients are asked to reconnect to another gateway")
  func abandoned() throws {
    let (id, _) = try rig.connectNative("writer")
    let greeting = rig.connect()
    rig.pass(milliseconds: RevocationAge.closeAfterMilliseconds)
    #expect(rig.closeCodes[id] == nil)
    rig.pass(milliseconds: 250)
    #expect(rig.closeCodes[id] == CloseReason.draining.rawValue)
    #expect(rig.pushes(id).contains { if case .goodbye = $0 { true } else { false } })
    #expect(rig.closeCodes[greeting] != CloseReason.draining.rawValue)
  }

  @Test("API keys and open demos are not affected, because other gateways cannot revoke them")
  func exempt() throws {
    rig.pass(milliseconds: RevocationAge.rejectAfterMilliseconds + 1)
    #expect(rig.request("GET", "/api/connections", token: "pk_operator").status == 200)
    #expect(rig.unreadiness != nil)
    let demo = GatewayRig(isDemo: true)
    demo.revocations.completeAt = demo.clock.uptime
    let (id, _) = try demo.connectNative(nil)
    demo.pass(milliseconds: RevocationAge.closeAfterMilliseconds + 250)
    #expect(demo.closeCodes[id] == nil)
    #expect(demo.unreadiness == nil)
    _ = try demo.connectNative(nil)
  }
}
