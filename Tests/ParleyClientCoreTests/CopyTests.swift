import OTCore
import ParleyClientCore
import SocketMessages
import Testing

/// A note that is opened without a line from a copy of the server's text.
@Suite("A copy of a note")
struct CopyTests {
  /// A client that had the note at revision 3, and one that opens it from a copy of then.
  private func copied(knowing claim: ClientClaim? = nil) throws -> Rig {
    var former = Rig()
    former.join()
    former.note(.edit(op("=3 +!")))
    let copy = try #require(former.machine.copy(of: "n"))
    var rig = Rig(claim: claim)
    rig.note(.open(try KeptNote(edits: copy.encodedEdits(), text: copy.encodedText())))
    return rig
  }

  private func lastJoin(_ rig: Rig) -> ClientMessage.Join? {
    if case .join(let join)? = rig.sent.last?.message { join } else { nil }
  }

  @Test("exists after the note was joined, and contains no edits")
  func content() throws {
    var rig = Rig()
    #expect(rig.machine.copy(of: "n") == nil)
    rig.join()
    rig.note(.edit(op("=3 +!")))
    let copy = try #require(rig.machine.copy(of: "n"))
    #expect(copy.editCount == 0)
    #expect(copy.local.text == "abc")
    #expect(rig.text == "abc!")
  }

  @Test("can be read and written, and resumes at its revision")
  func resumed() throws {
    var rig = try copied()
    #expect(rig.text == "abc")
    rig.note(.edit(op("=3 +d")))
    rig.connect(as: "B")
    #expect(lastJoin(rig)?.resume?.revision == 3)
    // Nothing was ever sent without a client id.
    #expect(lastJoin(rig)?.unanswered == nil)
    let words = rig.resumed([change("C", 1, "+x =3")], revision: 4)
    #expect(rig.text == "xabcd")
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@4 =4 +d"])
  }

  @Test("does not confuse later changes of its own client with the current edits")
  func own() throws {
    var rig = try copied(knowing: ClientClaim(id: "A", resumeToken: "of A"))
    rig.note(.edit(op("=3 +d")))
    rig.connect(as: "A")
    let words = rig.resumed([change("A", 1, "=3 +!")], revision: 4, last: 1)
    #expect(rig.text == "abc!d")
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 2@4 =4 +d"])
  }

  @Test("does not confuse them either if only the text is received")
  func ownInText() throws {
    var rig = try copied(knowing: ClientClaim(id: "A", resumeToken: "of A"))
    rig.note(.edit(op("=3 +d")))
    rig.connect(as: "A")
    let words = rig.joined(text: "abc!", revision: 900, last: 5)
    #expect(rig.text == "abc!d" || rig.text == "abcd!")
    #expect(words.filter { $0.hasPrefix("> change 6@900") }.count == 1)
  }

  @Test("edits on it are stored, and stored again with the client's id before they are sent")
  func kept() throws {
    var rig = try copied()
    rig.note(.edit(op("=3 +d")))
    rig.pass(2_000)
    #expect(rig.disk?.clientID == "")
    var next = rig.restarted(knowing: nil)
    #expect(next.text == "abcd")
    next.connect(as: "B")
    let words = next.resumed(revision: 3)
    #expect(words.first { $0.hasPrefix("keep") || $0.hasPrefix(">") } == "keep!")
    #expect(next.disk?.clientID == "B")
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@3 =3 +d"])
  }
}
