import Gateway
import ParleyGatewayPorts
import SocketMessages
import Testing

/// Revocations while many connections are open. Each turn checks some of the connections.
@Suite("Revocations in turns")
struct RevocationTurnTests {
  private static let count = 300

  private let rig = GatewayRig {
    $0.limits.userConnectionsMax = 0
    $0.limits.userConnectsPerSecondMax = 0
  }
  private let first: UInt64
  private var others: [UInt64] = []

  init() throws {
    for user in ["ada", "ben"] {
      rig.book?.enter(user, user: user, [Grant(.documents, NamePattern("*"), .all)])
    }
    first = try rig.connectNative("ada").0
    for _ in 0..<Self.count { others.append(try rig.connectNative("ben").0) }
    rig.isStepwise = true
  }

  private func revoke(_ user: String) -> UInt64 {
    rig.begin(
      "POST", "/api/revoke", headers: ["authorization": "Bearer pk_operator"],
      #"{"user":"\#(user)"}"#)
  }

  private var closedCount: Int { rig.closeCodes.count }

  @Test("each turn closes some connections, and the request is answered when all are closed")
  func turns() {
    let request = revoke("ben")
    var counts = [closedCount]
    while rig.endTurn() {
      #expect(rig.answer(request) == nil)
      counts.append(closedCount)
    }
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 - $0 < 100 } && counts[0] < 100)
    #expect(rig.answer(request)?.body == #"{"connections":\#(Self.count)}"#)
    #expect(others.allSatisfy { rig.closeCodes[$0] == CloseReason.revoked.rawValue })
    #expect(rig.closeCodes[first] == nil)
  }

  @Test("a revoked connection can do nothing while it waits to be closed")
  func message() throws {
    _ = revoke("ben")
    let last = try #require(others.last)
    #expect(rig.closeCodes[last] == nil)
    if case .pong? = rig.ask(last, .ping) { Issue.record("answered") }
    #expect(rig.closeCodes[last] == CloseReason.revoked.rawValue)
    if case .pong? = rig.ask(first, .ping) {} else { Issue.record("not answered") }
    // The pass that the caller waits for ends.
    while rig.endTurn() {}
  }

  @Test("connections opened and closed during a pass do not affect others")
  func churn() throws {
    let request = revoke("ben")
    var opened: [UInt64] = []
    var gone: Set<UInt64> = []
    var turn = 0
    while rig.endTurn() {
      // Most connections close, so that the list of connections is rebuilt.
      for id in others.suffix(170) where rig.closeCodes[id] == nil && !gone.contains(id) {
        rig.close(id)
        gone.insert(id)
      }
      opened.append(try rig.connectNative("ada").0)
      turn += 1
    }
    #expect(turn > 0 && gone.count > Self.count / 2)
    let left = others.filter { !gone.contains($0) }
    #expect(left.allSatisfy { rig.closeCodes[$0] == CloseReason.revoked.rawValue })
    #expect(opened.allSatisfy { rig.closeCodes[$0] == nil } && rig.closeCodes[first] == nil)
    #expect(rig.answer(request)?.body == #"{"connections":\#(left.count)}"#)
  }

  @Test("a later revocation also applies to connections that were already checked")
  func meanwhile() {
    let requests = [revoke("ben"), revoke("ada"), revoke("nobody")]
    while rig.endTurn() {}
    #expect(closedCount == 1 + Self.count)
    for request in requests { #expect(rig.answer(request)?.status == 200) }
    // No work is left for later turns.
    #expect(rig.answer(revoke("ben"))?.status == 200)
  }
}
