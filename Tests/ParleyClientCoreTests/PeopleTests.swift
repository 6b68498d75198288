import OTCore
import ParleyClientCore
import SocketMessages
import Testing

@Suite("People and carets in a client's note")
struct PeopleTests {
  private func participant(
    _ id: String, _ selections: [Selection] = []
  ) -> ServerMessage.Participant {
    .init(clientID: id, name: "name of \(id)", color: nil, selections: selections)
  }

  private func joined(_ people: ServerMessage.Participant..., own edit: String? = nil) -> Rig {
    var rig = Rig()
    rig.join()
    if let edit { rig.note(.edit(op(edit))) }
    _ = rig.reconnect()
    var reply = Rig.joined(.changes([]), "e", 3, 0)
    reply.presence = people
    rig.receive(.joined(reply), to: "join")
    return rig
  }

  private func caret(_ rig: Rig, _ id: String) -> Int? {
    rig.machine.people(in: "n").first { $0.clientID == id }?.selections.first?.head
  }

  @Test("carets are placed after unconfirmed text before them")
  func placing() {
    let rig = joined(participant("B", [Selection(anchor: 2, head: 2)]), own: "+zz =3")
    #expect(caret(rig, "B") == 4)
  }

  @Test("carets move with changes, and an author's caret moves after inserted text")
  func moving() {
    var rig = joined(
      participant("B", [Selection(anchor: 2, head: 2)]),
      participant("C", [Selection(anchor: 2, head: 2)]))
    rig.changes(4, [change("B", 1, "=2 +xy =1")])
    #expect(caret(rig, "B") == 4)
    #expect(caret(rig, "C") == 2)
    rig.note(.edit(op("+q =5")))
    #expect(caret(rig, "B") == 5)
  }

  @Test("positions beyond the text are limited to its end", arguments: [3, 4, 1 << 40, -1])
  func beyond(position: Int) {
    var rig = joined(participant("B"))
    rig.receive(
      .selections(
        .init(
          documentID: "n", revision: 3, clientID: "B",
          selections: [Selection(anchor: position, head: position)])))
    #expect(caret(rig, "B") == min(max(position, 0), 3))
  }

  @Test("carets on another revision are ignored")
  func otherRevision() {
    var rig = joined(participant("B", [Selection(anchor: 1, head: 1)]))
    rig.receive(
      .selections(
        .init(
          documentID: "n", revision: 9, clientID: "B",
          selections: [Selection(anchor: 0, head: 0)])))
    #expect(caret(rig, "B") == 1)
  }

  @Test("people join, change and leave; this client is not listed")
  func presence() {
    var rig = joined(participant("B", [Selection(anchor: 1, head: 1)]))
    rig.receive(
      .presence(
        .init(
          documentID: "n", joined: [participant("C"), participant("A")],
          updated: [participant("B")], left: [], people: 312)))
    #expect(rig.machine.people(in: "n").map(\.clientID) == ["B", "C"])
    #expect(rig.machine.peopleCount(in: "n") == 312)
    #expect(caret(rig, "B") == 1)
    // A person who joins again has no carets from before.
    rig.receive(
      .presence(
        .init(
          documentID: "n", joined: [participant("B")], updated: [], left: ["C", "X", "A"])))
    #expect(rig.machine.people(in: "n").map(\.clientID) == ["B"])
    #expect(rig.machine.peopleCount(in: "n") == nil)
    #expect(caret(rig, "B") == nil)
  }

  @Test("an edit shows its author as writing for a while")
  func writing() {
    var rig = joined(participant("B"))
    rig.changes(4, [change("B", 1, "=3 +x")])
    #expect(rig.machine.people(in: "n").first?.isWriting == true)
    rig.pass(2_000)
    rig.changes(5, [change("B", 2, "=4 +x")])
    rig.pass(2_999)
    #expect(rig.machine.people(in: "n").first?.isWriting == true)
    rig.pass(1)
    #expect(rig.machine.people(in: "n").first?.isWriting == false)
  }

  @Test("without a connection no people are listed")
  func lost() {
    var rig = joined(participant("B"))
    rig.handle(.closed(code: 1006))
    #expect(rig.machine.people(in: "n") == [])
  }

  // MARK: This person's carets

  @Test("carets are sent at most every 80 ms, and only without unconfirmed edits")
  func pacing() {
    var rig = Rig()
    rig.join()
    #expect(rig.pass(100) == [])
    #expect(rig.note(.select([Selection(anchor: 1, head: 1)])) == [])
    rig.note(.select([Selection(anchor: 2, head: 2)]))
    #expect(rig.pass(79) == [])
    #expect(rig.pass(1) == ["> select@3 2-2"])
    rig.note(.edit(op("=2 +x =1")))
    #expect(rig.pass(100) == [])
    rig.acknowledge(1, 4)
    // Its author's edit has moved it.
    #expect(rig.pass(80).contains("> select@4 3-3"))
    #expect(rig.note(.select([Selection(anchor: 3, head: 3)])) == [])
    #expect(rig.pass(1_000) == [])
  }

  @Test("a rate-limited caret is sent again after its delay")
  func tooFast() {
    var rig = Rig()
    rig.join()
    rig.note(.select([Selection(anchor: 1, head: 1)]))
    rig.pass(80)
    rig.fail("select", .tooFast, after: 500)
    #expect(rig.pass(499) == [])
    #expect(rig.pass(1) == ["> select@3 1-1"])
  }

  @Test("carets are sent again after resuming")
  func again() {
    var rig = Rig()
    rig.join()
    rig.note(.select([Selection(anchor: 1, head: 2)]))
    rig.pass(80)
    _ = rig.reconnect()
    rig.resumed([change("B", 1, "+x =3")], revision: 4)
    #expect(rig.pass(80).contains("> select@4 2-3"))
  }
}
