import OTCore
import ParleyOTWorkloads
import Testing

/// One user's text and history, as an editor stores them.
private struct Editor {
  var document: Document
  var history = UndoHistory()

  init(_ text: String) { document = Document(text) }

  mutating func write(_ notation: String, selection: Selection? = nil, at time: Int64 = 0) throws {
    try history.record(op(notation), on: document, selection: selection, milliseconds: time)
    try document.apply(op(notation))
  }

  mutating func hear(_ notation: String) throws {
    try history.receive(op(notation))
    try document.apply(op(notation))
  }

  @discardableResult
  mutating func undo(_ selection: Selection? = nil) throws -> Selection? {
    guard let step = try history.undo(on: document, selection: selection) else { return nil }
    try document.apply(step.operation)
    return step.selection
  }

  @discardableResult
  mutating func redo(_ selection: Selection? = nil) throws -> Selection? {
    guard let step = try history.redo(on: document, selection: selection) else { return nil }
    try document.apply(step.operation)
    return step.selection
  }
}

private func caret(_ place: Int) -> Selection { Selection(anchor: place, head: place) }

@Suite("Undo and redo")
struct UndoHistoryTests {
  @Test func `undo keeps text that others wrote inside`() throws {
    var editor = Editor("()")
    try editor.write("=1 +hello =1")
    try editor.hear("=3 +X =4")
    #expect(editor.document == Document("(heXllo)"))
    try editor.undo()
    #expect(editor.document == Document("(X)"))
    try editor.redo()
    #expect(editor.document == Document("(heXllo)"))
  }

  @Test func `redo does not restore text that others deleted inside`() throws {
    var editor = Editor("()")
    try editor.write("=1 +hello =1")
    try editor.hear("=2 -3 =2")
    #expect(editor.document == Document("(ho)"))
    try editor.undo()
    #expect(editor.document == Document("()"))
    try editor.redo()
    #expect(editor.document == Document("(ho)"))
  }

  @Test func `text that others wrote in the gap comes before restored text`() throws {
    var editor = Editor("abcd")
    try editor.write("=1 -2 =1")
    try editor.hear("=1 +X =1")
    try editor.undo()
    #expect(editor.document == Document("aXbcd"))
  }

  @Test func `others' edits elsewhere move the place of restored text`() throws {
    var editor = Editor("one two")
    try editor.write("=4 -3")
    try editor.hear("+zero_ =4")
    try editor.undo()
    #expect(editor.document == Document("zero_one two"))
  }

  @Test func `typing is one step until it stops, moves, or turns into deleting`() throws {
    var editor = Editor("")
    try editor.write("+a", at: 0)
    try editor.write("=1 +b", at: 500)
    try editor.write("=2 +c", at: 1001)
    try editor.write("+d =3", at: 1002)
    try editor.write("=1 +e =3", at: 1003)
    try editor.write("=1 -1 =3", at: 1004)
    try editor.write("-1 =3", at: 1005)
    #expect(editor.document == Document("abc"))
    var texts: [String] = []
    while try editor.undo() != nil { texts.append(editor.document.text) }
    #expect(texts == ["deabc", "abc", "ab", ""])
    texts = []
    while try editor.redo() != nil { texts.append(editor.document.text) }
    #expect(texts == ["ab", "abc", "deabc", "abc"])
  }

  @Test func `typing over a selection is one step with what is typed on`() throws {
    var editor = Editor("one two")
    try editor.write("=4 +z -3", selection: Selection(anchor: 4, head: 7))
    try editor.write("=5 +ero", selection: caret(5))
    #expect(try editor.undo() == Selection(anchor: 4, head: 7))
    #expect(editor.document == Document("one two"))
  }

  @Test func `deleting forwards and backwards at one place is one step`() throws {
    var editor = Editor("abcdef")
    try editor.write("=2 -1 =3")
    try editor.write("=1 -1 =3")
    try editor.write("=1 -1 =2")
    #expect(editor.document == Document("aef"))
    try editor.undo()
    #expect(editor.document == Document("abcdef"))
    #expect(!editor.history.canUndo)
  }

  @Test func `another user's typing does not part a run`() throws {
    var editor = Editor("..")
    try editor.write("=1 +a =1")
    try editor.hear("+zz =3")
    try editor.write("=4 +b =1")
    try editor.hear("=4 +X =2")
    try editor.undo()
    #expect(editor.document == Document("zz.X."))
  }

  @Test func `a run can be ended by hand`() throws {
    var editor = Editor("")
    try editor.write("+a")
    editor.history.endRun()
    try editor.write("=1 +b")
    try editor.undo()
    #expect(editor.document == Document("a"))
  }

  @Test func `the caret is restored, moved by others' edits`() throws {
    var editor = Editor("one")
    try editor.write("=3 +!", selection: caret(3))
    try editor.hear("+> =4")
    #expect(try editor.undo(caret(5)) == caret(4))
    try editor.hear("+> =4")
    #expect(try editor.redo(caret(5)) == caret(6))
    #expect(try editor.undo() == caret(5))
  }

  @Test func `without a selection the caret goes behind what changed`() throws {
    var editor = Editor("abc")
    try editor.write("=1 -1 =1")
    #expect(try editor.undo() == caret(2))
    #expect(try editor.redo() == caret(1))
  }

  @Test func `a step without remaining text is skipped`() throws {
    var editor = Editor("")
    try editor.write("+a")
    editor.history.endRun()
    try editor.write("=1 +b")
    try editor.hear("=1 -1")
    try editor.undo()
    #expect(editor.document == Document(""))
    #expect(!editor.history.canUndo)
    #expect(try editor.undo() == nil)
  }

  @Test func `an own new edit ends redo, another user's does not`() throws {
    var editor = Editor("")
    try editor.write("+a")
    try editor.undo()
    try editor.hear("+X")
    #expect(editor.history.canRedo)
    try editor.write("+b =1")
    #expect(!editor.history.canRedo)
  }

  @Test func `the oldest steps are forgotten`() throws {
    var editor = Editor("")
    editor.history = UndoHistory(stepsMax: 3)
    for letter in ["a", "b", "c", "d", "e"] {
      try editor.write("+\(letter) =\(editor.document.scalarCount)")
      editor.history.endRun()
    }
    while try editor.undo() != nil {}
    #expect(editor.document == Document("ba"))
  }

  @Test func `operations of another length are refused and change nothing`() throws {
    var editor = Editor("ab")
    try editor.write("=2 +c")
    #expect(throws: OperationError.lengthMismatch(expected: 3, found: 2)) {
      try editor.history.receive(op("=2 +x"))
    }
    #expect(throws: OperationError.self) {
      try editor.history.record(op("=2"), on: Document("ab"))
    }
    #expect(throws: OperationError.self) { try editor.history.undo(on: Document("ab")) }
    try editor.undo()
    #expect(editor.document == Document("ab"))
  }

  @Test(arguments: Seeds.smoke)
  func `undo agrees with the reference during edits of others`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<20 {
      let text = RandomTexts.text(scalars: random.below(12), using: &random)
      var document = Document(text)
      var history = UndoHistory(stepsMax: 1000)
      var reference = ReferenceUndo(scalars(text))
      for _ in 0..<30 {
        let operation = TextOperation.random(
          length: document.scalarCount, edits: random.between(1, 3), using: &random)
        var step: UndoHistory.Step?
        switch random.below(6) {
        case 0, 1:
          let isParted = random.chance(30)
          if isParted { history.endRun() }
          let before = history.stepCount
          try history.record(operation, on: document)
          try document.apply(operation)
          if !operation.isIdentity {
            reference.record(
              ReferenceOperation(operation), joins: history.stepCount == before)
          }
        case 2, 3:
          try history.receive(operation)
          try document.apply(operation)
          reference.receive(ReferenceOperation(operation))
        case 4:
          step = try history.undo(on: document)
          reference.undo()
        default:
          step = try history.redo(on: document)
          reference.redo()
        }
        if let step {
          try document.apply(step.operation)
          #expect((0...document.scalarCount).contains(step.selection.head))
        }
        guard scalars(document.text) == reference.text else {
          Issue.record("seed \(seed): the two texts part")
          return
        }
      }
    }
  }

  /// Two users with a server between them: an undo is an ordinary edit, and both texts end equal.
  @Test(arguments: Seeds.smoke)
  func `both users end with the same text`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let start = RandomTexts.text(scalars: 10, using: &random)
    var server = ServerSequencer(document: Document(start), revision: 0)
    var documents = [Document(start), Document(start)]
    var histories = [UndoHistory(), UndoHistory()]
    var clients = [
      ClientSynchronizer(epoch: "e", revision: 0), ClientSynchronizer(epoch: "e", revision: 0),
    ]
    var authors: [Int] = []
    var onTheWay: [ClientSynchronizer.Change?] = [nil, nil]
    func hear(_ client: Int) throws {
      let revision = clients[client].revision
      guard revision < server.revision else { return }
      if authors[revision] == client {
        onTheWay[client] = try clients[client].acknowledge(
          sequence: clients[client].kept.inFlight?.sequence ?? 0, revision: revision + 1)
      } else {
        let stored = server.operations(after: revision)
        let local = try clients[client].receive(stored[stored.startIndex], revision: revision + 1)
        try histories[client].receive(local)
        try documents[client].apply(local)
      }
    }
    for _ in 0..<200 {
      let client = random.below(2)
      switch random.below(5) {
      case 0:
        let edit = TextOperation.random(
          length: documents[client].scalarCount, edits: 1, using: &random)
        try histories[client].record(edit, on: documents[client])
        try documents[client].apply(edit)
        onTheWay[client] = try clients[client].edit(edit) ?? onTheWay[client]
      case 1:
        let isUndo = random.chance(60)
        let step =
          isUndo
          ? try histories[client].undo(on: documents[client])
          : try histories[client].redo(on: documents[client])
        guard let step else { continue }
        try documents[client].apply(step.operation)
        onTheWay[client] = try clients[client].edit(step.operation) ?? onTheWay[client]
      case 2, 3:
        guard let change = onTheWay[client] else { continue }
        _ = try server.submit(change.operation, at: change.revision)
        authors.append(client)
        onTheWay[client] = nil
      default: try hear(client)
      }
    }
    for _ in 0..<1000 {
      for client in 0..<2 {
        if let change = onTheWay[client] {
          _ = try server.submit(change.operation, at: change.revision)
          authors.append(client)
          onTheWay[client] = nil
        }
        try hear(client)
      }
    }
    #expect(clients.allSatisfy { $0.unconfirmedCount == 0 })
    #expect(documents.allSatisfy { $0 == server.document })
  }
}
