import Gateway
import ParleyGatewayPorts
import OTCore
import ParleySimulationKit
import SocketMessages
import Testing

/// Commits of a note with many followers.
@Suite("A crowd is notified in rounds")
struct RoundPaceTests {
  private static let note = "n1"
  private let rig = GatewayRig(isDemo: true) { $0.followersPerMillisecond = 1 }
  private var lines: [UInt64] = []
  private var sequences: [UInt64: Int] = [:]

  /// Makes ten people follow a note, whose commits are ten milliseconds apart.
  init() throws {
    rig.make(Self.note)
    for _ in 0..<10 {
      let (line, _) = try rig.connectNative(nil)
      rig.ask(line, .join(.init(documentID: Self.note)))
      lines.append(line)
    }
    rig.pass(milliseconds: 1_000)
    rig.isStepwise = true
  }

  private mutating func write(_ person: Int) {
    let line = lines[person]
    let sequence = sequences[line, default: 0] + 1
    sequences[line] = sequence
    var operation = TextOperation()
    operation.insert("x")
    rig.ask(
      line,
      .change(
        .init(
          documentID: Self.note, epoch: "epoch of \(Self.note)", revision: 0, sequence: sequence,
          operation: operation)))
  }

  private var revision: Int { rig.store.log(of: DocumentID(Self.note))?.count ?? 0 }

  /// Ends turns until no further turn is wanted immediately. The store works after each turn.
  private func turns() -> Int? {
    while true {
      let rest = rig.restAfterTurn()
      if !rig.stored.isEmpty {
        rig.performStoreRequests()
      } else if rest != 0 {
        return rest
      }
    }
  }

  @Test("a change after a pause is delivered at once, and the next author's change waits")
  mutating func apart() {
    write(0)
    #expect(turns() == nil)
    #expect(revision == 1)
    rig.clock.advance(milliseconds: 3)
    for person in 1...3 { write(person) }
    #expect(turns() == 7)
    #expect(revision == 1)
    rig.clock.advance(milliseconds: 6)
    write(4)
    #expect(turns() == 1)
    rig.clock.advance(milliseconds: 1)
    #expect(turns() == nil)
    #expect(revision == 5)
    rig.clock.advance(milliseconds: 10)
    write(5)
    #expect(turns() == nil)
    #expect(revision == 6)
  }

  @Test("when all authors of the last round have written again, no change waits")
  mutating func answers() {
    for person in 0...2 { write(person) }
    #expect(turns() == nil)
    for round in 2...5 {
      for person in 0...1 { write(person) }
      #expect(turns() == 10)
      write(2)
      #expect(turns() == nil)
      #expect(revision == 3 * round)
    }
  }

  @Test("an author who pauses is expected for one round only")
  mutating func pausing() {
    for person in 0...2 { write(person) }
    #expect(turns() == nil)
    // The first of the three pauses: the others' changes wait for the round's end.
    for person in 1...2 { write(person) }
    #expect(turns() == 10)
    rig.clock.advance(milliseconds: 10)
    #expect(turns() == nil)
    #expect(revision == 5)
    for person in 1...2 { write(person) }
    #expect(turns() == nil)
    #expect(revision == 7)
  }

  @Test("rounds end when the followers leave")
  mutating func leaving() {
    write(0)
    #expect(turns() == nil)
    write(1)
    #expect(turns() == 10)
    for line in lines[2...] { rig.close(line) }
    rig.clock.advance(milliseconds: 2)
    #expect(turns() == nil)
    #expect(revision == 2)
  }

  @Test("a change over HTTP is answered at the end of its round")
  mutating func edits() {
    write(0)
    #expect(turns() == nil)
    let request = rig.begin(
      "POST", "/api/notes/n1/changes", headers: [:], #"{"revision":1,"operation":["y",1]}"#)
    #expect(turns() == 10)
    #expect(rig.answer(request) == nil)
    rig.clock.advance(milliseconds: 10)
    #expect(turns() == nil)
    #expect(rig.answer(request)?.status == 200)
  }
}
