import GatewayPorts
import OTCore
import SimulationKit
import SocketMessages
import Testing

@Suite("Turns of the loop")
struct TurnTests {
  private let rig = GatewayRig(isDemo: true)
  /// Connections that follow the note, in the order in which they came, and their clients' ids.
  private var followers: [(connection: UInt64, client: String)] = []

  init() throws {
    rig.make("n1")
    for _ in 0..<4 {
      let (connection, welcome) = try rig.greet(nil)
      rig.ask(connection, .join(.init(documentID: "n1")))
      followers.append((connection, welcome.clientID))
    }
    for follower in followers { _ = rig.pushes(follower.connection) }
    rig.isStepwise = true
    rig.recipients = []
  }

  /// Has a follower insert a letter at the start of the empty note.
  private func type(_ follower: Int, sequence: Int = 1, at revision: Int = 0) {
    var operation = TextOperation()
    operation.insert("x")
    operation.retain(revision)
    rig.ask(
      followers[follower].connection,
      .change(
        .init(
          documentID: "n1", epoch: "epoch of n1", revision: revision, sequence: sequence,
          operation: operation)))
  }

  /// Of how many entries each append consists that the store has not done yet.
  private var appends: [Int] {
    rig.stored.compactMap {
      if case .append(_, _, let entries) = $0.request { entries.count } else { nil }
    }
  }

  private func changes(_ follower: Int) -> [Int] {
    rig.pushes(followers[follower].connection).compactMap {
      if case .changes(let changes) = $0 { changes.changes.count } else { nil }
    }
  }

  @Test("all that a turn brings goes in one commit, and out in one frame")
  func oneCommit() {
    for author in 0..<3 { type(author) }
    #expect(appends == [])
    #expect(!rig.endTurn())
    #expect(appends == [3])
    rig.storeWorks()
    #expect(changes(3) == [3])
    #expect(rig.store.log(of: "n1")?.map(\.client) == followers.prefix(3).map(\.client))
  }

  @Test("what was delivered in a turn is written before more is committed")
  func deliveriesFirst() {
    type(0)
    _ = rig.endTurn()
    type(1)
    rig.storeWorks()
    type(2)
    // The turn that delivers: its frames go out at its end, and the rest goes with the next.
    #expect(rig.endTurn())
    #expect(appends == [])
    #expect(!rig.endTurn())
    #expect(appends == [2])
    rig.storeWorks()
    #expect(changes(3) == [1, 2])
  }

  @Test("a turn without changes wants nothing of the store, and no other turn")
  func nothing() {
    #expect(!rig.endTurn())
    type(0)
    _ = rig.endTurn()
    rig.storeWorks()
    #expect(!rig.endTurn())
    #expect(appends == [])
  }

  @Test("authors are told first, whenever they came")
  func authorsFirst() {
    type(3)
    type(2)
    _ = rig.endTurn()
    rig.storeWorks()
    #expect(rig.recipients == [3, 2, 0, 1].map { followers[$0].connection })
  }
}
