import OTCore
import ParleyOTWorkloads
import ParleyClient
import ParleyUI
import SocketMessages
import Testing

@MainActor @Suite("A text view bound to a note", .timeLimit(.minutes(30)))
struct BindingTests {
  /// A note on a scripted server, and a view that shows it.
  @MainActor final class Desk {
    let server: ScriptedServer
    let time = ManualTime()
    let parley: Parley
    let note: Note
    let binding: NoteBinding
    let view: FakeView

    init(_ text: String, access: Bool = true) async throws {
      server = ScriptedServer(text)
      if !access { server.set { $0.access = .read } }
      parley = Parley(transport: server, as: "Ann", time: time, seed: 1)
      note = parley.note("n")
      try await note.opened()
      binding = NoteBinding(note, time: time)
      view = FakeView(binding)
    }

    /// Others insert a text, and it arrives.
    func others(_ text: String, at place: Int) async throws {
      try await note.saved()
      let count = note.utf16Count + text.utf16.count
      server.change { document in
        [.retain(place), .insert(text), .retain(document.scalarCount - place)]
      }
      await until { [note] in note.utf16Count == count }
    }

    /// Waits until the server has all, and compares the three texts.
    func agrees(_ text: String) async throws -> Bool {
      try await note.saved()
      return [note.text, server.text, view.wholeText].allSatisfy {
        $0.utf8.elementsEqual(text.utf8)
      }
    }
  }

  @Test("typed text reaches the note, and changes of others move the caret")
  func typing() async throws {
    let desk = try await Desk("Hello world")
    desk.view.moveCaret(to: 5..<5)
    desk.view.type(",")
    try await desk.others("Oh! ", at: 0)
    #expect(desk.view.selected == 10..<10)
    #expect(desk.view.replaced.last == 0..<0)
    desk.view.type(" dear")
    #expect(try await desk.agrees("Oh! Hello, dear world"))
  }

  @Test("text that others write beside the selection is not overwritten")
  func typingOver() async throws {
    let desk = try await Desk("abc")
    desk.view.moveCaret(to: 1..<2)
    try await desk.others("X", at: 1)
    try await desk.others("Y", at: 3)
    #expect(desk.view.selected == 2..<3)
    desk.view.type("-")
    #expect(try await desk.agrees("aX-Yc"))
  }

  @Test("a writing session is not disturbed, is sent as one edit, and undone in one step")
  func rewriting() async throws {
    let desk = try await Desk("a b")
    desk.binding.beginRewriting()
    desk.view.edit(0..<1, "A")
    desk.view.edit(2..<3, "B")
    #expect(desk.note.text == "a b" && !desk.binding.undo())
    try await desk.others("X", at: 1)
    #expect(desk.view.wholeText == "A B")
    desk.binding.endRewriting()
    #expect(try await desk.agrees("AX B") && desk.server.changeCount == 1)
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("aX b"))
    // A view that is detached in the middle of a session hands over its text.
    desk.binding.beginRewriting()
    desk.view.edit(0..<1, "C")
    desk.binding.detach()
    try await desk.note.saved()
    #expect(desk.server.text == "CX b")
  }

  @Test("marked text is not disturbed, and sent as one edit when it is committed")
  func composing() async throws {
    let desk = try await Desk("ab")
    desk.view.moveCaret(to: 1..<1)
    desk.view.compose("n")
    desk.view.compose("ni")
    try await desk.others("X", at: 0)
    try await desk.others("Y", at: 2)
    desk.view.compose("nihao")
    #expect(desk.view.disturbances == 0)
    #expect(desk.view.wholeText == "anihaob")
    #expect(desk.note.text == "XaYb")
    #expect(!desk.binding.undo())
    let changes = desk.server.changeCount
    desk.view.commit("你好")
    #expect(desk.view.disturbances == 0)
    #expect(try await desk.agrees("XaY你好b"))
    #expect(desk.server.changeCount == changes + 1)
    #expect(desk.view.selected == 5..<5)
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("XaYb"))
  }

  @Test("cancelled marked text sends nothing")
  func givenUp() async throws {
    let desk = try await Desk("ab")
    desk.view.compose("n")
    try await desk.others("X", at: 2)
    desk.view.commit("")
    #expect(desk.note.unsaved == 0)
    #expect(try await desk.agrees("abX"))
  }

  @Test("undo reverts own edits, and not those of others")
  func undo() async throws {
    let desk = try await Desk("")
    desk.view.type("one")
    desk.time.pass(2_000)
    desk.view.type(" two")
    try await desk.others("~", at: 5)
    #expect(desk.binding.canUndo)
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("one~"))
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("~"))
    #expect(!desk.binding.undo())
    #expect(desk.binding.redo())
    #expect(desk.binding.redo())
    #expect(!desk.binding.canRedo)
    #expect(try await desk.agrees("one t~wo"))
  }

  @Test("continuous typing is one undo step; a pause, a paste or a moved caret begins another")
  func runs() async throws {
    let desk = try await Desk("")
    for letter in ["a", "b", "c"] { desk.view.type(letter) }
    desk.binding.endUndoRun()
    desk.view.type("pasted")
    desk.binding.endUndoRun()
    desk.view.type("d")
    desk.view.moveCaret(to: 0..<0)
    desk.view.moveCaret(to: 10..<10)
    desk.view.type("e")
    let texts = (0..<4).map { _ in
      desk.binding.undo()
      return desk.view.wholeText
    }
    #expect(texts == ["abcpastedd", "abcpasted", "abc", ""])
  }

  @Test("a forbidden edit is reverted in the view, and changes of others remain")
  func readOnly() async throws {
    let desk = try await Desk("abc", access: false)
    #expect(!desk.binding.isEditable)
    desk.view.compose("x")
    try await desk.others("!", at: 3)
    desk.view.commit("xyz")
    #expect(desk.view.problems == [.readOnly])
    #expect(desk.view.wholeText == "abc!")
    #expect(desk.note.text == "abc!")
    #expect(!desk.binding.canUndo)
  }

  @Test("deleting half a character leaves view and note equal")
  func halves() async throws {
    let desk = try await Desk("a😀b")
    desk.view.edit(1..<2, "")
    try await desk.note.saved()
    #expect(desk.note.text.utf8.elementsEqual("a\u{fffd}b".utf8))
    #expect(desk.note.utf16Count == desk.view.utf16Count)
    desk.view.edit(1..<2, "c")
    #expect(try await desk.agrees("acb"))
  }

  @Test("a change that the view did not report is found at the caret")
  func untold() async throws {
    let desk = try await Desk("aaa")
    desk.view.changeUntold(1..<1, "a")
    desk.view.binding?.settle()
    try await desk.others("X", at: 2)
    #expect(try await desk.agrees("aaXaa"))
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("aXaa"))
  }

  @Test("text set by the app or another window is shown, and not undone here")
  func windows() async throws {
    let desk = try await Desk("abc")
    let other = NoteBinding(desk.note, time: desk.time)
    let window = FakeView(other)
    desk.view.edit(3..<3, "d")
    try desk.note.append("e")
    window.edit(0..<0, "_")
    #expect(window.wholeText == "_abcde")
    #expect(try await desk.agrees("_abcde"))
    #expect(other.undo())
    #expect(try await desk.agrees("abcde"))
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("abce"))
    #expect(window.wholeText == "abce")
    other.detach()
    desk.view.type("!")
    #expect(window.wholeText == "abce")
  }

  @Test("an edit by the app during a change of the view leaves view and note equal")
  func within() async throws {
    let desk = try await Desk("abc")
    desk.view.edit(3..<3, "d")
    desk.view.whenReplaced = { [note = desk.note] in try? note.append("!") }
    #expect(desk.binding.undo())
    #expect(try await desk.agrees("abc!"))
  }

  @Test("many changes at once are one edit of the view")
  func many() async throws {
    let text = String(repeating: "ab", count: 1_000)
    let desk = try await Desk(text)
    desk.view.forgetReplaced()
    let wanted = String(repeating: "abc", count: 1_000)
    desk.server.change { _ in
      var operation = TextOperation()
      for _ in 0..<1_000 {
        operation.retain(2)
        operation.insert("c")
      }
      return operation
    }
    await until { [note = desk.note] in note.utf16Count == wanted.utf16.count }
    #expect(desk.view.replaced.count == 1)
    #expect(try await desk.agrees(wanted))
  }

  @Test("view, note and server are equal after random edits", arguments: 1...60)
  func histories(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let desk = try await Desk(RandomTexts.text(scalars: 20, using: &random))
    let (server, view) = (desk.server, desk.view)
    for _ in 0..<60 {
      let start = random.below(view.utf16Count + 1)
      let range = view.whole(start..<start + random.below(min(5, view.utf16Count - start + 1)))
      switch random.below(12) {
      case 0...2 where view.marked == nil:
        view.edit(range, RandomTexts.text(scalars: random.below(4), using: &random))
      case 3:
        if view.marked == nil { view.moveCaret(to: range) }
        view.compose(RandomTexts.text(scalars: random.below(4), using: &random))
      case 4: view.commit(random.chance(50) ? "完" : nil)
      case 5, 6:
        let seed = random.next()
        server.change { document in
          var random = SplitMix64(seed: seed)
          return TextOperation.random(length: document.scalarCount, using: &random)
        }
      case 7: desk.binding.undo()
      case 8: desk.binding.redo()
      case 9 where view.marked == nil: view.changeUntold(range.lowerBound..<range.lowerBound, "!!")
      case 10:
        server.cut()
        if desk.parley.connection == .waiting { desk.time.pass(20_000) }
      case 11: try? desk.note.append(".")
      default: view.moveCaret(to: view.marked ?? range)
      }
      if random.chance(50) { await Task.yield() }
    }
    view.commit()
    desk.binding.settle()
    while desk.note.unsaved > 0 || !desk.note.text.utf8.elementsEqual(server.text.utf8) {
      if desk.parley.connection == .waiting { desk.time.pass(20_000) }
      await Task.yield()
    }
    #expect(view.disturbances == 0)
    #expect(view.wholeText.utf8.elementsEqual(desk.note.text.utf8))
  }
}
