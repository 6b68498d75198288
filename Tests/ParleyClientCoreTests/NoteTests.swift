import OTCore
import ParleyClientCore
import SocketMessages
import Testing

@Suite("A client's note")
struct NoteTests {
  @Test("joins when the client is connected, and shows its text")
  func join() {
    var rig = Rig()
    #expect(rig.note(.open(nil)) == ["joining 0"])
    rig.handle(.start)
    rig.handle(.opened)
    #expect(rig.welcome() == ["claim A", "online", "> join n"])
    #expect(rig.joined(text: "abc") == ["reset abc", "title Title", "live 0"])
  }

  @Test("one change is in flight, and further edits wait as one")
  func editing() {
    var rig = Rig()
    rig.join()
    #expect(rig.note(.edit(op("=3 +d"))) == ["> change 1@3 =3 +d", "live 1"])
    #expect(rig.note(.edit(op("=4 +e"))) == ["live 2"])
    #expect(rig.note(.edit(op("=5 +f"))) == ["live 3"])
    #expect(rig.acknowledge(1, 4) == ["> change 2@4 =4 +ef", "live 1"])
    #expect(rig.acknowledge(2, 5) == ["live 0"])
    #expect(rig.text == "abcdef")
  }

  @Test("changes of others precede unconfirmed edits, and are shown at once")
  func remote() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.changes(4, [change("B", 1, "=3 +x")]) == ["apply =3 +x =1"])
    #expect(rig.text == "abcxd")
    #expect(rig.acknowledge(1, 5) == ["live 0"])
  }

  @Test("the change in flight may be acknowledged within others' changes")
  func ownInRange() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    let words = rig.changes(4, [change("B", 1, "+x =3"), change("A", 1, "=4 +d")])
    #expect(words == ["apply +x =4", "live 0"])
    #expect(rig.text == "xabcd")
  }

  @Test("changes that were received before are ignored")
  func repeated() {
    var rig = Rig()
    rig.join()
    rig.changes(4, [change("B", 1, "=3 +x")])
    #expect(rig.changes(4, [change("B", 1, "=3 +x"), change("B", 2, "=4 +y")]) == ["apply =4 +y"])
  }

  @Test("an invalid edit resets the editor to the text", arguments: ["=9 +x", "-4", "+x"])
  func misfit(notation: String) {
    var rig = Rig()
    rig.join()
    #expect(rig.note(.edit(op(notation))) == ["misfit", "reset abc"])
    #expect(rig.status?.unconfirmed == 0)
  }

  @Test("an edit before the text is ignored")
  func early() {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    #expect(rig.note(.edit(op("+x"))) == ["misfit"])
  }

  // MARK: Resuming

  @Test("after a loss the change in flight is resent unchanged, and later edits after it")
  func resend() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.changes(4, [change("B", 1, "+x =3")])
    rig.note(.edit(op("=5 +e")))
    #expect(rig.reconnect() == ["online", "> join n@e:4"])
    #expect(
      rig.resumed([change("C", 1, "=4 +y")], revision: 5) == [
        "apply =4 +y =2", "> change 1@3 =3 +d", "live 2",
      ])
    #expect(rig.acknowledge(1, 6) == ["> change 2@6 =6 +e", "live 1"])
  }

  @Test("a change stored before the loss is not sent again")
  func storedMeanwhile() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    _ = rig.reconnect()
    #expect(rig.resumed([change("A", 1, "=3 +d")], revision: 4, last: 1) == ["live 0"])
    #expect(rig.text == "abcd")
  }

  @Test("changes received before the answer to a join are ignored")
  func beforeTheAnswer() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    _ = rig.reconnect()
    #expect(rig.changes(4, [change("B", 1, "+x =3")]) == [])
    #expect(rig.acknowledge(1, 4) == [])
    #expect(rig.refuse(1, .tooLarge) == [])
    #expect(rig.resync("zzz", revision: 9) == [])
    #expect(rig.text == "abcd")
  }

  @Test("one join is pending at a time, and other answers are ignored")
  func oneJoin() {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    #expect(rig.note(.reopen) == [])
    #expect(rig.sent.count { if case .join = $0.message { true } else { false } } == 1)
    rig.joined(text: "abc")
    #expect(rig.joined(text: "zzz") == [])
    #expect(rig.text == "abc")
  }

  @Test("a temporarily refused join is retried")
  func joinAgain() {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    rig.fail("join", .busy, after: 700)
    #expect(rig.pass(699) == [])
    #expect(rig.pass(1) == ["> join n", "joining 0"])
  }

  @Test(
    "a permanently refused join is reported",
    arguments: [ErrorCode.notAllowed, .tooMany, .damaged, .unknownDocument])
  func joinRefused(code: ErrorCode) {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    let phase: NoteStatus.Phase = code == .unknownDocument ? .deleted : .failed(.refused(code))
    rig.fail("join", code)
    #expect(rig.status?.phase == phase)
    #expect(rig.note(.reopen) == ["> join n", "joining 0"])
  }

  @Test("if only the text is received, edits are rebased on it and the user is notified")
  func rebase() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    _ = rig.reconnect()
    let words = rig.joined(text: "xabc", epoch: "f", revision: 90)
    #expect(words == ["apply +x =4", "> change 1@90 =4 +d", "rebased", "live 1"])
    #expect(rig.text == "xabcd")
  }

  @Test("an edit that the text contains is not sent again")
  func rebaseStored() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    _ = rig.reconnect()
    #expect(rig.joined(text: "xabcd", revision: 90, last: 1) == ["apply +x =4", "live 0"])
  }

  @Test("a text on an open connection supersedes the change in flight")
  func overtaken() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.resync("xabc", revision: 90) == ["apply +x =4", "rebased"])
    #expect(rig.note(.sendAgain) == [])
    // The history before the change is gone: joining again turns it into a change of the new text.
    #expect(rig.refuse(1, .historyGone) == ["> join n@e:90", "away 1"])
    #expect(rig.resumed(revision: 90) == ["> change 1@90 =4 +d", "live 1"])
  }

  @Test("a superseded change waits only if it was rate-limited")
  func overtakenTooFast() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.resync("xabc", revision: 90)
    #expect(rig.refuse(1, .tooFast, after: 100) == ["live 1"])
    #expect(rig.pass(100).contains("> join n@e:90"))
  }

  @Test("a deferred change that is superseded causes a rejoin after its delay")
  func overtakenWhilePutOff() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.refuse(1, .busy, after: 100)
    rig.resync("xabc", epoch: "f", revision: 5)
    #expect(rig.pass(99).filter { $0.hasPrefix(">") } == [])
    #expect(rig.pass(1).contains("> join n@f:5"))
    #expect(rig.resumed(revision: 5, epoch: "f").contains("> change 1@5 =4 +d"))
  }

  // MARK: Refusals

  @Test("a retryable refusal has the same bytes sent again after its time")
  func retryable() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    let first = rig.sent.last?.message
    rig.changes(4, [change("B", 1, "+x =3")])
    rig.refuse(1, .unavailable, after: 400)
    #expect(rig.pass(399).filter { $0.hasPrefix(">") } == [])
    #expect(rig.pass(1).contains("> change 1@3 =3 +d"))
    #expect(rig.sent.last?.message == first)
  }

  @Test(
    "after a refusal that a rejoin can resolve, it rejoins and sends a new change",
    arguments: [
      ErrorCode.epochChanged, .historyGone, .futureRevision, .lengthMismatch, .notJoined,
      .sequenceGap,
    ])
  func cured(code: ErrorCode) {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.changes(4, [change("B", 1, "+x =3")])
    rig.note(.edit(op("=5 +e")))
    #expect(rig.refuse(1, code) == ["> join n@e:4", "away 2"])
    #expect(rig.resumed(revision: 4) == ["> change 1@4 =4 +de", "live 1"])
  }

  @Test("a refused change in the answer to a rejoin was stored after all")
  func curedButStored() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.refuse(1, .historyGone)
    #expect(rig.resumed([change("A", 1, "=3 +d")], revision: 4, last: 1) == ["live 0"])
    #expect(rig.note(.edit(op("=4 +e"))) == ["> change 2@4 =4 +e", "live 1"])
  }

  @Test("after three rejoins in a row, the edits wait for the user")
  func threeTries() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    for _ in 0..<3 {
      #expect(rig.refuse(1, .lengthMismatch).first == "> join n@e:3")
      rig.resumed(revision: 3)
    }
    #expect(rig.refuse(1, .lengthMismatch) == ["keep", "live 1 lengthMismatch"])
    #expect(rig.text == "abcd")
  }

  @Test("an acknowledged change resets the number of retries")
  func triesBeginAnew() {
    var rig = Rig()
    rig.join()
    for sequence in 1...5 {
      rig.note(.edit(op("=\(2 + sequence) +d")))
      #expect(rig.refuse(sequence, .lengthMismatch).first == "> join n@e:\(2 + sequence)")
      rig.resumed(revision: 2 + sequence, last: sequence - 1)
      rig.acknowledge(sequence, 3 + sequence)
    }
    #expect(rig.status?.phase == .live)
  }

  @Test(
    "a final refusal keeps the edits visible to their author",
    arguments: [ErrorCode.tooLarge, .notAllowed, .badOperation, .sequenceReused, .damaged])
  func held(code: ErrorCode) {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +dd")))
    #expect(rig.refuse(1, code) == ["keep", "live 1 \(code)"])
    #expect(rig.note(.edit(op("=3 -1 =1"))) == ["live 2 \(code)"])
    #expect(rig.changes(4, [change("B", 1, "+x =3")]) == ["apply +x =4"])
    #expect(rig.text == "xabcd")
    // The number of a refused change is free again.
    #expect(rig.note(.retryRefused) == ["> change 1@4 =4 +d", "live 1"])
    #expect(rig.acknowledge(1, 5) == ["forget", "live 0"])
  }

  @Test("a too long change is not sent, because the server would close the connection")
  func tooLarge() {
    var limits = Limits()
    // A part has 64 bytes at least.
    limits.messageBytesMax = 120
    var rig = Rig()
    rig.join(limits: limits)
    let paste = op("=3 +" + String(repeating: "x", count: 300))
    #expect(rig.note(.edit(paste)) == ["keep", "live 6 tooLarge"])
    rig.note(.edit(op("=3 -299 =1")))
    #expect(rig.note(.retryRefused).contains("> change 1@3 =3 +x"))
  }

  @Test("discarding unconfirmed edits restores the server's text")
  func discard() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.refuse(1, .notAllowed)
    #expect(rig.note(.discard) == ["forget", "> join n", "joining 0"])
    #expect(rig.joined(text: "abc") == ["reset abc", "live 0"])
  }

  @Test("a discarded change that was stored after all is treated as a change of another client")
  func discardedButStored() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.discard)
    rig.joined(text: "abc")
    #expect(rig.note(.edit(op("=3 +e"))) == ["> change 1@3 =3 +e", "live 1"])
    // The copy that was given up was under way, and is stored now.
    rig.refuse(1, .sequenceReused)
    #expect(rig.changes(4, [change("A", 1, "=3 +d")]).prefix(2) == ["out of step", "> join n@e:3"])
    #expect(
      rig.resumed([change("A", 1, "=3 +d")], revision: 4, last: 1)
        == ["apply =3 +d =1", "keep!", "> change 2@4 =4 +e", "live 1"])
    #expect(rig.text == "abcde")
  }

  // MARK: Disagreements

  @Test("after a missing revision it rejoins: first resuming, then for the whole text")
  func outOfStep() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.changes(9, [change("B", 1, "+x =3")]) == ["out of step", "> join n@e:3", "away 1"])
    // Another answer that does not fit.
    #expect(
      rig.resumed([change("B", 1, "+x =77")], revision: 4) == ["out of step", "> join n"])
    #expect(rig.joined(text: "xabc", revision: 9).contains("> change 1@9 =4 +d"))
    #expect(rig.text == "xabcd")
  }

  @Test("after three failed joins it fails, and typed text is kept")
  func disagreement() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    for _ in 0..<3 {
      #expect(rig.changes(99, [change("B", 1, "+x")]).first == "out of step")
      rig.joined(text: "abc")
    }
    #expect(rig.changes(99, [change("B", 1, "+x")]) == ["out of step", "keep", "failed 1"])
    #expect(rig.status?.phase == .failed(.disagreement))
    #expect(rig.text == "abcd")
    #expect(rig.disk?.local.text == "abcd")
  }

  @Test("it joins again after an unreadable message")
  func misread() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.handle(.received(Array("{".utf8))) == ["out of step", "> join n@e:3", "away 1"])
    rig.resumed(revision: 3)
    #expect(rig.text == "abcd")
  }

  @Test("a malformed answer counts as a refusal")
  func misreadAnswer() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    let id = rig.sent.last?.id ?? ""
    let answer = #"{"messageId":"\#(id)","type":"refused","data":{"code":"fromTheFuture"}}"#
    #expect(rig.handle(.received(Array(answer.utf8))) == ["keep", "live 1 badMessage"])
  }

  // MARK: A server that knows this client no more

  @Test("stored changes are received under the old id, and the rest is sent under the new one")
  func renumber() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.acknowledge(1, 4)
    rig.note(.edit(op("=4 +e")))
    rig.note(.edit(op("=5 +f")))
    rig.pass(150)
    #expect(rig.disk?.clientID == "A")
    #expect(rig.reconnect(as: "B") == ["claim B", "online", "> join n@e:4"])
    // Kept under the new id before anything goes out under it.
    #expect(rig.resumed(revision: 4).prefix(2) == ["keep!", "> change 1@4 =4 +ef"])
    #expect(rig.disk?.clientID == "B")
    #expect(rig.acknowledge(1, 5) == ["forget", "live 0"])
  }

  @Test("the change in flight was stored under the old id")
  func renumberStored() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.edit(op("=4 +e")))
    _ = rig.reconnect(as: "B")
    #expect(
      rig.resumed([change("A", 1, "=3 +d")], revision: 4) == ["> change 1@4 =4 +e", "live 1"])
    #expect(rig.text == "abcde")
  }

  // MARK: The document itself

  @Test("changes of rights are reported, and without the right to read the note ends")
  func access() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.receive(.accessChanged(.init(documentID: "n", access: .read)))
    #expect(rig.status?.access == .read)
    #expect(
      rig.receive(.accessChanged(.init(documentID: "n", access: .none))) == ["keep", "failed 1"])
    #expect(rig.status?.phase == .failed(.readingLost))
    #expect(rig.text == "abcd")
    #expect(rig.note(.reopen) == ["> join n@e:3", "away 1"])
  }

  @Test("renaming and deleting the note are reported")
  func documentChanged() {
    var rig = Rig()
    rig.join()
    #expect(
      rig.receive(.documentChanged(.init(documentID: "n", title: "New", deleted: false)))
        == ["title New"])
    rig.note(.edit(op("=3 +d")))
    #expect(
      rig.receive(.documentChanged(.init(documentID: "n", title: nil, deleted: true)))
        == ["keep", "deleted 1"])
  }

  @Test("leaving stores unconfirmed edits, and notifies the server")
  func leave() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.note(.leave) == ["keep", "leaving 1"])
    #expect(rig.note(.kept(took: 1)) == ["> leave", "left 1"])
    #expect(rig.status == nil)
    #expect(rig.changes(4, [change("B", 1, "+x =3")]) == [])
  }

  @Test("leaving without unconfirmed edits is done at once")
  func leaveAtOnce() {
    var rig = Rig()
    rig.join()
    #expect(rig.note(.leave) == ["> leave", "left 0"])
    #expect(rig.status == nil)
  }

  @Test(
    "edits that cannot be stored are sent before the note is left",
    arguments: [NoteEvent.keepFailed, .unkept])
  func leaveWithoutDisk(answer: NoteEvent) {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.edit(op("=4 +e")))
    #expect(rig.note(.leave) == ["keep", "leaving 2"])
    #expect(rig.note(answer).filter { $0 != "leaving 2" } == [])
    // Nothing is shown from here on, and the line may be lost meanwhile.
    #expect(rig.changes(4, [change("B", 1, "+x =3")]) == [])
    rig.handle(.closed(code: 1006))
    rig.handle(.reachable)
    rig.handle(.opened)
    rig.welcome()
    rig.resumed(revision: 4)
    #expect(rig.acknowledge(1, 5).contains("> change 2@5 =5 +e"))
    let last = rig.acknowledge(2, 6)
    #expect(last.suffix(2) == ["> leave", "left 0"])
    #expect(rig.status == nil)
  }

  @Test("a note that is reopened while its edits are being sent continues with them")
  func leaveAndComeBack() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.leave)
    rig.note(.unkept)
    rig.changes(4, [change("B", 1, "+x =3")])
    let told = rig.note(.open(nil))
    #expect(told.contains("reset xabcd") && told.last == "live 1")
    #expect(rig.acknowledge(1, 5).last == "live 0")
    #expect(rig.text == "xabcd")
  }

  @Test("a note whose edits are refused can be left", arguments: [true, false])
  func leaveRefused(isDeleted: Bool) {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.leave)
    rig.note(.unkept)
    let told =
      isDeleted
      ? rig.receive(.documentChanged(.init(documentID: "n", title: nil, deleted: true)))
      : rig.receive(
        .refused(
          .init(
            documentID: "n", sequence: 1, code: .tooLarge, message: "", retryable: false,
            retryAfter: nil)))
    #expect(told.last == (isDeleted ? "left 1" : "left 1 tooLarge"))
    #expect(rig.status == nil)
  }
}
