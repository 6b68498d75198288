import OTCore
import ParleyClientCore
import SocketMessages
import Testing

/// The fate of a change without an answer when the server no longer knows who sent it.
@Suite("A change that was sent under a former client id")
struct SettlingTests {
  /// A client with an edit in flight and one behind it, that is another one by now and has to join.
  private func renamed() throws -> (rig: Rig, join: ClientMessage.Join) {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.edit(op("=4 +e")))
    _ = rig.reconnect(as: "B")
    return (rig, try #require(lastJoin(rig)))
  }

  private func lastJoin(_ rig: Rig) -> ClientMessage.Join? {
    if case .join(let join)? = rig.sent.last?.message { join } else { nil }
  }

  private func name(_ client: String, _ sequence: Int) -> ChangeName {
    ChangeName(clientID: client, sequence: sequence)
  }

  @Test("is named in the join with the former id")
  func named() throws {
    let (_, join) = try renamed()
    #expect(join.unanswered == name("A", 1))
  }

  @Test("is not sent again if the received text contains it")
  func stored() throws {
    var (rig, _) = try renamed()
    let words = rig.joined(text: "xabcd", revision: 9, settled: name("A", 1))
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@9 =5 +e"])
    #expect(rig.text == "xabcde")
  }

  @Test("is sent as a new change if the log lacks it")
  func lost() throws {
    var (rig, _) = try renamed()
    let words = rig.joined(text: "xabc", revision: 9, settled: name("A", 0))
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@9 =4 +de"])
    #expect(rig.text == "xabcde")
  }

  @Test("is rebased if the server does not report its outcome")
  func unsettled() throws {
    for settled in [nil, name("C", 7)] {
      var (rig, _) = try renamed()
      let words = rig.joined(text: "abc", revision: 9, settled: settled)
      #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@9 =3 +de"])
    }
  }

  @Test("is not named if the id is the same, because the last sequence states its outcome")
  func sameID() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    _ = rig.reconnect()
    rig.joined(text: "abcd", revision: 9, last: 1, settled: name("A", 0))
    #expect(rig.text == "abcd")
    #expect(rig.status?.unconfirmed == 0)
  }

  @Test("is not sent again if it is among the received changes")
  func changes() throws {
    var (rig, _) = try renamed()
    rig.resumed([change("A", 1, "=3 +d"), change("C", 1, "+x =4")], revision: 5)
    #expect(rig.text == "xabcde")
    #expect(rig.sent.last.map { "\($0.message)" }?.contains("change") == true)
  }

  @Test("is not named again if the pages contain it")
  func pages() throws {
    var (rig, _) = try renamed()
    rig.behind(5)
    #expect(
      rig.page(4, [change("A", 1, "=3 +d"), change("C", 1, "+x =4")]).contains("> join n@e:5"))
    #expect(lastJoin(rig)?.unanswered == nil)
    rig.joined(text: "xabcd!", revision: 9, settled: nil)
    #expect(rig.text == "xabcd!e")
  }

  @Test("may have been sent by a process that crashed after its last store")
  func unkept() throws {
    var rig = Rig()
    rig.join()
    rig.handle(.closed(code: 1006))
    rig.note(.edit(op("=3 +d")))
    rig.pass(200)
    var next = rig.restarted(knowing: nil)
    next.note(.edit(op("=4 +e")))
    next.connect(as: "B")
    #expect(lastJoin(next)?.unanswered == name("A", 1))
    // The server has stored the kept edits; only the text typed since then is sent.
    let words = next.joined(text: "abcd", revision: 9, settled: name("A", 1))
    #expect(words.filter { $0.hasPrefix(">") } == ["> change 1@9 =4 +e"])
    #expect(next.text == "abcde")
  }

  @Test("a new client without unconfirmed edits names no change")
  func nothing() throws {
    var rig = Rig()
    rig.join()
    _ = rig.reconnect(as: "B")
    #expect(try #require(lastJoin(rig)).unanswered == nil)
  }
}
