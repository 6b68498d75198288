import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// The base of a client's changes must be the revision that the client has.
@Suite("Positions in the log")
struct ResumeTests {
  /// Returns a change that inserts a letter at the start of a text of `length` letters.
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

  private func acknowledged(_ message: ServerMessage?) -> ServerMessage.Acknowledged? {
    if case .acknowledged(let acknowledged)? = message { acknowledged } else { nil }
  }

  /// Returns the number of changes in the reply to a join; `nil` if the reply contains the text.
  private func changes(
    _ rig: GatewayRig, resume: ResumePoint?
  ) throws -> Int? {
    let (id, _) = try rig.connectNative(nil)
    let reply = rig.ask(id, .join(.init(documentID: "n1", resume: resume)))
    guard case .joined(let joined) = reply else { throw Unexpected(message: reply) }
    if case .changes(let changes) = joined.content { return changes.count }
    return nil
  }

  @Test("a client resumes at a revision only with the change that made it", arguments: 0...20)
  func resumePoints(revision: Int) throws {
    let count = 20
    /// Returns the number of changes in the reply, if the client names a change of the given
    /// author.
    func changes(knowing sequence: Int?, ofAnother: Bool = false) throws -> Int? {
      // A new gateway for each case: reading history for one client loads it for all.
      let rig = GatewayRig(isDemo: true) { $0.windowEntries = 4 }
      rig.make("n1")
      let (id, welcome) = try rig.connectNative(nil)
      rig.ask(id, .join(.init(documentID: "n1")))
      for sequence in 1...count {
        #expect(acknowledged(rig.ask(id, change(at: sequence - 1, sequence: sequence))) != nil)
      }
      // The window in memory begins at one of these revisions; earlier entries are in the store.
      let name = sequence.map {
        ChangeName(clientID: ofAnother ? "another" : welcome.clientID, sequence: $0, time: nil)
      }
      return try self.changes(
        rig, resume: .init(epoch: "epoch of n1", revision: revision, change: name))
    }
    #expect(try changes(knowing: revision == 0 ? nil : revision) == count - revision)
    guard revision > 0 else { return }
    // The client knows another change at this revision, so the reply contains the text.
    #expect(try changes(knowing: revision, ofAnother: true) == nil)
    #expect(try changes(knowing: revision + 1) == nil)
  }

  @Test("a client that received the text cannot send changes based on an earlier revision")
  func textSentUnasked() throws {
    let rig = GatewayRig(isDemo: true) {
      $0.windowEntries = 1
      $0.lagRevisionsMax = 2
    }
    rig.make("n1")
    let (slow, _) = try rig.connectNative(nil)
    let (quick, _) = try rig.connectNative(nil)
    for id in [slow, quick] { rig.ask(id, .join(.init(documentID: "n1"))) }
    _ = rig.pushes(slow)
    rig.queues.bytes[slow] = .max
    for revision in 0..<5 { rig.ask(quick, change(at: revision, sequence: revision + 1)) }
    #expect(rig.pushes(slow).allSatisfy { if case .changes = $0 { false } else { true } })
    rig.queues.bytes[slow] = nil
    rig.drain(slow)
    let resync = rig.pushes(slow).lazy.compactMap {
      if case .resync(let resync) = $0 { resync } else { nil }
    }.first
    #expect(resync?.revision == 5)
    // The entries since revision 4 are in memory. The server could rebase this change, but the
    // client could not apply the result.
    guard case .refused(let refused)? = rig.ask(slow, change(at: 4, sequence: 1)) else {
      Issue.record("a change from before the text was not refused")
      return
    }
    #expect(refused.code == .historyGone)
    #expect(acknowledged(rig.ask(slow, change(at: 5, sequence: 1)))?.revision == 6)
  }

  @Test("the author of a change with too old a base rebases and resends it")
  func tooMuchHistory() throws {
    let rig = GatewayRig(isDemo: true) { $0.historyComponentsMax = 4 }
    rig.make("n1")
    let (late, _) = try rig.connectNative(nil)
    let (quick, _) = try rig.connectNative(nil)
    for id in [late, quick] { rig.ask(id, .join(.init(documentID: "n1"))) }
    for revision in 0..<3 { rig.ask(quick, change(at: revision, sequence: revision + 1)) }
    guard case .refused(let refused)? = rig.ask(late, change(at: 0, sequence: 1)) else {
      Issue.record("a change over too much history was not refused")
      return
    }
    #expect(refused.code == .historyGone)
    #expect(try changes(rig, resume: .init(epoch: "epoch of n1", revision: 0)) == 3)
    #expect(acknowledged(rig.ask(late, change(at: 3, sequence: 1)))?.revision == 4)
  }

  @Test("changes with many and with few components move carets in the same way")
  func caretsOverManyComponents() throws {
    let rig = GatewayRig(isDemo: true)
    rig.make("n1")
    var people: [UInt64] = []
    for _ in 0..<4 {
      let (id, _) = try rig.connectNative(nil)
      rig.ask(id, .join(.init(documentID: "n1")))
      people.append(id)
    }
    var text = TextOperation()
    text.insert(String(repeating: "x", count: 100))
    func send(_ operation: TextOperation, at revision: Int) {
      let change = ClientMessage.Change(
        documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: revision + 1,
        operation: operation)
      #expect(acknowledged(rig.ask(people[0], .change(change)))?.revision == revision + 1)
    }
    send(text, at: 0)
    // The author's carets move behind the inserted text; the carets of others do not.
    var selections = people.indices.map { person in
      (0..<10).map { Selection(anchor: $0 * 10 + person, head: 100 - $0 * (person + 1)) }
    }
    for (person, id) in people.enumerated() {
      rig.ask(
        id, .select(.init(documentID: "n1", revision: 1, selections: selections[person])))
    }
    var scattered = TextOperation()
    for index in 0..<20 {
      scattered.retain(2)
      scattered.insert(index % 2 == 0 ? "ab" : "c")
      scattered.delete(index % 3)
      scattered.retain(3 - index % 3)
    }
    send(scattered, at: 1)
    for person in people.indices {
      selections[person] = selections[person].map {
        $0.transformed(over: scattered, own: person == 0)
      }
    }
    let (newcomer, _) = try rig.connectNative(nil)
    let reply = rig.ask(newcomer, .join(.init(documentID: "n1")))
    guard case .joined(let joined)? = reply else { throw Unexpected(message: reply) }
    let seen = joined.presence.map(\.selections).filter { !$0.isEmpty }
    #expect(seen.count == selections.count)
    for expected in selections { #expect(seen.contains(expected)) }
  }

  @Test("carets move over every change of a commit", arguments: [1, 2, 3])
  func carets(authors: Int) throws {
    let rig = GatewayRig(isDemo: true)
    rig.make("n1")
    var followers: [UInt64] = []
    for _ in 0...authors {
      let (id, _) = try rig.connectNative(nil)
      rig.ask(id, .join(.init(documentID: "n1")))
      followers.append(id)
    }
    for revision in 0..<3 { rig.ask(followers[0], change(at: revision, sequence: revision + 1)) }
    rig.ask(
      followers[0],
      .select(
        .init(documentID: "n1", revision: 3, selections: [Selection(anchor: 1, head: 3)])))
    // Changes of several authors in one turn share a commit.
    rig.isStepwise = true
    for author in followers.dropFirst() { rig.ask(author, change(at: 3, sequence: 1)) }
    _ = rig.endTurn()
    #expect(rig.stored.count == 1)
    rig.isStepwise = false
    rig.performStoreRequests()
    let (newcomer, _) = try rig.connectNative(nil)
    let reply = rig.ask(newcomer, .join(.init(documentID: "n1")))
    guard case .joined(let joined)? = reply else { throw Unexpected(message: reply) }
    #expect(
      joined.presence.flatMap(\.selections) == [Selection(anchor: 1 + authors, head: 3 + authors)])
  }
}
