import OTCore
import ParleyClientCore
import ParleyOTWorkloads
import SocketMessages
import Testing

/// Returns an operation from a text notation and the JSON of its formatting.
private func rich(_ notation: String, _ format: String = "{}") throws -> RichOperation {
  let text = op(notation)
  return RichOperation(text, try ChangeFormat(json: Array(format.utf8), of: text))
}

/// Returns a change of another client.
private func change(
  _ client: String, _ sequence: Int, _ notation: String, _ format: String
) throws -> ServerMessage.Change {
  let operation = try rich(notation, format)
  return .init(
    clientID: client, sequence: sequence, operation: operation.text,
    format: operation.changeFormat.map { FormatJSON($0) })
}

extension Rig {
  /// Connects and joins the note `n` with formats at revision 3.
  fileprivate mutating func joinRich(_ text: String = "abc", _ format: String? = nil) throws {
    connect()
    note(.open(nil, formats: true))
    try joinedRich(text, format)
  }

  @discardableResult
  fileprivate mutating func joinedRich(
    _ text: String, _ format: String? = nil, revision: Int = 3, kind: NoteKind? = .rich,
    last: Int = 0
  ) throws -> [String] {
    var joined = Self.joined(.text(text), "e", revision, last)
    joined.kind = kind
    joined.format = try format.map { format in
      FormatJSON(of: try RichDocument(Document(text), formatJSON: Array(format.utf8)))
    }
    return receive(.joined(joined), to: "join")
  }

  /// The answer to a join with what was missed, of a rich note.
  @discardableResult
  fileprivate mutating func resumedRich(
    _ changes: [ServerMessage.Change] = [], revision: Int, last: Int = 0
  ) -> [String] {
    var joined = Self.joined(.changes(changes), "e", revision, last)
    joined.kind = .rich
    return receive(.joined(joined), to: "join")
  }

  fileprivate var lastChange: ClientMessage.Change? {
    for (_, message) in sent.reversed() {
      if case .change(let change) = message { return change }
    }
    return nil
  }

  fileprivate var lastJoin: ClientMessage.Join? {
    for (_, message) in sent.reversed() {
      if case .join(let join) = message { return join }
    }
    return nil
  }

  /// The last change as words.
  fileprivate func lastChangeWords() throws -> String {
    let change = try #require(lastChange)
    return Rig.words(RichOperation(change.operation, try change.checkedFormat()))
  }

  /// The attributes of the text on the screen, which must be the machine's.
  fileprivate func shown() throws -> String {
    let content = try #require(machine.content(of: "n"))
    #expect(screen == content)
    content.checkInvariants()
    return content.text.text + Rig.words(content)
  }
}

@Suite("A note with formatting")
struct FormatTests {
  private static let bold = #"{"sets":[{"bold":true}],"kept":[0,1,1]}"#

  @Test func `text and attributes are joined, changed and sent`() throws {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil, formats: true))
    #expect(rig.lastJoin?.formats == true)
    let words = try rig.joinedRich("abc", #"{"sets":[{"bold":true}],"runs":[2,1]}"#)
    #expect(
      words == [
        "kind rich", #"reset abc {"sets":[{"bold":true}],"runs":[2,1,1,0]}"#, "title Title",
        "live 0",
      ])
    let format = #"{"sets":[{"bold":null},{"link":"/"}],"kept":[1,1,1],"put":[1,2]}"#
    rig.note(.edit(try rich("=3 +d", format)))
    #expect(try rig.lastChangeWords() == "=3 +d " + format)
    // The other's change is committed first, so its value stays.
    let others = try change("B", 1, "=3", #"{"sets":[{"bold":true}],"kept":[1,2,1]}"#)
    #expect(
      rig.changes(4, [others])
        == [#"apply =4 {"sets":[{"bold":true}],"kept":[1,2,1]}"#])
    #expect(try rig.shown() == #"abcd {"sets":[{"bold":true},{"link":"/"}],"runs":[3,1,1,2]}"#)
    #expect(rig.acknowledge(1, 5) == ["live 0"])
  }

  @Test func `an app that did not ask for formats has the text alone, and is told the kind`() throws
  {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil))
    #expect(rig.lastJoin?.formats == false)
    #expect(try rig.joinedRich("abc") == ["kind rich", "reset abc", "title Title", "live 0"])
    rig.note(.edit(try rich("=3", Self.bold)))
    #expect(rig.lastChange == nil)
    rig.note(.edit(op("=3 +d")))
    #expect(rig.lastChange?.format == nil)
    #expect(try rig.shown() == "abcd")
    #expect(rig.machine.steps(in: "n") == (false, false))
  }

  @Test func `a plain note becomes rich by an own edit, which keeps that until it is stored`()
    throws
  {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil, formats: true))
    try rig.joinedRich("**a**", kind: nil)
    #expect(rig.machine.kind(of: "n") == .plain)
    // Formatting alone is not possible; the text is.
    #expect(
      try rig.note(.edit(rich("=5 +!", #"{"sets":[{"bold":true}],"put":[1,1]}"#)))
        == ["> change 1@3 =5 +!", "misfit", "reset **a**!", "live 1"])
    let format = #"{"kind":"rich","sets":[{"bold":true}],"kept":[2,1,1]}"#
    #expect(try rig.note(.edit(rich("-2 =1 -2 =1", format))).contains("kind rich"))
    // A change that becomes one with later ones, and is refused, still makes the note a rich one.
    rig.acknowledge(1, 4)
    #expect(rig.lastChange?.format != nil)
    rig.refuse(2, .notAllowed)
    #expect(rig.status?.refusal == .notAllowed)
    rig.note(.edit(op("=2 +?")))
    let words = rig.note(.retryRefused)
    #expect(words.contains { $0.hasPrefix("> change 2@4") })
    #expect(try rig.lastChangeWords() == "-2 =1 -2 =1 +? " + format)
    rig.acknowledge(2, 5)
    rig.note(.edit(try rich("=3", Self.bold)))
    #expect(try rig.lastChangeWords() == "=3 " + Self.bold)
  }

  @Test func `a plain note becomes rich by others, also while it was not there`() throws {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil, formats: true))
    try rig.joinedRich("ab", kind: nil)
    _ = rig.reconnect()
    let kind = try change("B", 1, "=2", #"{"kind":"rich"}"#)
    #expect(rig.resumedRich([kind], revision: 4).contains("kind rich"))
    rig.note(.edit(try rich("=2", Self.bold)))
    #expect(try rig.lastChangeWords() == "=2 " + Self.bold)
    // It did not request the text again.
    #expect(rig.lastJoin?.resume?.revision == 3)
  }

  @Test func `what was kept without attributes is read again once the note is rich`() throws {
    var former = Rig()
    former.join()
    former.note(.edit(op("=3 +!")))
    former.handle(.suspending)
    let form = try #require(former.disk?.encodedEdits())
    #expect(String(decoding: form, as: UTF8.self).hasPrefix("parley.note.1\n"))
    var rig = Rig(claim: former.claim)
    rig.note(.open(former.disk, formats: true))
    rig.connect()
    let words = rig.resumedRich([try change("B", 1, "=3", Self.bold)], revision: 4)
    #expect(words.contains("> join n"))
    #expect(rig.lastJoin?.resume == nil)
    try rig.joinedRich("abc", #"{"sets":[{"bold":true}],"runs":[1,1]}"#, revision: 4)
    #expect(try rig.shown() == #"abc! {"sets":[{"bold":true}],"runs":[1,1,3,0]}"#)
    #expect(try rig.lastChangeWords() == "=3 +!")
  }

  @Test func `unanswered edits with formats survive, and go out as they were`() throws {
    var rig = Rig()
    try rig.joinRich("abc", #"{"sets":[{"bold":true}],"runs":[2,1]}"#)
    rig.note(.edit(try rich("=3 +d", #"{"sets":[{"link":"/"}],"kept":[2,1,1],"put":[1,1]}"#)))
    rig.note(.edit(try rich("=4", #"{"sets":[{"size":2}],"kept":[0,4,1]}"#)))
    rig.handle(.suspending)
    let disk = try #require(rig.disk)
    let first = try #require(rig.lastChange)
    #expect(try KeptNote(edits: disk.encodedEdits(), text: disk.encodedText()) == disk)
    for formats in [true, false] {
      // Whatever this app shows: the edits are sent as they were.
      var next = Rig(claim: rig.claim)
      next.note(
        .open(try KeptNote(edits: disk.encodedEdits(), text: disk.encodedText()), formats: formats))
      #expect(try next.shown() == rig.shown())
      next.connect()
      #expect(next.lastJoin?.formats == true)
      next.resumedRich(revision: 3)
      #expect(next.lastChange == first)
      next.acknowledge(1, 4)
      #expect(try next.lastChangeWords() == #"=4 {"sets":[{"size":2}],"kept":[0,4,1]}"#)
    }
  }

  @Test func `a server that does not know formatting gets the text`() throws {
    var rig = Rig()
    try rig.joinRich("abc")
    rig.note(.edit(try rich("=3 +d", #"{"sets":[{"bold":true}],"kept":[0,1,1],"put":[1,1]}"#)))
    rig.note(.edit(try rich("=4 +e", #"{"sets":[{"bold":true}],"put":[1,1]}"#)))
    rig.handle(.closed(code: 1006))
    rig.handle(.reachable)
    rig.handle(.opened)
    rig.welcome(capabilities: [])
    #expect(!rig.machine.hasFormats)
    let words = rig.resumed(revision: 3)
    #expect(words.contains("kind plain") && words.contains("reset abcde"))
    #expect(rig.lastChange?.format == nil)
    #expect(try rig.lastChangeWords() == "=3 +d")
    rig.acknowledge(1, 4)
    #expect(try rig.lastChangeWords() == "=4 +e")
    #expect(try rig.shown() == "abcde")
  }

  /// - Parameter isSent: Whether an edit without formatting is in flight, and the formatting waits.
  @Test(
    "a log that loses the kind gets it again with unconfirmed formatting", arguments: [false, true])
  func lostKind(isSent: Bool) throws {
    var rig = Rig()
    try rig.joinRich("abc")
    if isSent { rig.note(.edit(op("=3"))) }
    rig.note(.edit(try rich("=3", Self.bold)))
    _ = rig.reconnect()
    let words = rig.joined(text: "ab", epoch: "f", revision: 1)
    #expect(!words.contains("kind plain"))
    #expect(rig.machine.kind(of: "n") == .rich)
    let sent = try rig.lastChangeWords()
    #expect(sent == #"=2 {"kind":"rich","sets":[{"bold":true}],"kept":[0,1,1]}"#)
    rig.acknowledge(1, 2)
    #expect(try rig.shown() == #"ab {"sets":[{"bold":true}],"runs":[1,1,1,0]}"#)
    // Without unconfirmed formatting, the note is what the server has.
    _ = rig.reconnect()
    #expect(rig.joined(text: "ab", epoch: "g", revision: 1).contains("kind plain"))
    #expect(try rig.shown() == "ab")
  }

  @Test func `a step of the history makes a note a rich one that the server has lost as such`()
    throws
  {
    var rig = Rig()
    try rig.joinRich("abc")
    rig.note(.edit(try rich("=3", Self.bold)))
    rig.acknowledge(1, 4)
    rig.note(.undo)
    rig.acknowledge(2, 5)
    _ = rig.reconnect()
    #expect(rig.joined(text: "abc", epoch: "f", revision: 1).contains("kind plain"))
    rig.note(.redo)
    #expect(
      try rig.lastChangeWords() == #"=3 {"kind":"rich","sets":[{"bold":true}],"kept":[0,1,1]}"#)
  }

  @Test func `a whole text of the server replaces attributes too`() throws {
    var rig = Rig()
    try rig.joinRich("abc", #"{"sets":[{"bold":true}],"runs":[3,1]}"#)
    rig.note(.edit(try rich("=3", #"{"sets":[{"link":"/"}],"kept":[0,1,1]}"#)))
    let format = FormatJSON(
      of: try RichDocument(
        Document("xabc"), formatJSON: Array(#"{"sets":[{"size":1}],"runs":[4,1]}"#.utf8)))
    rig.receive(
      .resync(
        .init(
          documentID: "n", reason: .lagging, epoch: "f", revision: 9, text: "xabc", lastSequence: 0,
          kind: .rich, format: format)))
    #expect(
      try rig.shown() == #"xabc {"sets":[{"size":1},{"link":"/","size":1}],"runs":[1,1,1,2,2,1]}"#)
    // Malformed attributes end in a new join, and the edit stays.
    rig.receive(
      .resync(
        .init(
          documentID: "n", reason: .lagging, epoch: "g", revision: 9, text: "x", lastSequence: 0,
          kind: .rich, format: format)))
    #expect(rig.status?.phase == .away)
    #expect(try rig.shown().hasPrefix("xabc"))
  }

  @Test func `an edit beyond the limits goes out in parts, with its formats`() throws {
    var rig = Rig()
    var limits = Limits()
    limits.messageBytesMax = 1_200
    rig.connect(limits: limits)
    rig.note(.open(nil, formats: true))
    try rig.joinedRich("abc")
    var builder = RichOperationBuilder()
    builder.retain(3, setting: try AttributeSet(json: #"{"bold":true}"#))
    for index in 0..<200 {
      builder.insert("x\(index)", with: try AttributeSet(json: #"{"size":\#(index)}"#))
    }
    rig.note(.edit(builder.finished()))
    let wanted = try rig.shown()
    var server = try RichDocument(Document("abc"), formatJSON: Array("{}".utf8))
    var parts = 0
    while rig.status?.unconfirmed ?? 0 > 0 {
      let change = try #require(rig.lastChange)
      try server.apply(RichOperation(change.operation, try change.checkedFormat()))
      parts += 1
      rig.acknowledge(change.sequence, 3 + parts)
    }
    #expect(parts > 3)
    #expect(server.text.text + Rig.words(server) == wanted)
  }

  @Test func `undo takes back own steps, formats included, and restores the selection`() throws {
    var rig = Rig()
    try rig.joinRich("The fox")
    rig.note(.select([Selection(anchor: 4, head: 7)]))
    rig.note(.edit(try rich("=7", #"{"sets":[{"color":"red"}],"kept":[4,3,1]}"#)))
    let bold = #"{"sets":[{"bold":true}],"put":[1,1]}"#
    rig.note(.edit(try rich("=7 +x", bold)))
    rig.note(.edit(try rich("=8 +y", bold)))
    rig.acknowledge(1, 4)
    rig.changes(5, [try change("B", 1, "=7", #"{"sets":[{"color":"blue"}],"kept":[4,1,1]}"#)])
    #expect(rig.machine.steps(in: "n") == (true, false))
    #expect(rig.note(.undo).first == "step =7 -2 4 7")
    #expect(rig.note(.undo).first == #"step =7 {"sets":[{"color":null}],"kept":[5,2,1]} 4 7"#)
    #expect(rig.machine.steps(in: "n") == (false, true))
    rig.note(.redo)
    rig.note(.redo)
    #expect(rig.text == "The foxxy")
    _ = try rig.shown()
    // A step by itself.
    rig.note(.endStep)
    rig.note(.edit(try rich("=9 +z", bold)))
    rig.note(.undo)
    #expect(rig.text == "The foxxy")
    rig.receive(.accessChanged(.init(documentID: "n", access: .read)))
    #expect(rig.note(.undo) == [])
  }

  @Test func `changes with numbers have formats`() throws {
    var rig = Rig()
    rig.connect()
    rig.note(.open(nil, formats: true))
    var joined = Rig.joined(.text("abc"), "e", 3, 0)
    joined.kind = .rich
    joined.numbers = .init(document: 7, time: 0, authors: [.init(number: 1, clientID: "B")])
    rig.receive(.joined(joined), to: "join")
    let operation = try rich("=3 +d", #"{"sets":[{"bold":true}],"kept":[0,1,1],"put":[1,1]}"#)
    let words = rig.receive(
      .numberedChanges(
        .init(
          run: .init(
            document: 7, revision: 4, time: 1,
            changes: [
              .init(
                author: 1, sequence: 1, operation: operation.text,
                format: operation.changeFormat.map { FormatJSON($0) })
            ]))))
    #expect(words == ["apply " + Rig.words(operation)])
  }

  @Test(
    "whatever else is read as a rich note is a typed error",
    arguments: 1...UInt64(60))
  func damaged(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var rig = Rig()
    try rig.joinRich("abc", #"{"sets":[{"bold":true}],"runs":[2,1]}"#)
    rig.note(.edit(try rich("=3 +d", #"{"sets":[{"link":"/"}],"kept":[2,1,1],"put":[1,1]}"#)))
    rig.handle(.suspending)
    let note = try #require(rig.disk)
    for _ in 0..<60 {
      var (edits, text) = (note.encodedEdits(), note.encodedText())
      if random.chance(50) {
        edits[random.below(edits.count)] = UInt8(random.below(256))
      } else if random.chance(50) {
        text[random.below(text.count)] = UInt8(random.below(256))
      } else {
        edits.removeLast(random.below(edits.count))
      }
      do throws(KeptNoteError) {
        var next = Rig()
        next.note(.open(try KeptNote(edits: edits, text: text), formats: true))
        next.connect()
        _ = next.machine.content(of: "n")
      } catch {}
    }
  }
}

/// A server of one note that several clients edit, and their lines.
private struct Twin {
  static let start = RichDocument(Document("The fox\n"))
  var server = ServerSequencer(content: Twin.start, revision: 3)
  var rigs: [Rig] = []
  /// The changes that the server has stored, from revision 4 on.
  var log: [ServerMessage.Change] = []
  /// For each client, the number of revisions sent to it, and the number of its messages read.
  var told: [Int] = []
  var read: [Int] = []
  var stored: [Int] = []

  init(clients: Int) throws {
    for index in 0..<clients {
      var rig = Rig()
      rig.connect(as: "C\(index)")
      // The last one knows only text.
      rig.note(.open(nil, formats: index + 1 < clients))
      try rig.joinedRich(Twin.start.text.text)
      rigs.append(rig)
      told.append(0)
      read.append(rig.sent.count)
      stored.append(0)
    }
  }

  /// Stores the client's next change, if one is on its way.
  mutating func take(_ client: Int) throws {
    while read[client] < rigs[client].sent.count {
      let (_, message) = rigs[client].sent[read[client]]
      read[client] += 1
      guard case .change(let change) = message, change.sequence > stored[client] else { continue }
      stored[client] = change.sequence
      let format = try change.checkedFormat()
      let operation = try server.submit(
        RichOperation(change.operation, format), at: change.revision)
      server.markDurable(through: server.revision)
      log.append(
        .init(
          clientID: "C\(client)", sequence: change.sequence, operation: operation.text,
          format: ChangeFormat(operation.format).map { FormatJSON($0) }))
      return
    }
  }

  /// Tells a client the next revision.
  mutating func tell(_ client: Int) {
    guard told[client] < log.count else { return }
    var change = log[told[client]]
    if client + 1 == rigs.count { change.format = nil }
    told[client] += 1
    rigs[client].changes(3 + told[client], [change])
  }

  /// The client loses its line, or dies and restores what it kept; then it joins again.
  mutating func interrupt(_ client: Int, dies: Bool) throws {
    let formats = client + 1 < rigs.count
    if dies {
      rigs[client].handle(.suspending)
      let disk = try rigs[client].disk.map {
        try KeptNote(edits: $0.encodedEdits(), text: $0.encodedText())
      }
      // Without edits, nothing is on the disk; the text is read again.
      let kept = disk ?? rigs[client].machine.copy(of: "n")
      let content = rigs[client].machine.content(of: "n")
      var next = Rig(claim: rigs[client].claim)
      next.note(.open(kept, formats: formats))
      #expect(next.machine.content(of: "n") == content)
      next.connect(as: "C\(client)")
      rigs[client] = next
    } else {
      _ = rigs[client].reconnect(as: "C\(client)")
    }
    let missed = log[told[client]...].map { change in
      var change = change
      if !formats { change.format = nil }
      return change
    }
    told[client] = log.count
    read[client] = 0
    var joined = Rig.joined(.changes(missed), "e", server.revision, stored[client])
    joined.kind = .rich
    rigs[client].receive(.joined(joined), to: "join")
    #expect(rigs[client].status?.phase == .live)
  }

  var isSettled: Bool {
    rigs.indices.allSatisfy { told[$0] == log.count && rigs[$0].status?.unconfirmed == 0 }
  }
}

@Suite("Clients of a note with formatting")
struct TwinServerTests {
  @Test(arguments: 1...UInt64(80))
  func `all have the server's content, whatever happens to their lines`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var twin = try Twin(clients: 3)
    for _ in 0..<80 {
      let client = random.below(3)
      let isPlain = client == 2
      let length = twin.rigs[client].machine.document(of: "n")?.scalarCount ?? 0
      switch random.below(12) {
      case 0...3:
        let edit = ReferenceRich.random(length: length, using: &random).packed
        twin.rigs[client].note(.edit(isPlain ? RichOperation(edit.text) : edit))
      case 4: twin.rigs[client].note(random.chance(60) ? .undo : .redo)
      case 5...7: try twin.take(client)
      case 8...10: twin.tell(client)
      default: try twin.interrupt(client, dies: random.chance(50))
      }
      if let content = twin.rigs[client].machine.content(of: "n") {
        content.checkInvariants()
        #expect(twin.rigs[client].screen == content, "seed \(seed)")
      }
    }
    for _ in 0..<400 where !twin.isSettled {
      for client in 0..<3 {
        try twin.take(client)
        twin.tell(client)
      }
    }
    #expect(twin.isSettled, "seed \(seed)")
    for client in 0..<2 {
      #expect(twin.rigs[client].machine.content(of: "n") == twin.server.content, "seed \(seed)")
    }
    #expect(twin.rigs[2].text == twin.server.document.text, "seed \(seed)")
  }
}
