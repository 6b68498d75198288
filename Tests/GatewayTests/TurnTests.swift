import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

@Suite("Turns of the loop")
struct TurnTests {
  private let rig = GatewayRig(isDemo: true)
  /// Connections that follow the note, in the order in which they joined, and their clients' ids.
  private var followers: [(connection: UInt64, client: String)] = []

  init() throws {
    rig.make("n1")
    for _ in 0..<4 {
      let (connection, welcome) = try rig.connectNative(nil)
      rig.ask(connection, .join(.init(documentID: "n1")))
      followers.append((connection, welcome.clientID))
    }
    for follower in followers { _ = rig.pushes(follower.connection) }
    rig.isStepwise = true
    rig.recipients = []
  }

  /// Makes a follower insert a letter at the start of a note of `revision` letters.
  private func type(
    _ follower: Int, sequence: Int = 1, at revision: Int = 0, in document: String = "n1"
  ) {
    var operation = TextOperation()
    operation.insert("x")
    operation.retain(revision)
    rig.ask(
      followers[follower].connection,
      .change(
        .init(
          documentID: document, epoch: "epoch of \(document)", revision: revision,
          sequence: sequence,
          operation: operation)))
  }

  /// The number of entries of each append that the store has not performed yet.
  private var appends: [Int] {
    rig.stored.compactMap {
      if case .append(_, _, let entries, _) = $0.request { entries.count } else { nil }
    }
  }

  private func changes(_ follower: Int) -> [Int] {
    rig.pushes(followers[follower].connection).compactMap {
      if case .changes(let changes) = $0 { changes.changes.count } else { nil }
    }
  }

  @Test("the changes of a turn are one commit, and delivered in one frame")
  func oneCommit() {
    for author in 0..<3 { type(author) }
    #expect(appends == [])
    #expect(!rig.endTurn())
    #expect(appends == [3])
    rig.performStoreRequests()
    #expect(changes(3) == [3])
    #expect(rig.store.log(of: "n1")?.map(\.client) == followers.prefix(3).map(\.client))
  }

  @Test("deliveries of a turn are written before more is committed")
  func deliveriesFirst() {
    type(0)
    _ = rig.endTurn()
    type(1)
    rig.performStoreRequests()
    type(2)
    // The turn that delivers sends its frames; the rest is committed by the next turn.
    #expect(rig.endTurn())
    #expect(appends == [])
    #expect(!rig.endTurn())
    #expect(appends == [2])
    rig.performStoreRequests()
    #expect(changes(3) == [1, 2])
  }

  @Test("a turn without changes requests neither a commit nor another turn")
  func nothing() {
    #expect(!rig.endTurn())
    type(0)
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(!rig.endTurn())
    #expect(appends == [])
  }

  @Test("authors are notified first, regardless of the order of joins")
  func authorsFirst() {
    type(3)
    type(2)
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(rig.recipients == [3, 2, 0, 1].map { followers[$0].connection })
  }

  @Test("delivering a note does not delay other notes")
  func otherNotes() {
    rig.isStepwise = false
    rig.make("n2")
    rig.ask(followers[3].connection, .join(.init(documentID: "n2")))
    rig.isStepwise = true
    type(0)
    _ = rig.endTurn()
    rig.performStoreRequests()
    type(3, in: "n2")
    #expect(!rig.endTurn())
    #expect(appends == [1])
  }

  @Test("a change that waits for the end of the turn is refused if the commit before fails")
  func failure() {
    type(0)
    _ = rig.endTurn()
    type(1)
    rig.store.commitsToFail = 1
    rig.performStoreRequests()
    for author in [0, 1] {
      let refusals = rig.pushes(followers[author].connection).filter {
        if case .refused(let refusal) = $0 { refusal.code == .unavailable } else { false }
      }
      #expect(refusals.count == 1)
    }
    #expect(!rig.endTurn())
    #expect(appends == [])
    type(0)
    _ = rig.endTurn()
    rig.performStoreRequests()
    #expect(changes(3) == [1])
  }

  @Test("a change to a note deleted in the same turn does not affect later clients")
  func deletion() {
    type(0)
    _ = rig.request("DELETE", "/api/notes/n1")
    _ = rig.endTurn()
    rig.performStoreRequests(on: rig.stored.count - appends.count)
    // The id is joined again before the store has reported the outcome of the change.
    rig.ask(followers[1].connection, .join(.init(documentID: "n1")))
    rig.performStoreRequests()
    #expect(rig.unreadiness == nil)
    #expect(rig.store.log(of: "n1") == nil)
  }

  @Test("a client that waits for a note is notified that the note is deleted")
  func joinOfADeletedNote() throws {
    rig.isStepwise = false
    rig.make("n2")
    let whaler = rig.connectWhaler(pool: nil, token: nil)
    rig.isStepwise = true
    _ = rig.request("DELETE", "/api/notes/n2")
    let deletion = rig.stored.count
    rig.ask(followers[0].connection, .join(.init(documentID: "n2")))
    rig.say(
      whaler,
      #"{"messageId":"w","type":"resourceConnection","data":{"resourceId":"n2"}}"#)
    rig.performStoreRequests(on: deletion)
    guard case .error(let error) = rig.pushes(followers[0].connection).last else {
      Issue.record("no answer")
      return
    }
    #expect(error.code == .unknownDocument)
    #expect(rig.closeCodes[whaler] == CloseReason.rejoin.rawValue)
    // The read that was under way finds no waiting client.
    rig.performStoreRequests()
    rig.isStepwise = false
    #expect(
      rig.ask(followers[0].connection, .join(.init(documentID: "n2")))
        .map { if case .error = $0 { true } else { false } } == true)
  }
}
