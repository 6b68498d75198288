import OTCore
import ParleyClientCore
import SocketMessages
import Testing

@Suite("A client that was disconnected for long")
struct AbsenceTests {
  /// A client with an edit in flight and one behind it, whose join says that much was missed.
  private func behind(last: Int = 0) -> Rig {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.edit(op("=4 +e")))
    _ = rig.reconnect()
    rig.behind(7, last: last)
    return rig
  }

  @Test("reads missed changes page by page, and then joins")
  func pages() {
    var rig = Rig()
    rig.join()
    #expect(rig.reconnect() == ["online", "> join n@e:3"])
    #expect(rig.behind(6) == ["> page n@e:3"])
    #expect(
      rig.page(4, [change("B", 1, "+x =3"), change("B", 2, "+y =4")], more: true) == [
        "apply +x =3", "apply +y =4", "> page n@e:5",
      ])
    #expect(rig.page(6, [change("B", 3, "+z =5")]) == ["apply +z =5", "> join n@e:6"])
    #expect(rig.resumed(revision: 6) == ["live 0"])
    #expect(rig.text == "zyxabc")
  }

  @Test("a change in flight that was not stored is sent as a new change, where it was typed")
  func fenced() {
    var rig = behind()
    rig.page(4, [change("B", 1, "=2 -1")])
    #expect(rig.text == "abde")
    #expect(rig.resumed(revision: 4) == ["> change 1@4 =2 +de", "live 1"])
  }

  @Test("a change in flight that was stored is received in a page, and not sent again")
  func stored() {
    var rig = behind(last: 1)
    rig.page(4, [change("A", 1, "=3 +d"), change("B", 1, "+x =4")])
    #expect(rig.text == "xabcde")
    #expect(rig.resumed(revision: 5, last: 1) == ["> change 2@5 =5 +e", "live 1"])
  }

  @Test("edits made while it reads wait until it has joined")
  func typing() {
    var rig = behind()
    #expect(rig.note(.edit(op("+! =5"))) == ["away 3"])
    rig.page(4, [change("B", 1, "=3 +x")])
    #expect(rig.resumed(revision: 4) == ["> change 1@4 +! =4 +de", "live 1"])
    #expect(rig.text == "!abcxde")
  }

  @Test(
    "if the history is gone, edits are rebased on the text, and their places are reported",
    arguments: [ErrorCode.historyGone, .epochChanged, .futureRevision])
  func historyGone(code: ErrorCode) {
    var rig = behind()
    #expect(rig.fail("page", code) == ["> join n@e:3"])
    guard case .join(let join)? = rig.sent.last?.message else {
      Issue.record("it did not join")
      return
    }
    #expect(!join.pages)
    #expect(join.unanswered == ChangeName(clientID: "A", sequence: 1))
    let words = rig.joined(text: "abc!", revision: 9)
    #expect(words.contains("rebased"))
    #expect(rig.moved == [4..<6])
    #expect(rig.text == "abc!de")
  }

  /// With one message a second a join before each page would let no page through.
  @Test(
    "a temporarily refused page is requested again after a delay",
    arguments: [ErrorCode.unavailable, .busy, .tooFast])
  func retried(code: ErrorCode) {
    var rig = behind()
    for _ in 0..<2 {
      rig.fail("page", code, after: 500)
      #expect(rig.pass(499).filter { $0.hasPrefix(">") } == [])
      #expect(rig.pass(1).filter { $0.hasPrefix(">") } == ["> page n@e:3"])
    }
    #expect(rig.page(4, [change("B", 1, "+x =3")]).last == "> join n@e:4")
  }

  @Test("it joins again after a loss while a page is deferred")
  func lostWhilePutOff() {
    var rig = behind()
    rig.fail("page", .tooFast, after: 500)
    #expect(rig.reconnect().last == "> join n@e:3")
    #expect(rig.pass(500).filter { $0.hasPrefix("> page") } == [])
  }

  @Test("if the history is gone, it requests the text again, also after that was deferred")
  func textPutOff() {
    var rig = behind()
    rig.fail("page", .historyGone)
    rig.fail("join", .tooFast, after: 500)
    #expect(rig.pass(500).filter { $0.hasPrefix(">") } == ["> join n@e:3"])
    guard case .join(let join)? = rig.sent.last?.message else {
      Issue.record("it did not join")
      return
    }
    #expect(!join.pages)
  }

  @Test("if the missed changes were lost meanwhile, it joins again")
  func lostMeanwhile() {
    var rig = behind()
    rig.page(4, [change("B", 1, "+x =3")], more: true)
    #expect(rig.page(5, []) == ["> join n@e:4"])
    #expect(rig.resumed(revision: 4) == ["> change 1@4 =4 +de", "live 1"])
    #expect(rig.text == "xabcde")
  }

  /// A server that says so again and again would keep the line busy for ever.
  @Test("after repeated empty pages it fails")
  func emptyPages() {
    var rig = behind()
    #expect(rig.page(4, []) == ["> join n@e:3"])
    #expect(rig.text == "abcde")
    for _ in 0..<4 {
      rig.behind(9)
      rig.page(4, [])
    }
    #expect(rig.text == "abcde")
    #expect(rig.behind(9) == [])
  }

  @Test("it joins again after a page that does not fit", arguments: [3, 5])
  func outOfStep(revision: Int) {
    var rig = behind()
    #expect(rig.page(revision, [change("B", 1, "+x =3")]).first == "out of step")
    #expect(rig.text == "abcde")
  }

  @Test("it resumes at its position after losing the connection")
  func lost() {
    var rig = behind()
    rig.page(4, [change("B", 1, "+x =3")], more: true)
    #expect(rig.reconnect().last == "> join n@e:4")
    #expect(rig.page(5, [change("B", 2, "+y =4")]) == [])
  }

  // MARK: Parts

  /// Edits in many places, made without a line, that exceed what one change may have.
  private func inParts(_ rig: inout Rig) {
    var limits = Limits()
    limits.operationComponentsMax = 3
    rig.join(limits: limits)
    rig.handle(.closed(code: 1006))
    for place in [0, 2, 4] { rig.note(.edit(op("=\(place) +x =\(3 + place / 2 - place)"))) }
    rig.pass(200)
    rig.handle(.reachable)
    rig.handle(.opened)
    rig.welcome(limits: limits)
  }

  @Test("a large edit is sent as several changes, each stored before it is sent")
  func parts() {
    var rig = Rig()
    inParts(&rig)
    #expect(rig.resumed(revision: 3).filter { $0 != "live 3" } == ["keep!", "> change 1@3 +x =3"])
    #expect(rig.acknowledge(1, 4).prefix(2) == ["keep!", "> change 2@4 =2 +x =2"])
    #expect(rig.acknowledge(2, 5).first == "> change 3@5 =4 +x =1")
    #expect(rig.acknowledge(3, 6) == ["forget", "live 0"])
    #expect(rig.text == "xaxbxc")
  }

  @Test("after a crash between two parts, the rest is sent, and nothing twice", arguments: 1...3)
  func deathBetweenParts(stored: Int) {
    var rig = Rig()
    inParts(&rig)
    rig.resumed(revision: 3)
    let parts = [op("+x =3"), op("=2 +x =2"), op("=4 +x =1")]
    for part in 1..<stored { rig.acknowledge(part, 3 + part) }
    // The last one was stored, and its acknowledgement lost with the process.
    var next = rig.restarted(knowing: rig.claim)
    next.connect()
    let missed = (1...stored).map {
      ServerMessage.Change(clientID: "A", sequence: $0, operation: parts[$0 - 1])
    }
    let known = Int(next.machine.revision(of: "n")?.revision ?? 0)
    next.resumed(Array(missed.dropFirst(known - 3)), revision: 3 + stored, last: stored)
    #expect(next.text == "xaxbxc")
    #expect(next.status?.unconfirmed == (stored == 3 ? 0 : 1))
  }
}
