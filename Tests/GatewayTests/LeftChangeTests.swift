import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Changes that are complete but still wait when their connection ends. Clients without sequence
/// numbers cannot resend them.
@Suite("Changes that wait longer than their connections")
struct LeftChangeTests {
  /// The reason why a change waits.
  enum Wait: CaseIterable {
    case turn, history
  }

  /// The way in which the change's connection ends.
  enum End: CaseIterable {
    case closedByClient, closedAsSlow, closedInItsTurn
  }

  /// The way in which the author loses the right to the change.
  enum Loss: CaseIterable {
    case revoked, expired, moved
  }

  private static let large = String(repeating: "x", count: 5_000)

  private let rig = GatewayRig {
    $0.turnWorkMax = 2_000
    $0.windowEntries = 4
  }
  /// Whaler connections that follow the note.
  private let first: UInt64
  private let second: UInt64

  init() {
    rig.make("n1")
    let book = rig.book
    book?.enter("api", user: "api", [Grant(.documents, NamePattern("*"), .all)])
    book?.enter("first", user: "ada", [Grant(.documents, NamePattern("*"), .all)])
    book?.enter(
      "second", user: "ben", issuedAt: 1, expiresAt: rig.clock.now + 60_000,
      [
        Grant(.folders, NamePattern(folders: "work/*") ?? NamePattern("none"), .all),
        Grant(.rooms, NamePattern("*"), .all),
      ])
    _ = rig.request(
      "PATCH", "/api/notes/n1", token: "api", #"{"folder":"work"}"#)
    for number in 0..<20 {
      _ = rig.request(
        "POST", "/api/notes/n1/changes", token: "api",
        #"{"revision":\#(number),"operation":["-"\#(number > 0 ? ",\(number)" : "")]}"#)
    }
    first = rig.connectWhaler(pool: nil, token: "first")
    second = rig.connectWhaler(pool: "p", token: "second")
    for connection in [first, second] { Self.join(rig, connection) }
    rig.isStepwise = true
  }

  private static func join(_ rig: GatewayRig, _ connection: UInt64) {
    rig.say(
      connection, #"{"messageId":"j","type":"resourceConnection","data":{"resourceId":"n1"}}"#)
  }

  /// Inserts text at the start of the note.
  private func insert(_ text: String, by connection: UInt64, at revision: Int = 20) {
    rig.say(
      connection,
      #"{"messageId":"own","type":"docChange","data":{"resourceId":"n1","rev":\#(revision),"#
        + #""n":[0\#(revision > 0 ? ",\(revision)" : "")],"s":["\#(text)"\#(revision > 0 ? ",\"\"" : "")]}}"#
    )
  }

  /// Makes the second connection's change wait.
  ///
  /// - Parameter isJoining: Whether the connection joins again before, and waits for the reply.
  private func wait(_ wait: Wait, isJoining: Bool = false) {
    switch wait {
    case .turn: for _ in 0..<2 { insert(Self.large, by: first) }
    case .history: insert("early", by: first, at: 2)
    }
    if isJoining { Self.join(rig, second) }
    switch wait {
    case .turn: insert(Self.large + "late", by: second)
    case .history: insert("late", by: second, at: 2)
    }
    #expect(!hasLate)
  }

  private var hasLate: Bool { lateCount > 0 }

  private var lateCount: Int {
    rig.store.document("n1")?.text.ranges(of: "late").count ?? 0
  }

  private func settle() {
    var continues = true
    while continues || !rig.isSettled {
      continues = rig.endTurn()
      rig.performStoreRequests()
    }
  }

  @Test(
    "a waiting change is made once after its connection", arguments: Wait.allCases, End.allCases)
  func ended(wait: Wait, end: End) {
    self.wait(wait, isJoining: end == .closedInItsTurn)
    switch end {
    case .closedByClient: rig.close(second)
    case .closedAsSlow:
      rig.queues.bytes[second] = 1 << 40
      rig.publish("r", in: "p")
      #expect(rig.closeCodes[second] != nil)
    // The reply with the text exceeds the queue limit.
    case .closedInItsTurn: rig.queues.bytes[second] = 1 << 40
    }
    settle()
    #expect((rig.closeCodes[second] != nil) == (end != .closedByClient))
    #expect(lateCount == 1)
  }

  @Test(
    "a waiting change is not made if its author has lost the right", arguments: Wait.allCases,
    Loss.allCases)
  func unentitled(wait: Wait, loss: Loss) {
    self.wait(wait)
    rig.close(second)
    switch loss {
    case .revoked: rig.revocations.add([.user("ben", before: 2)]) { #expect($0 == nil) }
    case .expired: rig.clock.advance(milliseconds: 60_000)
    case .moved:
      let move = rig.begin(
        "PATCH", "/api/notes/n1", headers: ["authorization": "Bearer api"], #"{"folder":"other"}"#)
      // The reply with the history arrives after the reply to the move.
      rig.deliver(rig.performWithoutReplying().reversed())
      #expect(rig.answer(move)?.status == 200)
    }
    settle()
    #expect(!hasLate)
  }

  @Test(
    "a server that shuts down makes waiting changes first, and answers open connections",
    arguments: Wait.allCases)
  func goingDown(wait: Wait) {
    self.wait(wait)
    rig.drainGateway()
    #expect(!rig.isSettled)
    settle()
    #expect(hasLate)
    let frames = rig.frames(second)
    #expect(frames.contains { $0.contains(#""messageId":"own""#) && $0.contains("late") })
    #expect(!frames.contains { $0.contains("resourceConnectionConf") && $0.contains("late") })
    // A change that arrives after this is not accepted.
    insert("after", by: second, at: 0)
    settle()
    #expect(!(rig.store.document("n1")?.text.contains("after") ?? true))
  }

  @Test("deleting a note discards its waiting changes")
  func deletion() {
    wait(.turn)
    rig.close(second)
    let deletion = rig.begin(
      "DELETE", "/api/notes/n1", headers: ["authorization": "Bearer api"])
    rig.performStoreRequests()
    settle()
    #expect(rig.answer(deletion)?.status == 204)
  }
}
