import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// The reply to a join about a change that was sent under another client id.
@Suite("The outcome of a change sent under a former client id")
struct SettlingTests {
  private let rig = GatewayRig(isDemo: true)

  init() { rig.make("n1") }

  private func change(
    at revision: Int, sequence: Int, length: Int? = nil
  ) -> ClientMessage {
    var operation = TextOperation()
    operation.insert("x")
    operation.retain(length ?? revision)
    return .change(
      .init(
        documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
        operation: operation))
  }

  private func join(
    _ id: UInt64, asking unanswered: ChangeName? = nil, on rig: GatewayRig? = nil
  ) -> ServerMessage.Joined? {
    let reply = (rig ?? self.rig).ask(id, .join(.init(documentID: "n1", unanswered: unanswered)))
    if case .joined(let joined)? = reply { return joined }
    return nil
  }

  private func code(_ reply: ServerMessage?) -> ErrorCode? {
    switch reply {
    case .refused(let refused)?: refused.code
    case .error(let error)?: error.code
    default: nil
    }
  }

  /// Returns a client that has joined.
  private func client() throws -> (line: UInt64, id: String) {
    let (line, welcome) = try rig.connectNative(nil)
    #expect(join(line) != nil)
    return (line, welcome.clientID)
  }

  @Test("the reply contains the log's change of the former id, only on request")
  func mark() throws {
    let former = try client()
    rig.ask(former.line, change(at: 0, sequence: 1))
    rig.close(former.line)
    let (line, _) = try rig.connectNative(nil)
    for sequence in 1...2 {
      let joined = join(line, asking: ChangeName(clientID: former.id, sequence: sequence))
      #expect(joined?.settled == ChangeName(clientID: former.id, sequence: 1))
      #expect(joined?.lastSequence == 0)
    }
    #expect(
      join(line, asking: ChangeName(clientID: "nobody", sequence: 1))?.settled
        == ChangeName(clientID: "nobody", sequence: 0))
    #expect(join(line)?.settled == nil)
  }

  @Test(
    "the outcome of an uncertain commit is not reported until it is certain",
    arguments: [false, true])
  func undecided(restarts: Bool) throws {
    let former = try client()
    let (line, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    rig.ask(former.line, change(at: 0, sequence: 1))
    _ = rig.endTurn()
    rig.store.syncsToFail = 2
    rig.performStoreRequests()
    // The first attempt to wipe the change fails as well.
    rig.performStoreRequests()
    #expect(rig.stored.isEmpty)
    #expect(rig.unreadiness != nil)
    #expect(rig.pushes(former.line).isEmpty)
    rig.close(former.line)
    let asked = ChangeName(clientID: former.id, sequence: 1)
    #expect(join(line, asking: asked) == nil)
    if restarts {
      rig.store.restart(findsUnsynced: true)
      let other = GatewayRig(isDemo: true, store: rig.store, prefix: "r")
      #expect(join(try other.connectNative(nil).0, asking: asked, on: other)?.settled == asked)
      return
    }
    rig.pass(milliseconds: 1_000)
    rig.performStoreRequests()
    let joined = rig.pushes(line).compactMap {
      if case .joined(let joined) = $0 { joined } else { nil }
    }
    #expect(joined.map(\.settled) == [ChangeName(clientID: former.id, sequence: 0)])
    #expect(rig.store.restart(findsUnsynced: true) == false)
    #expect(rig.store.log(of: "n1")?.isEmpty == true)
  }

  @Test("the author of an uncertain commit is refused when it cannot appear, and continues")
  func undecidedAuthor() throws {
    let author = try client()
    rig.isStepwise = true
    rig.ask(author.line, change(at: 0, sequence: 1))
    _ = rig.endTurn()
    rig.store.syncsToFail = 1
    rig.performStoreRequests()
    #expect(rig.pushes(author.line).isEmpty)
    rig.performStoreRequests()
    let refused = rig.pushes(author.line)
    #expect(refused.map { code($0) } == [.unavailable])
    rig.ask(author.line, change(at: 0, sequence: 1))
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(rig.store.log(of: "n1")?.count == 1)
    #expect(rig.unreadiness == nil)
  }

  @Test("the reply waits for pending commits of the former id", arguments: [false, true])
  func pending(fails: Bool) throws {
    let former = try client()
    let (line, _) = try rig.connectNative(nil)
    rig.isStepwise = true
    #expect(rig.ask(former.line, change(at: 0, sequence: 1)) == nil)
    _ = rig.endTurn()
    rig.close(former.line)
    #expect(join(line, asking: ChangeName(clientID: former.id, sequence: 1)) == nil)
    if fails { rig.store.commitsToFail = 1 }
    rig.performStoreRequests()
    let joined = rig.pushes(line).compactMap {
      if case .joined(let joined) = $0 { joined } else { nil }
    }
    #expect(joined.map(\.settled) == [ChangeName(clientID: former.id, sequence: fails ? 0 : 1)])
    #expect(joined.map(\.revision) == [fails ? 0 : 1])
  }

  @Test("a late copy under the former id is refused until its connection rejoins")
  func fence() throws {
    let former = try client()
    let (line, _) = try rig.connectNative(nil)
    let asked = ChangeName(clientID: former.id, sequence: 1)
    #expect(join(line, asking: asked)?.settled?.sequence == 0)
    #expect(code(rig.ask(former.line, change(at: 0, sequence: 1))) == .historyGone)
    #expect(rig.store.log(of: "n1")?.isEmpty == true)
    #expect(join(former.line) != nil)
    guard case .acknowledged? = rig.ask(former.line, change(at: 0, sequence: 1)) else {
      Issue.record("a client that has joined again cannot change")
      return
    }
  }

  @Test("a change that is in the log fences no other changes")
  func noFence() throws {
    let former = try client()
    rig.ask(former.line, change(at: 0, sequence: 1))
    let (line, _) = try rig.connectNative(nil)
    #expect(join(line, asking: ChangeName(clientID: former.id, sequence: 1)) != nil)
    guard case .acknowledged? = rig.ask(former.line, change(at: 1, sequence: 2)) else {
      Issue.record("a client was fenced whose change is stored")
      return
    }
  }

  @Test("naming another user's client has no effect on it, and gets no outcome")
  func anotherUser() throws {
    let rig = GatewayRig()
    rig.make("n1")
    let all = [Grant(.documents, NamePattern("*"), .all)]
    let (ann, welcome) = try rig.connectNative(rig.token("ann", all))
    #expect(join(ann, on: rig) != nil)
    let (ben, _) = try rig.connectNative(rig.token("ben", all))
    let asked = ChangeName(clientID: welcome.clientID, sequence: 1)
    #expect(join(ben, asking: asked, on: rig)?.settled == nil)
    guard case .acknowledged? = rig.ask(ann, change(at: 0, sequence: 1)) else {
      Issue.record("another user's client was fenced")
      return
    }
    rig.close(ann)
    #expect(join(ben, asking: asked, on: rig)?.settled?.sequence == 1)
  }

  @Test("a client that must read pages gets the outcome, too")
  func behind() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.windowEntries = 1
      $0.lagRevisionsMax = 2
    }
    rig.make("n1")
    let (former, welcome) = try rig.connectNative(nil)
    #expect(join(former, on: rig) != nil)
    for revision in 0..<6 { rig.ask(former, change(at: revision, sequence: revision + 1)) }
    let (line, _) = try rig.connectNative(nil)
    let reply = rig.ask(
      line,
      .join(
        .init(
          documentID: "n1", resume: .init(epoch: "epoch of n1", revision: 1),
          unanswered: ChangeName(clientID: welcome.clientID, sequence: 7), pages: true)))
    guard case .behind(let behind)? = reply else { throw Unexpected(message: reply) }
    #expect(behind.settled == ChangeName(clientID: welcome.clientID, sequence: 6))
    #expect(code(rig.ask(former, change(at: 6, sequence: 7))) == .historyGone)
  }
}
