import OTCore
import ParleyOTWorkloads
import ParleyClientCore
import SocketMessages
import Testing

@Suite("Storing edits on disk")
struct KeepingTests {
  @Test("unconfirmed edits are stored a moment after the first one, and removed after the last")
  func keeps() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    #expect(rig.pass(149) == [])
    rig.note(.edit(op("=4 +e")))
    #expect(rig.pass(1) == ["keep"])
    #expect(rig.disk?.local.text == "abcde")
    #expect(rig.acknowledge(1, 4) == ["> change 2@4 =4 +e", "live 1"])
    #expect(rig.acknowledge(2, 5) == ["forget", "live 0"])
  }

  @Test("edits that are confirmed within that moment are not stored")
  func quickAnswers() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.acknowledge(1, 4)
    #expect(rig.pass(10_000) == [])
  }

  @Test("edits are stored less often on a slow disk, but within three seconds")
  func slowDisk() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    rig.note(.kept(took: 50))
    rig.note(.edit(op("=4 +e")))
    #expect(rig.pass(999) == [])
    #expect(rig.pass(1) == ["keep"])
    rig.note(.kept(took: 100_000))
    rig.note(.edit(op("=5 +f")))
    #expect(rig.pass(3_000) == ["keep"])
  }

  @Test("before the process is suspended, all unconfirmed edits are stored")
  func suspending() {
    var rig = Rig()
    rig.join()
    #expect(rig.handle(.suspending) == [])
    rig.note(.edit(op("=3 +d")))
    #expect(rig.handle(.suspending) == ["keep"])
  }

  @Test("a failure to store is reported and retried, and typing continues")
  func failure() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    rig.note(.keepFailed)
    #expect(rig.status?.isKeepFailing == true)
    #expect(rig.pass(1_000) == ["keep"])
    rig.note(.kept(took: 1))
    #expect(rig.status?.isKeepFailing == false)
  }

  @Test("a new process resends the change in flight unchanged, after storing later edits")
  func restart() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.note(.edit(op("=4 +e")))
    rig.pass(150)
    var next = rig.restarted(knowing: rig.claim)
    #expect(next.text == "abcde")
    next.note(.edit(op("=5 +f")))
    // Kept apart as not sent, until the server is heard.
    #expect(next.pass(150) == ["keep"])
    next.handle(.start)
    next.handle(.opened)
    #expect(next.welcome() == ["online", "> join n@e:3"])
    #expect(next.resumed(revision: 3).prefix(2) == ["keep!", "> change 1@3 =3 +d"])
    #expect(next.acknowledge(1, 4).contains("> change 2@4 =4 +ef"))
  }

  @Test("a new process stores changes before it sends them", arguments: [false, true])
  func keepBeforeSend(typesBefore: Bool) {
    var rig = Rig()
    rig.join()
    rig.handle(.closed(code: 1006))
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    var next = rig.restarted(knowing: rig.claim)
    if typesBefore {
      next.note(.edit(op("=4 +e")))
      next.pass(150)
    }
    next.handle(.start)
    next.handle(.opened)
    next.welcome()
    let words = next.resumed(revision: 3).filter { $0.hasPrefix("keep") || $0.hasPrefix(">") }
    #expect(words == ["keep!", typesBefore ? "> change 1@3 =3 +de" : "> change 1@3 =3 +d"])
  }

  @Test(
    "a process restored from an older state detects its later change, and sends nothing twice")
  func supersede() {
    var rig = Rig()
    rig.join()
    rig.handle(.closed(code: 1006))
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    let old = rig
    rig.note(.edit(op("=4 +e")))
    rig.handle(.reachable)
    rig.handle(.opened)
    rig.welcome()
    #expect(rig.resumed(revision: 3).contains("> change 1@3 =3 +de"))
    // It is stored, and the process dies before it keeps anything else.
    var next = old.restarted(knowing: old.claim)
    next.note(.edit(op("+z =4")))
    next.handle(.start)
    next.handle(.opened)
    next.welcome()
    let words = next.resumed([change("A", 1, "=3 +de")], revision: 4, last: 1)
    #expect(words.contains("> change 2@4 +z =5"))
    #expect(next.text == "zabcde")
  }

  @Test("a required store that fails leaves nothing that could be sent twice")
  func requiredFails() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    _ = rig.reconnect(as: "B")
    #expect(rig.resumed(revision: 3).prefix(1) == ["keep!"])
    rig.note(.keepFailed)
    // The next one takes the place of nothing.
    #expect(rig.pass(1_000) == ["keep"])
  }

  @Test("a new change is stored before it reuses the number of the stored one")
  func newChangeUnderOldNumber() {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.pass(150)
    rig.note(.edit(op("=4 +e")))
    rig.refuse(1, .historyGone)
    #expect(rig.resumed(revision: 3).prefix(2) == ["keep!", "> change 1@3 =3 +de"])
  }

  // MARK: The coded form

  /// A client in a random state with something to keep.
  private func kept(seed: UInt64) -> KeptNote? {
    var random = SplitMix64(seed: seed)
    var rig = Rig()
    rig.join("a\u{301}漢👍\r\n")
    for _ in 0...random.below(4) {
      let length = rig.machine.document(of: "n")?.scalarCount ?? 0
      var operation = TextOperation()
      let place = random.below(length + 1)
      operation.retain(place)
      operation.insert(["é", "\u{0}", "👩‍👩‍👧", "\n", "\"\\"][random.below(5)])
      operation.retain(length - place)
      rig.note(.edit(operation))
      if random.chance(30) { rig.changes(4, [change("B", 7, "=6 +q")]) }
      if random.chance(20) { rig.refuse(1, .tooLarge) }
    }
    rig.handle(.suspending)
    guard random.chance(50) else { return rig.disk }
    var next = rig.restarted(knowing: rig.claim)
    let length = next.machine.document(of: "n")?.scalarCount ?? 0
    next.note(.edit(op("=\(length) +new")))
    next.handle(.suspending)
    return next.disk
  }

  @Test("stored state is read back unchanged", arguments: 1...UInt64(200))
  func roundTrip(seed: UInt64) throws {
    let note = try #require(kept(seed: seed))
    let edits = note.encodedEdits()
    let read = try KeptNote(edits: edits, text: note.encodedText())
    #expect(read == note)
    #expect(read.encodedEdits() == edits)
    #expect(read.local == note.local)
    #expect(read.documentID == "n")
    #expect(read.editCount == note.editCount)
  }

  @Test("any other data is a typed error", arguments: 1...UInt64(100))
  func total(seed: UInt64) throws {
    let note = try #require(kept(seed: seed))
    let text = note.encodedText()
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      var bytes = note.encodedEdits()
      switch random.below(3) {
      case 0: bytes.removeLast(1 + random.below(bytes.count))
      case 1: bytes[random.below(bytes.count)] = UInt8(random.below(256))
      default: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
      }
      // A readable state can be restored.
      guard let read = try? KeptNote(edits: bytes, text: text) else { continue }
      var rig = Rig()
      rig.note(.open(read))
      rig.connect()
      rig.joined(text: "another text", revision: 9)
    }
    #expect(throws: KeptNoteError.unknownForm) { try KeptNote(edits: [1, 2, 3], text: []) }
    #expect(throws: KeptNoteError.self) { try KeptNote(edits: note.encodedEdits(), text: [0x61]) }
  }

  @Test("another text has another tag")
  func tags() throws {
    var rig = Rig()
    rig.join()
    rig.note(.edit(op("=3 +d")))
    rig.handle(.suspending)
    let first = try #require(rig.disk)
    rig.note(.edit(op("=4 +e")))
    rig.handle(.suspending)
    #expect(rig.disk?.textTag == first.textTag)
    rig.changes(4, [change("B", 1, "+x =3")])
    rig.handle(.suspending)
    #expect(rig.disk?.textTag != first.textTag)
    #expect(rig.disk?.server.text == "xabc")
  }
}
