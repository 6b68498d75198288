import Foundation
import OTCore
import Testing

// The program of the catalogue's page, to the letter; a test holds the two together.

/// Puts the changes of all clients into one order.
struct NoteServer {
  var sequencer = ServerSequencer(document: Document("Hello world"), revision: 0)

  /// - Returns: what all other clients are sent, as the newest revision.
  mutating func take(_ change: ClientSynchronizer.Change) throws -> TextOperation {
    let committed = try sequencer.submit(change.operation, at: change.revision)
    // Here it is written to disk.
    sequencer.markDurable(through: sequencer.revision)
    return committed
  }
}

/// The editor of one person: the text, both carets, and the unconfirmed edits.
struct NoteEditor {
  var text = Document("Hello world")
  var caret = Selection(anchor: 0, head: 0)
  var otherCaret = Selection(anchor: 0, head: 0)
  var synchronizer = ClientSynchronizer(epoch: "first", revision: 0)
  var history = UndoHistory()

  /// The user types over a range. Returns the change to send, unless another is under way.
  mutating func type(
    _ new: String, over range: Range<Int>
  ) throws -> ClientSynchronizer.Change? {
    caret = Selection(anchor: range.lowerBound, head: range.upperBound)
    let edit = try TextOperation(replacing: range, with: new, length: text.scalarCount)
    try history.record(edit, on: text, selection: caret)
    return try make(edit)
  }

  /// The user takes back the own newest edit; the other's stay.
  mutating func undo() throws -> ClientSynchronizer.Change? {
    guard let step = try history.undo(on: text, selection: caret) else { return nil }
    let change = try make(step.operation)
    caret = step.selection
    return change
  }

  private mutating func make(_ edit: TextOperation) throws -> ClientSynchronizer.Change? {
    try text.apply(edit)
    caret = caret.transformed(over: edit, own: true)
    otherCaret = otherCaret.transformed(over: edit, own: false)
    return try synchronizer.edit(edit)
  }

  /// The server has sent the other's change.
  mutating func receive(_ committed: TextOperation, revision: Int) throws {
    let edit = try synchronizer.receive(committed, revision: revision)
    try text.apply(edit)
    try history.receive(edit)
    caret = caret.transformed(over: edit, own: false)
    otherCaret = otherCaret.transformed(over: edit, own: true)
  }
}

/// Two people change one text at once, and one of them undoes.
func writeTogether() throws -> (ada: NoteEditor, ben: NoteEditor, server: NoteServer) {
  var server = NoteServer()
  var ada = NoteEditor()
  var ben = NoteEditor()

  /// A change reaches the server, the answer its author, and the change the other.
  func deliver(
    _ change: ClientSynchronizer.Change?, from author: inout NoteEditor, to other: inout NoteEditor
  ) throws {
    var next = change
    while let change = next {
      let committed = try server.take(change)
      let revision = server.sequencer.revision
      try other.receive(committed, revision: revision)
      next = try author.synchronizer.acknowledge(sequence: change.sequence, revision: revision)
    }
  }

  // Neither knows of the other's change yet.
  let goodbye = try ada.type("Goodbye", over: 0..<5)  // Goodbye world
  let mark = try ben.type("!", over: 11..<11)  // Hello world!
  try deliver(goodbye, from: &ada, to: &ben)
  try deliver(mark, from: &ben, to: &ada)  // Both: Goodbye world!

  // Ada takes hers back, and Ben's stays.
  let undone = try ada.undo()
  try deliver(undone, from: &ada, to: &ben)  // Both: Hello world!
  return (ada, ben, server)
}

@Suite("The catalogue's program")
struct CompleteProgramTests {
  @Test("the program runs, and all clients end with the same text")
  func run() throws {
    let (ada, ben, server) = try writeTogether()
    #expect(server.sequencer.durableDocument.text == "Hello world!")
    #expect(ada.text.text == "Hello world!")
    #expect(ben.text.text == "Hello world!")
    #expect(server.sequencer.revision == 3)
    #expect(ada.synchronizer.unconfirmedCount + ben.synchronizer.unconfirmedCount == 0)
    // What Ada had selected is selected again; Ben's caret is behind what he typed.
    #expect(ada.caret == Selection(anchor: 0, head: 5))
    #expect(ben.caret == Selection(anchor: 12, head: 12))
    #expect(ben.otherCaret.head == ada.caret.head)
  }

  @Test("the page shows this code")
  func page() throws {
    let this = URL(fileURLWithPath: #filePath)
    let root = this.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/OTCore/OTCore.docc/AWholeProgram.md"),
      encoding: .utf8)
    let code = try String(contentsOf: this, encoding: .utf8)
    let blocks = page.matches(of: /```swift\n((?:[^`]|`(?!``))+)```/).map(\.1)
    #expect(blocks.count == 3)
    for block in blocks { #expect(code.contains(block), "\(block)") }
  }
}
